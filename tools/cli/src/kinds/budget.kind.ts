import type { Api } from '@tollkeeper/client';
import { type BudgetEntry, toMicros, toUsd } from '../files/document.ts';
import { idByKey, type Kind, mergePatch, requireKnown, type WorkspaceContext } from './kind.ts';

/** Budgets with a selector and a period. Files know them by their names. */
export const budgetKind: Kind<BudgetEntry> = {
  section: 'budgets',
  keyField: 'name',
  async read(workspace) {
    const budgets = (await workspace.budgets()).filter(({ origin }) => origin === null);
    const names = new Map(budgets.map(({ id, name }) => [id, name]));
    return budgets.map((budget) => ({ key: budget.name, id: budget.id, value: entryOf(budget, names) }));
  },
  desired(workspace, { name, ...rest }) {
    const { overrides, period } = rest;
    if (overrides !== null) requireKnown(workspace, 'budgets', overrides, `budgets "${name}": overrides`);
    return { ...rest, period: inUtc(period) };
  },
  exported: ({ key, value }) => ({ name: key, ...value }),
  async create(workspace, entry) {
    const { id } = await workspace.api.call('POST /api/v1/budgets', { body: bodyOf(workspace, entry) });
    return id;
  },
  update(workspace, { id, value }, entry) {
    const before = bodyOf(workspace, { name: entry.name, ...(value as Omit<BudgetEntry, 'name'>) });
    const after = bodyOf(workspace, entry);
    const { period: changed, ...patch } = mergePatch(before, after);
    const body = { ...patch, ...(changed !== undefined && { period: after.period }) };
    return workspace.api.call('PATCH /api/v1/budgets/{budget_id}', { path: { budget_id: id }, body });
  },
  remove: (workspace, { id }) => workspace.api.call('DELETE /api/v1/budgets/{budget_id}', { path: { budget_id: id } }),
  // An exception refers to the budget that it is an exception to.
  order: (entry) => ((entry as { overrides?: string | null }).overrides ? 1 : 0),
};

function entryOf(budget: Api.Budget, names: ReadonlyMap<string, string>): Omit<BudgetEntry, 'name'> {
  const { description, selector, each, overrides, period, limit_micros, action, grace_percent, tell_at, is_active } =
    budget;
  return {
    ...{ description, selector, each, overrides: overrides === null ? null : (names.get(overrides) ?? overrides) },
    ...{ period: inUtc(period), limit_usd: toUsd(limit_micros), action, grace_percent, tell_at, is_active },
  };
}

function bodyOf(workspace: WorkspaceContext, { limit_usd, overrides, period, ...rest }: BudgetEntry): Api.BudgetInput {
  return {
    ...rest,
    period: inUtc(period),
    overrides: overrides === null ? null : idByKey(workspace, 'budgets', overrides),
    limit_micros: toMicros(limit_usd),
  };
}

/** The period with its times in the form of the API, so that the same time in another zone is no difference. */
function inUtc(period: BudgetEntry['period']): BudgetEntry['period'] {
  if (!('start' in period)) return period;
  const utc = (time: string) => new Date(time).toISOString();
  return { ...period, start: utc(period.start), end: utc(period.end) };
}
