import type { TenantId } from '@tollkeeper/kernel';
import type { BudgetTermsBook } from './budget.terms.ts';
import type { SavedCondition } from './condition.ts';
import { type CountableEvent, isLate } from './event.ts';
import { type Decision, evaluate, openWindow, type RuleWindow } from './evaluator.ts';
import type { RuleBook } from './rule-book.ts';
import { RuleHistory, type SavedHistory } from './rule.history.ts';
import { type OpenWorkspace, WorkspaceWindows } from './workspace.windows.ts';

/** A window as it is stored, with the facts that are needed without opening it. */
export interface SavedWindow {
  tenantId: TenantId;
  ruleId: string;
  revision: number;
  /** See `Condition.metUntil`. */
  metUntil: number | null;
  condition: SavedCondition;
  history: SavedHistory;
}

/** The windows of one partition of the log. All events of a workspace are in one partition. */
export interface PartitionEvaluator {
  /** The workspaces whose windows are in memory. */
  readonly workspaces: ReadonlyMap<TenantId, OpenWorkspace>;
  /** Their approximate memory in bytes. */
  readonly bytes: number;
  /** Begins with no windows of the workspace in memory; load the saved ones with {@link PartitionEvaluator.add}. */
  open(tenantId: TenantId): void;
  /** Loads a stored window of an open workspace. */
  add(saved: SavedWindow): void;
  /** Drops the windows of the workspace from memory. None of them may have unsaved changes. */
  close(tenantId: TenantId): void;
  /**
   * Evaluates the rules that count the event, which must be the next of the log and of an open workspace. Late events
   * decide nothing.
   */
  evaluate(event: CountableEvent): Decision[];
  /** Approximate amount that a save of `changed` writes. */
  readonly changedSize: { windows: number; bytes: number };
  /**
   * The windows that changed since the last `saved`, each with what a store may lack. Each is copied only when it is
   * iterated, since together they may be large. Nothing may be evaluated before `saved`.
   */
  changed(): Iterable<SavedWindow>;
  /** Call when the result of `changed` is stored. */
  saved(): void;
}

/**
 * Continues from windows that were saved at a position of the log. Reading on from that position leads to the same
 * decisions as before. Windows of deleted rules are dropped. Windows of rules that are disabled or have a new revision
 * are emptied, whenever that happens. Only where the clock of an event's receiver is ahead of the one that dated the
 * revision, an event that arrived before a change may count for the rule as it was or as it is now.
 */
export function createPartitionEvaluator(book: RuleBook, budgets: BudgetTermsBook): PartitionEvaluator {
  const workspaces = new Map<TenantId, WorkspaceWindows>();
  const totals = { bytes: 0, changedSize: { windows: 0, bytes: 0 } };
  let bookVersion = book.version;

  function followBook(): void {
    if (book.version === bookVersion) return;
    bookVersion = book.version;
    for (const workspace of workspaces.values()) {
      let anyClosed = false;
      for (const kept of workspace.windows.values()) {
        const rule = book.get(kept.window.ruleId);
        if (rule?.enabled === true && rule.revision === kept.window.revision) continue;
        if (rule === undefined) workspace.drop(kept);
        else workspace.replace(kept, openWindow(rule, kept.window.history, { sums: workspace.sums, budgets }));
        anyClosed = true;
      }
      if (anyClosed) workspace.measure();
    }
  }

  return {
    workspaces,
    get bytes() {
      return totals.bytes;
    },
    open(tenantId) {
      workspaces.set(tenantId, new WorkspaceWindows(tenantId, totals));
    },
    add({ tenantId, ruleId, revision, history, condition }) {
      const rule = book.get(ruleId);
      if (rule === undefined) return;
      const saved = rule.enabled && rule.revision === revision ? condition : undefined;
      const workspace = workspaces.get(tenantId)!;
      workspace.keep(openWindow(rule, new RuleHistory(history), { sums: workspace.sums, budgets }, saved));
    },
    close(tenantId) {
      workspaces.get(tenantId)?.close();
      workspaces.delete(tenantId);
    },
    evaluate(event) {
      followBook();
      if (isLate(event)) return [];
      const workspace = workspaces.get(event.tenantId);
      if (workspace === undefined) throw new Error(`The windows of ${event.tenantId} are not in memory`);
      const decisions: Decision[] = [];
      workspace.sums.next();
      for (const rule of book.matching(event)) {
        const kept =
          workspace.windows.get(rule.id) ??
          workspace.keep(openWindow(rule, new RuleHistory(), { sums: workspace.sums, budgets }));
        const decision = evaluate(rule, kept.window, event);
        workspace.noteChange(kept);
        if (decision !== null) decisions.push(decision);
      }
      return decisions;
    },
    get changedSize() {
      return totals.changedSize;
    },
    changed() {
      followBook();
      return {
        *[Symbol.iterator]() {
          for (const workspace of workspaces.values()) {
            for (const { window } of workspace.changed()) yield toSavedWindow(window);
          }
        },
      };
    },
    saved() {
      for (const workspace of workspaces.values()) workspace.saved();
    },
  };
}

function toSavedWindow({ tenantId, ruleId, revision, condition, history }: RuleWindow): SavedWindow {
  const metUntil = condition.metUntil();
  return { tenantId, ruleId, revision, metUntil, condition: condition.save(), history: history.save() };
}
