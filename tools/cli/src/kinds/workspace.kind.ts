import { toMicros, toUsd, type WorkspaceEntry } from '../files/document.ts';
import { idOf, type Kind, type WorkspaceContext } from './kind.ts';

/** The workspace itself. Fields that its entry leaves out are not changed. */
export const workspaceKind: Kind<WorkspaceEntry> = {
  section: 'workspace',
  keyField: 'slug',
  async read(workspace, wanted) {
    const found = workspace.account.workspaces.find(({ slug }) => slug === workspace.slug);
    if (found === undefined) return [];
    const { id, slug, name, timezone, tracked_labels } = found;
    const withBudget = wanted === null || wanted.some((entry) => entry.daily_budget_usd !== undefined);
    const daily_budget_usd = withBudget ? await dailyBudgetOf(workspace) : undefined;
    return [{ key: slug, id, value: { name, timezone, tracked_labels, daily_budget_usd } }];
  },
  desired: (_workspace, { slug: _, ...rest }) => rest,
  exported: ({ key, value }) => ({ slug: key, ...value }),
  async create(workspace, entry) {
    const { slug, name = slug, timezone } = entry;
    const body = { slug, name, ...(timezone !== undefined && { timezone }) };
    const { id } = await workspace.personal.call('POST /api/v1/workspaces', { body });
    workspace.id = id;
    const { tracked_labels, daily_budget_usd = null } = entry;
    if (daily_budget_usd !== null) await setDailyBudget(workspace, daily_budget_usd);
    if (tracked_labels !== undefined) await workspace.api.call('PATCH /api/v1/workspace', { body: { tracked_labels } });
    return id;
  },
  async update(workspace, live, { slug: _, daily_budget_usd, ...body }) {
    const before = live.value as { daily_budget_usd?: number | null };
    if (Object.keys(body).length > 0) await workspace.api.call('PATCH /api/v1/workspace', { body });
    if (daily_budget_usd !== undefined && daily_budget_usd !== before.daily_budget_usd) {
      await setDailyBudget(workspace, daily_budget_usd);
    }
  },
};

async function dailyBudgetOf(workspace: WorkspaceContext): Promise<number | null> {
  const budget = (await workspace.budgets()).find(({ origin }) => origin === 'workspace');
  return budget === undefined ? null : toUsd(budget.limit_micros);
}

async function setDailyBudget(workspace: WorkspaceContext, usd: number | null): Promise<void> {
  const body = { daily_budget_usd_micros: usd === null ? null : toMicros(usd) };
  const path = { tenant_id: idOf(workspace) };
  await workspace.api.call('PUT /api/v1/workspaces/{tenant_id}/budgets/workspace', { path, body });
}
