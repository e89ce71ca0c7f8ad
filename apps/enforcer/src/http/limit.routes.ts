import { budgetId, identifier, micros, moment, planKey } from '@tollkeeper/contracts';
import { defineRoute, integerQuery, type Route } from '@tollkeeper/http';
import { mapInSlices } from '@tollkeeper/kernel';
import { z } from 'zod';
import type { Limits, LimitsView, LimitView, Reservations } from '../domain/enforcement.ts';
import {
  limitRow,
  reservationParams,
  reservationSchema,
  reservationState,
  toLimitRow,
  toMoment,
  toReservationBody,
} from './schemas.ts';

const PATH = '/api/v1/limits';
const RESERVATIONS_PATH = `${PATH}/reservations`;
const TAG = 'Limits';

const count = z.int().min(0);
const overspend = z
  .object({
    above_hold: micros.meta({ description: 'Settled over the reservation or the lease' }),
    late: micros.meta({ description: 'Settled after the reservation had expired, or the lease had ended' }),
    unreserved: micros.meta({ description: 'Spent without a reservation or a lease' }),
  })
  .meta({
    description:
      'USD micros spent in the period beyond reservations, even if the limit was not exceeded. A limit is exceeded by at most their sum',
  });
const limitView = limitRow
  .extend({
    open_reservations: count.meta({ description: 'Open reservations' }),
    open_leases: count.meta({ description: 'Open leases' }),
    overspend_micros: overspend,
    released: count.meta({ description: 'Reservations that were released in the period' }),
    pace_end_micros: micros.nullable().meta({
      description:
        'USD micros that will be spent at the end of the period at the pace of its elapsed part. Null before 5% of the period have elapsed, and for rolling periods',
    }),
    filled_percent: z.int().min(0).max(100).meta({
      description: 'How much of the spend from before the budget was made or changed is counted; 100 once it is exact',
    }),
    expired: count.meta({
      description:
        'Reservations that expired in the period. Each may stand for a call with an unreported cost. Leases do not count: one also expires if its gateway has no further calls',
    }),
  })
  .meta({ id: 'Limit' });
const limitsView = z.object({
  day: z
    .object({ start: moment, end: moment, timezone: z.string() })
    .meta({ description: 'The current day of the workspace. When it ends, daily limits start over' }),
  items: z.array(limitView),
});
const reservationPage = z.object({
  items: z.array(reservationSchema).meta({ description: 'Newest first' }),
  next_cursor: z.string().nullable().meta({ description: 'The `cursor` of the next page; null on the last page' }),
});

const limitsQuery = z
  .object({
    agent_id: identifier.optional().meta({ description: 'Only limits for all calls of this agent' }),
    plan_key: planKey.optional().meta({ description: 'Only limits for all calls under this plan' }),
    budget_id: budgetId.optional().meta({
      description:
        'Only this budget, with at most 1000 values if it has a limit for each. Daily budgets have the ids `bud_workspace`, `bud_agent.<agent_id>` and `bud_plan.<plan_key>`',
    }),
  })
  .refine(({ agent_id, plan_key, budget_id }) => !budget_id || (agent_id ?? plan_key) === undefined, {
    path: ['budget_id'],
    error: 'cannot be combined with agent_id or plan_key. Leave it or them out',
  });
const reservationsQuery = z.object({
  state: reservationState.optional(),
  agent_id: identifier.optional(),
  run_id: identifier.optional(),
  limit: integerQuery({ min: 1, max: 100, default: 50, description: 'Maximum number of items on a page' }),
  cursor: z.string().max(1024).optional().meta({ description: 'The `next_cursor` of the previous page' }),
});

export interface LimitRouteDeps {
  limits: Pick<Limits, 'view' | 'list'>;
  reservations: Pick<Reservations, 'release'>;
}

/** The routes on limits and reservations for people. */
export function createLimitRoutes({ limits, reservations }: LimitRouteDeps): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: PATH,
      operationId: 'listLimits',
      tag: TAG,
      summary: 'List the limits in their current periods and what remains of them',
      description: `A limit is a budget applied to its current period: the daily budgets of the workspace, of its agents and
of its plans, then the budgets with a selector. Of a budget with a limit for each value, the 10 values with the most spend
are listed; with \`budget_id\`, up to 1000. With \`agent_id\`, only the limits in which all calls of the agent count,
whichever their model, labels and other fields. With \`plan_key\`, only the daily budgets of the workspace and of the plan;
with both, the limits in which all calls of the agent under the plan count. A changed budget takes effect within 2 seconds.`,
      access: 'member',
      query: limitsQuery,
      responses: { 200: { description: 'The limits', schema: limitsView } },
      handler: async ({ caller, query }) => {
        const { agent_id: agentId, plan_key: planKey, budget_id: budgetId } = query;
        const view = await limits.view(caller.tenantId, { agentId, planKey, budgetId });
        return { status: 200, body: await toLimitsBody(view) };
      },
    }),
    defineRoute({
      method: 'get',
      path: RESERVATIONS_PATH,
      operationId: 'listReservations',
      tag: TAG,
      summary: 'List the reservations of the last 48 hours, newest first',
      description: 'A page may have fewer items than `limit`, or none; `next_cursor` says whether there are more.',
      access: 'admin',
      query: reservationsQuery,
      responses: { 200: { description: 'A page', schema: reservationPage } },
      handler: async ({ caller, query }) => {
        const { state, agent_id: agentId, run_id: runId, limit, cursor } = query;
        const page = await limits.list(caller.tenantId, { state, agentId, runId }, { limit, cursor });
        return { status: 200, body: { items: page.items.map(toReservationBody), next_cursor: page.nextCursor } };
      },
    }),
    defineRoute({
      method: 'post',
      audit: 'reservation.release',
      path: `${RESERVATIONS_PATH}/{reservation_id}:release`,
      operationId: 'releaseReservationAsOwner',
      tag: TAG,
      summary: 'Release a stuck reservation',
      description:
        'For a reservation that its gateway neither settles nor releases. If the call cost something, report the cost as a `spend.settled` event. Releasing again changes nothing. 409 if the reservation was settled.',
      access: 'owner',
      params: reservationParams,
      responses: { 200: { description: 'The reservation as it is now', schema: reservationSchema } },
      handler: async ({ caller, params, cause }) => {
        const released = await reservations.release(caller.tenantId, params.reservation_id, cause);
        return { status: 200, body: toReservationBody(released) };
      },
    }),
  ];
}

async function toLimitsBody({ day, items }: LimitsView): Promise<z.output<typeof limitsView>> {
  return {
    day: { start: toMoment(day.start), end: toMoment(day.end), timezone: day.timezone },
    items: await mapInSlices(items, toLimitView),
  };
}

function toLimitView(limit: LimitView): z.output<typeof limitView> {
  return {
    ...toLimitRow(limit),
    open_reservations: limit.openReservations,
    open_leases: limit.openLeases,
    overspend_micros: limit.overspendMicros,
    released: limit.released,
    expired: limit.expired,
    filled_percent: limit.filledPercent,
    pace_end_micros: limit.paceEndMicros,
  };
}
