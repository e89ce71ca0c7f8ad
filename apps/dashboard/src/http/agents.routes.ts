import { identifier } from '@tollkeeper/contracts';
import { defineRoute, integerQuery, type Route } from '@tollkeeper/http';
import { AppError } from '@tollkeeper/kernel';
import { z } from 'zod';
import type { Budgets } from '../domain/budget.ts';
import type { Directory } from '../domain/directory.ts';
import type { EventReader } from '../domain/event.reader.ts';
import type { Reads } from '../domain/reads.ts';
import { seriesOf } from '../domain/series.ts';
import { sumTallies, type Tallies, WHOLE_WORKSPACE } from '../domain/tallies.ts';
import type { Tally } from '../domain/tally.ts';
import { first } from '../domain/top.ts';
import {
  toBlockedFields,
  toBudget,
  toBudgetMark,
  toItem,
  toMetrics,
  toName,
  toPoint,
  toSpend,
  toSum,
  toTimestamp,
  toTokens,
  toWindow,
} from './bodies.ts';
import { agentDetailsSchema, rangeQuery, settlementSchema, topAgentsSchema } from './schemas.ts';
import { withoutLabel } from './selection.ts';
import type { WindowOf } from './window.ts';

const TAG = 'Dashboard';
const RECENT_SETTLEMENTS = 20;

interface AgentsDeps {
  reads: Reads;
  tallies: Tallies;
  events: EventReader;
  budgets: Budgets;
  directory: Directory;
  windowOf: WindowOf;
}

/** Spend by agent: the list of agents, and one agent in detail. */
export function createAgentsRoutes(deps: AgentsDeps): Route[] {
  return [listRoute(deps), detailsRoute(deps)];
}

function listRoute({ reads, tallies, directory, windowOf }: AgentsDeps): Route {
  return defineRoute({
    method: 'get',
    path: '/api/v1/dashboard/top-agents',
    operationId: 'listTopAgents',
    tag: TAG,
    summary: 'List the agents that spent most',
    description: 'By spend, then by `agent_id`. Agents without an event in the window are not listed.',
    access: 'member',
    query: z.object({
      ...rangeQuery,
      limit: integerQuery({ min: 1, max: 100, default: 10, description: 'Maximum number of agents in the response' }),
    }),
    responses: { 200: { description: 'The agents', schema: topAgentsSchema } },
    async handler({ caller: { tenantId }, query, signal }) {
      const window = await windowOf(tenantId, withoutLabel(query));
      const { top, workspace } = await reads.run({ tenantId, kind: 'top-agents', signal }, async (meter) => {
        const [byAgent, [sum]] = await Promise.all([
          tallies.byAgent(tenantId, window, meter),
          tallies.ofSpans(tenantId, WHOLE_WORKSPACE, [window], meter),
        ]);
        return { top: await first(byAgent, query.limit, bySpend), workspace: sum! };
      });
      const names = await directory.displayNames(
        tenantId,
        top.map(([agentId]) => agentId),
      );
      const items = top.map(([agentId, tally]) => ({
        agent_id: agentId,
        display_name: names.get(agentId) ?? agentId,
        ...toSpend(tally, workspace),
        ...toBlockedFields(tally),
        last_seen_at: toTimestamp(tally.lastAt),
      }));
      return { status: 200, body: { window: toWindow(window), items } };
    },
  });
}

function detailsRoute({ reads, tallies, events, budgets, directory, windowOf }: AgentsDeps): Route {
  return defineRoute({
    method: 'get',
    path: '/api/v1/dashboard/top-agents/details',
    operationId: 'getAgentDetails',
    tag: TAG,
    summary: 'Read the spend of one agent: over time, by model, and its newest settlements',
    access: 'member',
    query: z.object({ ...rangeQuery, agent_id: identifier }),
    responses: { 200: { description: 'The agent', schema: agentDetailsSchema } },
    async handler({ caller: { tenantId }, query, signal }) {
      const agentId = query.agent_id;
      const window = await windowOf(tenantId, withoutLabel(query));
      const { points } = seriesOf(window);
      const [{ values, models, total, recent }, names, budget] = await Promise.all([
        reads.run({ tenantId, kind: 'agent', signal }, async (meter) => {
          const [ofPoints, ofModels] = await Promise.all([
            tallies.ofSpans(tenantId, { scope: 'agent', agentId }, points, meter),
            tallies.byModel(tenantId, agentId, window, meter),
          ]);
          const sum = sumTallies(ofPoints);
          // No more settlements than exist: looking for one more would read all other events of the agent in the
          // window.
          const wanted = Math.min(sum.settlements, RECENT_SETTLEMENTS);
          const newest = wanted === 0 ? [] : await events.listSettlements(tenantId, agentId, window, wanted, meter);
          return { values: ofPoints, models: ofModels, total: sum, recent: newest };
        }),
        directory.displayNames(tenantId, [agentId]),
        budgets.ofAgent(tenantId, agentId),
      ]);
      // An agent without an event in the window may have earlier events, or be registered without any.
      const exists =
        total.lastAt > 0 || (await events.hasAgent(tenantId, agentId)) || (await directory.hasAgent(tenantId, agentId));
      if (!exists) throw new AppError('not_found', 'This workspace has no agent with that agent_id.');
      return {
        status: 200,
        body: {
          window: toWindow(window),
          agent: { agent_id: agentId, display_name: names.get(agentId) ?? agentId },
          metrics: toMetrics(total, budget.daily, window),
          budget: toBudget(budget.daily, window),
          ...toBudgetMark(budget),
          points: points.map((span, index) => toPoint(span, values[index]!)),
          models: [...models].sort(bySpend).map(([model, tally]) => ({
            ...toName('model', model),
            total_micros: toSum(tally.totalMicros),
            unique_settlements: tally.settlements,
            ...toTokens(tally),
          })),
          recent: recent.map((event) => settlementSchema.parse(toItem(event))),
        },
      };
    },
  });
}

function bySpend([a, left]: [string | null, Tally], [b, right]: [string | null, Tally]): number {
  return right.totalMicros - left.totalMicros || (a ?? '').localeCompare(b ?? '');
}
