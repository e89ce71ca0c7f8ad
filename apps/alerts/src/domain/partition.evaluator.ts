import type { TenantId } from '@tollkeeper/kernel';
import type { SavedCondition } from './condition.ts';
import { type CountableEvent, isLate } from './event.ts';
import { type Decision, evaluate, openWindow, type RuleWindow } from './evaluator.ts';
import type { RuleBook } from './rule-book.ts';

/** A window as a store keeps it, with what must be known of it without opening it. */
export interface SavedWindow {
  tenantId: TenantId;
  ruleId: string;
  revision: number;
  lastFiredAt: number | null;
  /** See `Condition.metUntil`. */
  metUntil: number | null;
  condition: SavedCondition;
}

/** The windows that one partition of the log fills: a workspace's events are all in one partition. */
export interface PartitionEvaluator {
  /** Evaluates the rules that count the event; the next event must be the next of the log. Late events decide nothing. */
  evaluate(event: CountableEvent): Decision[];
  /** The windows that changed since `saved` was called, as they are now. */
  changed(): SavedWindow[];
  /** Says that what `changed` answered is in the store. */
  saved(): void;
}

/**
 * Goes on from `saved`, windows as they stood at a position of the log: whoever reads on from that position decides what was
 * decided before. Windows of rules that are gone or disabled are dropped and those of rules with a new revision emptied,
 * whenever that happens. Memory is bounded by the sum of the enabled rules' thresholds.
 */
export function createPartitionEvaluator(book: RuleBook, saved: readonly SavedWindow[]): PartitionEvaluator {
  const windows = new Map<string, KeptWindow>();
  let bookVersion = book.version;

  for (const { ruleId, revision, lastFiredAt, condition } of saved) {
    const rule = book.get(ruleId);
    if (rule === undefined) continue;
    const window = openWindow(rule, lastFiredAt, rule.revision === revision ? condition : undefined);
    windows.set(ruleId, { window, changed: false });
  }

  function followBook(): void {
    if (book.version === bookVersion) return;
    bookVersion = book.version;
    for (const [ruleId, { window }] of windows) {
      const rule = book.get(ruleId);
      if (rule === undefined) windows.delete(ruleId);
      else if (rule.revision !== window.revision)
        windows.set(ruleId, { window: openWindow(rule, window.lastFiredAt), changed: false });
    }
  }

  return {
    evaluate(event) {
      followBook();
      if (isLate(event)) return [];
      const decisions: Decision[] = [];
      for (const rule of book.matching(event)) {
        let kept = windows.get(rule.id);
        if (kept === undefined) {
          kept = { window: openWindow(rule), changed: true };
          windows.set(rule.id, kept);
        }
        kept.changed = true;
        const decision = evaluate(rule, kept.window, event);
        if (decision !== null) decisions.push(decision);
      }
      return decisions;
    },
    changed() {
      followBook();
      return [...windows.values()].filter(({ changed }) => changed).map(({ window }) => toSavedWindow(window));
    },
    saved() {
      for (const kept of windows.values()) kept.changed = false;
    },
  };
}

interface KeptWindow {
  window: RuleWindow;
  /** Since it was saved. */
  changed: boolean;
}

function toSavedWindow({ tenantId, ruleId, revision, lastFiredAt, condition }: RuleWindow): SavedWindow {
  return { tenantId, ruleId, revision, lastFiredAt, metUntil: condition.metUntil(), condition: condition.save() };
}
