import type { TenantId } from '@tollkeeper/kernel';
import type { SavedCondition } from './condition.ts';
import { type CountableEvent, isLate } from './event.ts';
import { type Decision, evaluate, openWindow, type RuleWindow } from './evaluator.ts';
import type { RuleBook } from './rule-book.ts';
import { RuleHistory, type SavedHistory } from './rule.history.ts';

/** A window as a store keeps it, with what must be known of it without opening it. */
export interface SavedWindow {
  tenantId: TenantId;
  ruleId: string;
  revision: number;
  /** See `Condition.metUntil`. */
  metUntil: number | null;
  condition: SavedCondition;
  history: SavedHistory;
}

/** The windows that one partition of the log fills: a workspace's events are all in one partition. */
export interface PartitionEvaluator {
  /**
   * Evaluates the rules that count the event; the next event must be the next of the log. Late events decide nothing.
   */
  evaluate(event: CountableEvent): Decision[];
  /** How much `changed` makes a store write, about. */
  readonly changedSize: { windows: number; bytes: number };
  /** The windows that changed since `saved` was called, each with what a store may lack of it. */
  changed(): SavedWindow[];
  /** Says that what `changed` answered is in the store. */
  saved(): void;
}

/** What a store takes for a window, about, beside its condition. */
const WINDOW_BYTES = 1000;

/**
 * Goes on from `saved`, windows as they stood at a position of the log: whoever reads on from that position decides
 * what was decided before. Windows of rules that are gone are dropped, and those of rules that are disabled or have a
 * new revision emptied, whenever that happens. Memory is bounded by the sum of `costOf` the enabled rules.
 */
export function createPartitionEvaluator(book: RuleBook, saved: readonly SavedWindow[]): PartitionEvaluator {
  const windows = new Map<string, KeptWindow>();
  let bookVersion = book.version;
  let changedSize = { windows: 0, bytes: 0 };

  for (const { ruleId, revision, history, condition } of saved) {
    const rule = book.get(ruleId);
    if (rule === undefined) continue;
    const kept = rule.enabled && rule.revision === revision ? condition : undefined;
    windows.set(ruleId, { window: openWindow(rule, new RuleHistory(history), kept), changedBytes: 0 });
  }

  function followBook(): void {
    if (book.version === bookVersion) return;
    bookVersion = book.version;
    for (const [ruleId, kept] of windows) {
      const rule = book.get(ruleId);
      if (rule === undefined) windows.delete(ruleId);
      else if (!rule.enabled || rule.revision !== kept.window.revision)
        kept.window = openWindow(rule, kept.window.history);
    }
  }

  /** Notes that the window changed, and how much a store has to write of it by now. */
  function noteChange(kept: KeptWindow): void {
    const bytes = WINDOW_BYTES + kept.window.condition.unsavedBytes;
    if (kept.changedBytes === 0) changedSize.windows += 1;
    changedSize.bytes += bytes - kept.changedBytes;
    kept.changedBytes = bytes;
  }

  return {
    evaluate(event) {
      followBook();
      if (isLate(event)) return [];
      const decisions: Decision[] = [];
      for (const rule of book.matching(event)) {
        let kept = windows.get(rule.id);
        if (kept === undefined) {
          kept = { window: openWindow(rule, new RuleHistory()), changedBytes: 0 };
          windows.set(rule.id, kept);
        }
        const decision = evaluate(rule, kept.window, event);
        noteChange(kept);
        if (decision !== null) decisions.push(decision);
      }
      return decisions;
    },
    get changedSize() {
      return changedSize;
    },
    changed() {
      followBook();
      return [...windows.values()].filter((kept) => kept.changedBytes > 0).map(({ window }) => toSavedWindow(window));
    },
    saved() {
      for (const kept of windows.values()) {
        if (kept.changedBytes > 0) kept.window.condition.saved();
        kept.changedBytes = 0;
      }
      changedSize = { windows: 0, bytes: 0 };
    },
  };
}

interface KeptWindow {
  window: RuleWindow;
  /** What a store has to write of it, about, if it changed since it was saved, else 0. */
  changedBytes: number;
}

function toSavedWindow({ tenantId, ruleId, revision, condition, history }: RuleWindow): SavedWindow {
  const metUntil = condition.metUntil();
  return { tenantId, ruleId, revision, metUntil, condition: condition.save(), history: history.save() };
}
