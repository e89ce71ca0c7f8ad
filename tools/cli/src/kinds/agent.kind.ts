import { fieldsThatDiffer } from '../files/diff.ts';
import { type AgentEntry, toMicros, toUsd } from '../files/document.ts';
import { allPages, idOf, type Kind, type WorkspaceContext } from './kind.ts';

type AgentValue = Omit<AgentEntry, 'agent_id'>;

/** Agents are never removed, because calls name them. Pruning removes the daily budgets of those not listed. */
export const agentKind: Kind<AgentEntry> = {
  section: 'agents',
  keyField: 'agent_id',
  async read(workspace) {
    const agents = await allPages((cursor) =>
      workspace.api.call('GET /api/v1/agents', { query: { ...(cursor !== undefined && { cursor }) } }),
    );
    const budgets = new Map((await workspace.budgets()).map(({ id, limit_micros }) => [id, toUsd(limit_micros)]));
    return agents.map(({ agent_id: key, display_name, labels }) => {
      const daily_budget_usd = budgets.get(`bud_agent.${key}`) ?? null;
      const value = { display_name, labels, daily_budget_usd };
      return { key, id: key, value, ...(daily_budget_usd === null && { isKept: true }) };
    });
  },
  desired: (_workspace, { agent_id, display_name = agent_id, labels, daily_budget_usd }) => ({
    ...{ display_name, labels, daily_budget_usd },
  }),
  exported({ key, value }) {
    const { display_name, ...rest } = value as AgentValue;
    return { agent_id: key, ...(display_name !== key && { display_name }), ...rest };
  },
  async create(workspace, { agent_id, display_name = agent_id, labels, daily_budget_usd }) {
    await workspace.api.call('POST /api/v1/agents', { body: { agent_id, display_name, labels } });
    if (daily_budget_usd !== null) await setDailyBudget(workspace, agent_id, daily_budget_usd);
    return agent_id;
  },
  async update(workspace, { value }, { agent_id, display_name = agent_id, labels, daily_budget_usd }) {
    const before = value as AgentValue;
    const body = { display_name, labels };
    if (fieldsThatDiffer(body, before).length > 0) {
      await workspace.api.call('PATCH /api/v1/agents/{agent_id}', { path: { agent_id }, body });
    }
    if (daily_budget_usd !== before.daily_budget_usd) await setDailyBudget(workspace, agent_id, daily_budget_usd);
  },
  remove: (workspace, { key }) => setDailyBudget(workspace, key, null),
};

async function setDailyBudget(workspace: WorkspaceContext, agent_id: string, usd: number | null): Promise<void> {
  const body = { daily_budget_usd_micros: usd === null ? null : toMicros(usd) };
  const path = { tenant_id: idOf(workspace), agent_id };
  await workspace.api.call('PUT /api/v1/workspaces/{tenant_id}/budgets/agents/{agent_id}', { path, body });
}
