import { defineRoute, integerQuery, type Route } from '@tollkeeper/http';
import { comparedSpan } from '@tollkeeper/kernel';
import { z } from 'zod';
import { HAS_DISPLAY_NAME, MAX_GROUPS } from '../domain/breakdown.ts';
import type { BudgetRisks } from '../domain/budget-risk.ts';
import type { Budgets } from '../domain/budget.ts';
import type { Directory } from '../domain/directory.ts';
import type { Reads } from '../domain/reads.ts';
import { seriesOf } from '../domain/series.ts';
import { WHOLE_WORKSPACE, type Tallies } from '../domain/tallies.ts';
import {
  toBlocked,
  toBudget,
  toBudgetMark,
  toBudgetRisk,
  toMetrics,
  toName,
  toPoint,
  toSpend,
  toSum,
  toTimestamp,
  toTokens,
  toUnknownSpend,
  toWindow,
} from './bodies.ts';
import {
  breakdownSchema,
  by,
  overviewSchema,
  rangeQuery,
  seriesSchema,
  spendSchema,
  unpricedSchema,
} from './schemas.ts';
import { withoutLabel, type Selection } from './selection.ts';
import type { WindowOf } from './window.ts';

const TAG = 'Dashboard';

interface SpendDeps {
  reads: Reads;
  tallies: Tallies;
  budgets: Budgets;
  budgetRisks: BudgetRisks;
  directory: Directory;
  windowOf: WindowOf;
  selection: Selection;
}

/** Spend and blocked calls of the whole workspace. */
export function createSpendRoutes(deps: SpendDeps): Route[] {
  return [overviewRoute(deps), spendRoute(deps), seriesRoute(deps), breakdownRoute(deps), unpricedRoute(deps)];
}

function overviewRoute({ reads, tallies, budgets, budgetRisks, windowOf }: SpendDeps): Route {
  return defineRoute({
    method: 'get',
    path: '/api/v1/dashboard/overview',
    operationId: 'getOverview',
    tag: TAG,
    summary: 'Read spend, budget, blocked calls and activity of the workspace',
    access: 'member',
    query: z.object(rangeQuery),
    responses: { 200: { description: 'The overview', schema: overviewSchema } },
    async handler({ caller: { tenantId }, query, signal }) {
      const window = await windowOf(tenantId, withoutLabel(query));
      const before = { start: window.start - (window.end - window.start), end: window.start };
      const likewise = comparedSpan(window);
      const [{ previous, current, comparison, activeAgents, runs }, budget, risks] = await Promise.all([
        reads.run({ tenantId, kind: 'overview', signal }, async (meter) => {
          const [spans, compared, byAgent, started] = await Promise.all([
            tallies.ofSpans(tenantId, WHOLE_WORKSPACE, [before, window], meter),
            tallies.ofSpans(tenantId, WHOLE_WORKSPACE, [likewise], meter),
            tallies.byAgent(tenantId, window, meter),
            tallies.runsStarted(tenantId, window, meter),
          ]);
          const [comparison] = compared;
          return { previous: spans[0], current: spans[1], comparison, activeAgents: byAgent.size, runs: started };
        }),
        budgets.ofWorkspace(tenantId),
        budgetRisks.ofWorkspace(tenantId),
      ]);
      return {
        status: 200,
        body: {
          window: toWindow(window),
          spend: toMetrics(current!, budget.daily, window),
          ...toUnknownSpend(current!),
          budget: toBudget(budget.daily, window),
          ...toBudgetMark(budget),
          budgets: risks?.map(toBudgetRisk) ?? null,
          blocked: toBlocked(current!),
          active_agents: activeAgents,
          runs,
          previous: { total_micros: toSum(previous!.totalMicros), ...toBlocked(previous!) },
          comparison: {
            ...{ start: toTimestamp(likewise.start), end: toTimestamp(likewise.end) },
            ...{ total_micros: toSum(comparison!.totalMicros), ...toBlocked(comparison!) },
          },
        },
      };
    },
  });
}

function spendRoute({ reads, tallies, budgets, windowOf, selection }: SpendDeps): Route {
  return defineRoute({
    method: 'get',
    path: '/api/v1/dashboard/spend',
    operationId: 'getSpend',
    tag: TAG,
    summary: 'Spend of the workspace',
    description: 'With a label, `budget_used_pct` is the share of the budget of the whole workspace.',
    access: 'member',
    query: z.object(rangeQuery),
    responses: { 200: { description: 'The spend', schema: spendSchema } },
    async handler({ caller: { tenantId }, query: { label, ...span }, signal }) {
      const subject = await selection.subjectOf(tenantId, { label });
      const window = await windowOf(tenantId, span);
      const [[tally], budget] = await Promise.all([
        reads.run({ tenantId, kind: `spend of ${subject.scope}`, signal }, (meter) =>
          tallies.ofSpans(tenantId, subject, [window], meter),
        ),
        budgets.ofWorkspace(tenantId),
      ]);
      const metrics = toMetrics(tally!, budget.daily, window);
      return {
        status: 200,
        body: { window: toWindow(window), metrics, ...toUnknownSpend(tally!), ...toBudgetMark(budget) },
      };
    },
  });
}

function seriesRoute({ reads, tallies, windowOf, selection }: SpendDeps): Route {
  return defineRoute({
    method: 'get',
    path: '/api/v1/dashboard/spend/series',
    operationId: 'getSpendSeries',
    tag: TAG,
    summary: 'Spend and blocked calls of the workspace over time',
    description: 'Points without events are zero. Days are local days; a day with a clock change has 23 or 25 hours.',
    access: 'member',
    query: z.object(rangeQuery),
    responses: { 200: { description: 'The series', schema: seriesSchema } },
    async handler({ caller: { tenantId }, query: { label, ...span }, signal }) {
      const subject = await selection.subjectOf(tenantId, { label });
      const window = await windowOf(tenantId, span);
      const { interval, points } = seriesOf(window);
      const values = await reads.run({ tenantId, kind: `series of ${subject.scope}`, signal }, (meter) =>
        tallies.ofSpans(tenantId, subject, points, meter),
      );
      return {
        status: 200,
        body: {
          window: toWindow(window),
          interval,
          points: points.map((span, index) => toPoint(span, values[index]!)),
        },
      };
    },
  });
}

function breakdownRoute({ reads, tallies, directory, windowOf, selection }: SpendDeps): Route {
  return defineRoute({
    method: 'get',
    path: '/api/v1/dashboard/spend/breakdown',
    operationId: 'getSpendBreakdown',
    tag: TAG,
    summary: 'Spend of the workspace over time, by agent, model, plan or label',
    description: 'The points are those of `/spend/series`, and the groups and the others add up to its spend.',
    access: 'member',
    query: z.object({
      ...rangeQuery,
      by,
      limit: integerQuery({ min: 1, max: 20, default: 5, description: 'Maximum number of groups in the response' }),
    }),
    responses: { 200: { description: 'The breakdown', schema: breakdownSchema } },
    async handler({ caller: { tenantId }, query: { by, limit, ...range }, signal }) {
      const grouping = await selection.groupingOf(tenantId, by);
      const window = await windowOf(tenantId, withoutLabel(range));
      const { interval, points } = seriesOf(window);
      const { groups, others } = await reads.run({ tenantId, kind: 'breakdown', signal }, (meter) =>
        tallies.breakdown(tenantId, grouping, points, limit, meter),
      );
      const layers = others === undefined ? groups : [...groups, others];
      const whole = { totalMicros: layers.reduce((sum, { total }) => sum + total.totalMicros, 0) };
      const hasDisplayName = HAS_DISPLAY_NAME[grouping.by];
      const agentIds = hasDisplayName ? groups.flatMap(({ key }) => key ?? []) : [];
      const names = await directory.displayNames(tenantId, agentIds);
      return {
        status: 200,
        body: {
          window: toWindow(window),
          interval,
          by,
          groups: groups.map(({ key, total }) => ({
            ...toName('key', key),
            ...(hasDisplayName && key !== null && { display_name: names.get(key) ?? key }),
            ...toSpend(total, whole),
          })),
          others: others === undefined ? null : { count: others.count, ...toSpend(others.total, whole) },
          points: points.map(({ start }, index) => ({
            start: toTimestamp(start),
            micros: layers.map(({ micros }) => toSum(micros[index]!)),
          })),
        },
      };
    },
  });
}

/** Maximum number of models in the response. */
const MAX_UNPRICED_MODELS = 50;

function unpricedRoute({ reads, tallies, windowOf }: SpendDeps): Route {
  return defineRoute({
    method: 'get',
    path: '/api/v1/dashboard/spend/unpriced',
    operationId: 'getUnpricedCalls',
    tag: TAG,
    summary: 'Models of calls that nobody knows the price of',
    description: 'Such calls count as 0 USD, with their tokens.',
    access: 'member',
    query: z.object(rangeQuery),
    responses: { 200: { description: 'The models', schema: unpricedSchema } },
    async handler({ caller: { tenantId }, query, signal }) {
      const window = await windowOf(tenantId, withoutLabel(query));
      const { groups, others } = await reads.run({ tenantId, kind: 'unpriced calls', signal }, (meter) =>
        tallies.breakdown(tenantId, { by: 'model' }, [window], MAX_GROUPS, meter),
      );
      const models = groups
        .filter(({ total }) => total.unpriced > 0)
        .sort((a, b) => b.total.unpriced - a.total.unpriced);
      const shown = models.slice(0, MAX_UNPRICED_MODELS);
      const callsOf = (some: readonly { total: { unpriced: number } }[]) =>
        some.reduce((sum, { total }) => sum + total.unpriced, 0);
      const calls = callsOf(models) + (others?.total.unpriced ?? 0);
      return {
        status: 200,
        body: {
          window: toWindow(window),
          calls,
          models: shown.map(({ key, total }) => ({
            ...toName('model', key),
            calls: total.unpriced,
            ...toTokens(total),
          })),
          others: { calls: calls - callsOf(shown) },
        },
      };
    },
  });
}
