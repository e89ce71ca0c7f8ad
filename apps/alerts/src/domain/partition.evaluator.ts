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

/** The windows of one workspace that are in memory. */
export interface OpenWorkspace {
  readonly tenantId: TenantId;
  /** Memory that its windows take, about. */
  readonly bytes: number;
  /** Whether a store lacks some of it. */
  readonly isChanged: boolean;
}

/** The windows that one partition of the log fills: a workspace's events are all in one partition. */
export interface PartitionEvaluator {
  /** The workspaces whose windows are in memory. */
  readonly workspaces: ReadonlyMap<TenantId, OpenWorkspace>;
  /** Memory that all of them take, about. */
  readonly bytes: number;
  /** Begins with no windows of the workspace in memory; {@link PartitionEvaluator.add} gives those that were saved. */
  open(tenantId: TenantId): void;
  /** Puts a window of an open workspace into memory, as a store has it now. */
  add(saved: SavedWindow): void;
  /** Forgets the windows of the workspace: none of them may be changed. */
  close(tenantId: TenantId): void;
  /**
   * Evaluates the rules that count the event; the next event must be the next of the log, and its workspace open. Late
   * events decide nothing.
   */
  evaluate(event: CountableEvent): Decision[];
  /** How much `changed` makes a store write, about. */
  readonly changedSize: { windows: number; bytes: number };
  /**
   * The windows that changed since `saved` was called, each with what a store may lack of it. Each is copied when it is
   * its turn, since all of them together may be large. Until `saved`, nothing may be evaluated.
   */
  changed(): Iterable<SavedWindow>;
  /** Says that what `changed` answered is in the store. */
  saved(): void;
}

/** What a store takes for a window, about, beside its condition. */
const WINDOW_BYTES = 1000;
/** Memory that a window takes, about, beside its condition: the objects, the ids of samples, the history. */
export const HELD_BYTES_PER_WINDOW = 2000;
/** Memory that a workspace takes, about, beside its windows. */
const WORKSPACE_MEMORY_BYTES = 500;

/**
 * Goes on from windows as they were saved at a position of the log: whoever reads on from that position decides what
 * was decided before. Windows of rules that are gone are dropped, and those of rules that are disabled or have a new
 * revision emptied, whenever that happens.
 */
export function createPartitionEvaluator(book: RuleBook): PartitionEvaluator {
  const workspaces = new Map<TenantId, Workspace>();
  let bookVersion = book.version;
  let changedSize = { windows: 0, bytes: 0 };
  let bytes = 0;

  function take(workspace: Workspace, taken: number): void {
    workspace.bytes += taken;
    bytes += taken;
  }

  function keep(workspace: Workspace, window: RuleWindow): KeptWindow {
    const kept = { workspace, window, changedBytes: 0, heldBytes: 0 };
    workspace.windows.set(window.ruleId, kept);
    noteMemory(kept);
    return kept;
  }

  function noteMemory(kept: KeptWindow): void {
    const held = HELD_BYTES_PER_WINDOW + kept.window.condition.heldBytes;
    if (held === kept.heldBytes) return;
    take(kept.workspace, held - kept.heldBytes);
    kept.heldBytes = held;
  }

  function drop({ workspace, window, changedBytes, heldBytes }: KeptWindow): void {
    workspace.windows.delete(window.ruleId);
    take(workspace, -heldBytes);
    if (changedBytes === 0) return;
    workspace.changed -= 1;
    changedSize.windows -= 1;
    changedSize.bytes -= changedBytes;
  }

  function followBook(): void {
    if (book.version === bookVersion) return;
    bookVersion = book.version;
    for (const { windows } of workspaces.values()) {
      for (const [ruleId, kept] of windows) {
        const rule = book.get(ruleId);
        if (rule === undefined) drop(kept);
        else if (!rule.enabled || rule.revision !== kept.window.revision) {
          kept.window = openWindow(rule, kept.window.history);
          noteMemory(kept);
        }
      }
    }
  }

  /** Notes that the window changed, and how much a store has to write of it by now. */
  function noteChange(kept: KeptWindow): void {
    const unsaved = WINDOW_BYTES + kept.window.condition.unsavedBytes;
    if (kept.changedBytes === 0) {
      changedSize.windows += 1;
      kept.workspace.changed += 1;
    }
    changedSize.bytes += unsaved - kept.changedBytes;
    kept.changedBytes = unsaved;
    noteMemory(kept);
  }

  function* changedWindows(): Generator<KeptWindow> {
    for (const workspace of workspaces.values()) {
      if (workspace.changed === 0) continue;
      for (const kept of workspace.windows.values()) if (kept.changedBytes > 0) yield kept;
    }
  }

  return {
    workspaces,
    get bytes() {
      return bytes;
    },
    open(tenantId) {
      const workspace = new Workspace(tenantId);
      workspaces.set(tenantId, workspace);
      take(workspace, WORKSPACE_MEMORY_BYTES);
    },
    add({ tenantId, ruleId, revision, history, condition }) {
      const rule = book.get(ruleId);
      if (rule === undefined) return;
      const saved = rule.enabled && rule.revision === revision ? condition : undefined;
      keep(workspaces.get(tenantId)!, openWindow(rule, new RuleHistory(history), saved));
    },
    close(tenantId) {
      const workspace = workspaces.get(tenantId);
      if (workspace?.isChanged === true) throw new Error(`Windows of ${tenantId} are not saved`);
      workspaces.delete(tenantId);
      bytes -= workspace?.bytes ?? 0;
    },
    evaluate(event) {
      followBook();
      if (isLate(event)) return [];
      const workspace = workspaces.get(event.tenantId);
      if (workspace === undefined) throw new Error(`The windows of ${event.tenantId} are not in memory`);
      const decisions: Decision[] = [];
      for (const rule of book.matching(event)) {
        const kept = workspace.windows.get(rule.id) ?? keep(workspace, openWindow(rule, new RuleHistory()));
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
      return {
        *[Symbol.iterator]() {
          for (const { window } of changedWindows()) yield toSavedWindow(window);
        },
      };
    },
    saved() {
      for (const kept of changedWindows()) {
        kept.window.condition.saved();
        kept.changedBytes = 0;
        noteMemory(kept);
      }
      for (const workspace of workspaces.values()) workspace.changed = 0;
      changedSize = { windows: 0, bytes: 0 };
    },
  };
}

class Workspace implements OpenWorkspace {
  readonly tenantId: TenantId;
  /** By rule id. */
  readonly windows = new Map<string, KeptWindow>();
  bytes = 0;
  /** Windows that changed since they were saved. */
  changed = 0;

  constructor(tenantId: TenantId) {
    this.tenantId = tenantId;
  }

  get isChanged(): boolean {
    return this.changed > 0;
  }
}

interface KeptWindow {
  workspace: Workspace;
  window: RuleWindow;
  /** What a store has to write of it, about, if it changed since it was saved, else 0. */
  changedBytes: number;
  /** What it takes of memory, about. */
  heldBytes: number;
}

function toSavedWindow({ tenantId, ruleId, revision, condition, history }: RuleWindow): SavedWindow {
  const metUntil = condition.metUntil();
  return { tenantId, ruleId, revision, metUntil, condition: condition.save(), history: history.save() };
}
