import { useContext, useState } from 'react';
import { type Api, callApi, useRefetch, WorkspaceSlug } from '../../api/api.ts';
import { exactMoney } from '../../format/money.ts';
import { text } from '../../text/index.ts';
import { explain } from '../../ui/explain.ts';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import { BUDGET_READS } from './budget-reads.ts';

const words = text.budgets;

export interface LimitChange {
  budget: Api.Budget;
  micros: number;
}

/** Changes limits of budgets, and can undo the last change, which may be of many. */
export function useLimitChanges() {
  const workspace = useContext(WorkspaceSlug);
  const refetch = useRefetch();
  const [last, setLast] = useState<readonly LimitChange[]>([]);

  /** One after the other, up to the first that fails. The changes that undo those that were made. */
  async function write(changes: readonly LimitChange[]): Promise<{ undoing: LimitChange[]; failure?: Error }> {
    const undoing: LimitChange[] = [];
    let failure: Error | undefined;
    try {
      for (const { budget, micros } of changes) {
        const input = { path: { budget_id: budget.id }, body: { limit_micros: micros } };
        const changed = await callApi(workspace, 'PATCH /api/v1/budgets/{budget_id}', input);
        undoing.push({ budget: changed, micros: budget.limit_micros });
      }
    } catch (error) {
      failure = error as Error;
    }
    await refetch(BUDGET_READS);
    return { undoing, ...(failure && { failure }) };
  }

  async function undo(changes: readonly LimitChange[]): Promise<void> {
    const { undoing, failure } = await write(changes);
    setLast(changes.slice(undoing.length));
    if (failure !== undefined) toastFailure(failure);
    else toast(messageOf(changes, words.sheet.undone));
  }

  /** Changes the limits, and confirms it. If not all can be changed, it says how many are, and fails. */
  async function change(changes: readonly LimitChange[]): Promise<void> {
    const { undoing, failure } = await write(changes);
    if (undoing.length > 0) setLast(undoing);
    if (failure === undefined) {
      toast(messageOf(changes, words.sheet.changed), { undo: () => void undo(undoing) });
    } else if (undoing.length === 0) throw failure;
    else throw new Error(words.sheet.partly(undoing.length, changes.length, explain(failure).message));
  }

  return { change, undoLast: last.length === 0 ? undefined : () => undo(last) };
}

function messageOf(changes: readonly LimitChange[], many: (count: number) => string): string {
  const [only] = changes;
  if (changes.length !== 1 || only === undefined) return many(changes.length);
  return words.saved(only.budget.name, exactMoney(only.micros));
}
