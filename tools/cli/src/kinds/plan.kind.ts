import { type PlanEntry, toMicros, toUsd } from '../files/document.ts';
import { idOf, type Kind } from './kind.ts';

const PLAN = 'bud_plan.';

/** Plans, read from the list of all budgets. */
export const planKind: Kind<PlanEntry> = {
  section: 'plans',
  keyField: 'plan_key',
  async read(workspace) {
    const plans = (await workspace.budgets()).filter(({ origin }) => origin === 'plan');
    return plans.map(({ id, name, description, limit_micros, is_active }) => ({
      ...{ key: id.slice(PLAN.length), id },
      value: { display_name: name, description, daily_budget_usd: toUsd(limit_micros), is_active },
    }));
  },
  desired: (_workspace, { plan_key: _, ...rest }) => rest,
  exported: ({ key, value }) => ({ plan_key: key, ...value }),
  async create(workspace, { plan_key, display_name, description, daily_budget_usd, is_active }) {
    const tenant_id = idOf(workspace);
    const body = { plan_key, display_name, description, daily_budget_usd_micros: toMicros(daily_budget_usd) };
    await workspace.api.call('POST /api/v1/workspaces/{tenant_id}/budgets/plans', { path: { tenant_id }, body });
    if (!is_active) {
      const path = { tenant_id, plan_key };
      const operation = 'PUT /api/v1/workspaces/{tenant_id}/budgets/plans/{plan_key}';
      await workspace.api.call(operation, { path, body: { is_active } });
    }
    return `${PLAN}${plan_key}`;
  },
  update(workspace, _live, { plan_key, daily_budget_usd, ...rest }) {
    const body = { ...rest, daily_budget_usd_micros: toMicros(daily_budget_usd) };
    const path = { tenant_id: idOf(workspace), plan_key };
    return workspace.api.call('PUT /api/v1/workspaces/{tenant_id}/budgets/plans/{plan_key}', { path, body });
  },
  remove(workspace, { key: plan_key }) {
    const path = { tenant_id: idOf(workspace), plan_key };
    return workspace.api.call('DELETE /api/v1/workspaces/{tenant_id}/budgets/plans/{plan_key}', { path });
  },
};
