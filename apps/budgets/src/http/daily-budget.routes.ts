import { identifier, micros, moment } from '@tollkeeper/contracts';
import { defineRoute, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import type { DailyBudgetStore } from '../domain/daily-budget.ts';
import type { AgentWithBudget, DailyBudgetUseCases } from '../domain/daily-budget.use-cases.ts';
import { PREFIX, segments, TAG, workspaceOf } from './paths.ts';

const dailyBudget = micros.nullable().meta({ description: 'USD micros per day; null if not set', example: 25_000_000 });
const change = z.strictObject({ daily_budget_usd_micros: dailyBudget });
const ofWorkspace = z.object({ tenant_id: segments.tenant_id });
const ofAgent = z.object({ tenant_id: segments.tenant_id, agent_id: segments.agent_id });

const workspaceBudget = z
  .object({ tenant_id: z.string(), daily_budget_usd_micros: dailyBudget })
  .meta({ id: 'WorkspaceBudget' });
const agentBudget = z
  .object({ agent_id: identifier, daily_budget_usd_micros: dailyBudget })
  .meta({ id: 'AgentBudget' });
const agentItem = z
  .object({
    agent_id: identifier,
    display_name: z.string(),
    daily_budget_usd_micros: dailyBudget,
    updated_at: moment.nullable().meta({ description: 'Null if it was never set' }),
  })
  .meta({ id: 'AgentBudgetItem' });

/** The daily budgets of the workspace and of its agents, for owners. */
export function createDailyBudgetRoutes(store: DailyBudgetStore, budgets: DailyBudgetUseCases): Route[] {
  return [...workspaceRoutes(store), ...agentRoutes(budgets)];
}

function workspaceRoutes(budgets: DailyBudgetStore): Route[] {
  const path = `${PREFIX}/workspace`;
  return [
    defineRoute({
      method: 'get',
      path,
      operationId: 'getWorkspaceBudget',
      tag: TAG,
      summary: 'Read the daily budget of the workspace',
      access: 'owner',
      params: ofWorkspace,
      responses: { 200: { description: 'The budget', schema: workspaceBudget } },
      handler: async ({ caller, params }) => {
        const tenantId = workspaceOf(caller, params);
        const daily = await budgets.ofWorkspace(tenantId);
        return { status: 200, body: { tenant_id: tenantId, daily_budget_usd_micros: daily } };
      },
    }),
    defineRoute({
      method: 'put',
      audit: 'budget.workspace.set',
      path,
      operationId: 'setWorkspaceBudget',
      tag: TAG,
      summary: 'Set or unset the daily budget of the workspace',
      description: 'Null removes the budget. The dashboard shows the change within seconds.',
      access: 'owner',
      params: ofWorkspace,
      body: change,
      responses: { 200: { description: 'The budget as it is now', schema: workspaceBudget } },
      handler: async ({ caller, params, body, cause }) => {
        const tenantId = workspaceOf(caller, params);
        await budgets.setWorkspace(tenantId, body.daily_budget_usd_micros, cause);
        return { status: 200, body: { tenant_id: tenantId, ...body } };
      },
    }),
  ];
}

function agentRoutes(budgets: DailyBudgetUseCases): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: `${PREFIX}/agents`,
      operationId: 'listAgentBudgets',
      tag: TAG,
      summary: 'List the daily budgets of the agents',
      description: 'Every agent of the workspace, with or without a budget, sorted by `agent_id`; at most 10000.',
      access: 'owner',
      params: ofWorkspace,
      responses: { 200: { description: 'The agents', schema: z.object({ items: z.array(agentItem) }) } },
      handler: async ({ caller, params }) => {
        const agents = await budgets.listAgents(workspaceOf(caller, params));
        return { status: 200, body: { items: agents.map(toAgentItem) } };
      },
    }),
    defineRoute({
      method: 'put',
      audit: 'budget.agent.set',
      path: `${PREFIX}/agents/{agent_id}`,
      operationId: 'setAgentBudget',
      tag: TAG,
      summary: 'Set or unset the daily budget of an agent',
      description:
        'Null removes the budget. 404 if the workspace does not have the agent. Events and `POST /agents` create agents.',
      access: 'owner',
      params: ofAgent,
      body: change,
      responses: { 200: { description: 'The budget as it is now', schema: agentBudget } },
      handler: async ({ caller, params, body, cause }) => {
        const tenantId = workspaceOf(caller, params);
        await budgets.setAgent(tenantId, params.agent_id, body.daily_budget_usd_micros, cause);
        return { status: 200, body: { agent_id: params.agent_id, ...body } };
      },
    }),
  ];
}

function toAgentItem({ agentId, displayName, dailyBudgetMicros, updatedAt }: AgentWithBudget) {
  return {
    agent_id: agentId,
    display_name: displayName,
    daily_budget_usd_micros: dailyBudgetMicros,
    updated_at: updatedAt?.toISOString() ?? null,
  };
}
