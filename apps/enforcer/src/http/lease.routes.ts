import { identifier, MAX_LEASE_SETTLEMENTS } from '@tollkeeper/contracts';
import { defineRoute, integerQuery, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import type { Limits } from '../domain/enforcement.ts';
import type { ChargeSettlements, Leases, LeaseSettlement, SettlementResult } from '../domain/lease.ts';
import {
  deniedLease,
  grantBody,
  grantedLease,
  leasePage,
  leaseParams,
  leaseSchema,
  leaseState,
  renewBody,
  settleBody,
  settledLease,
  toLeaseBody,
} from './lease.schemas.ts';
import { BY_GATEWAYS, type KeyRoute, MAX_BODY_BYTES, type ReservationRouteDeps } from './reservation.routes.ts';
import { toDenialBody, toLimitRow } from './schemas.ts';

const PATH = '/api/v1/leases';
const ONE = `${PATH}/{lease_id}`;
const OF_PEOPLE = '/api/v1/limits/leases';
const TAG = 'Leases';
/** For 1,000 settlements with long ids and names. */
const MAX_SETTLE_BYTES = 1024 * 1024;

const GRANT = `Asks for an amount to decide from: the gateway then lets calls of the agent spend it without asking for
each. The amount is held like that of a reservation, so budgets hold.

The server chooses the amount, from \`min_micros\` to \`amount_micros\`: with much left of each limit it is what the gateway
wishes for. Near a limit, it is a part of what is left, so that other gateways find something too. With less left than
\`min_micros\`, the answer is 200 with a denial, as for a reservation.

**Use the lease only while its \`state\` is \`open\`, and only until it ends.** It ends after its time, and with its day
at the latest. What is left is free again then, and settlements are late. Report the calls by \`:settle\`.

Repeats, plans, agents, labels and quotas are as for reservations. A lease is for the calls with its \`model\`, \`provider\`
and \`labels\`, since these select budgets.`;

const SETTLE = `Posts what 1 to 1000 calls have cost, each \`settlement_id\` once. Their \`spend.settled\` events are in the
log before the answer. No settlement is refused for its amount, nor made smaller. What the lease does not hold any more
counts as \`above_hold\`, and what comes after its end as \`late\`. 404 if the lease is unknown, or older than three days:
then report the calls as \`spend.settled\` events without \`lease_id\`.`;

const RENEW = `Makes the lease larger, up to \`amount_micros\` in all if there is room, and longer. It never gets smaller, nor
ends sooner. A repeated \`request_id\` changes nothing; with other content it is 409 (\`request_id_reused\`). A lease that
cannot be renewed is answered as it was: a period of a budget has ended in which it counts, the agent or the key has
another label now, the key is another one, or the plan is inactive. Ask for another lease then, and also after a 409: the
lease has ended.`;

export interface LeaseRouteDeps extends Pick<ReservationRouteDeps, 'access'> {
  leases: Leases;
  chargeSettlements: ChargeSettlements;
  limits: Pick<Limits, 'listLeases'>;
}

/** The routes on leases: of gateways, with a workspace key, and of people. */
export function createLeaseRoutes({ leases, limits, access, chargeSettlements }: LeaseRouteDeps): Route[] {
  const asking = { tag: TAG, access: access.asking, bodyLimitBytes: MAX_BODY_BYTES };
  const ending = { ...asking, access: access.ending };
  return [
    grantRoute(leases, asking),
    settleRoute(leases, ending, chargeSettlements),
    ...routesOfOne(leases, asking, ending),
    ...routesOfPeople(leases, limits),
  ];
}

function grantRoute(leases: Leases, asking: KeyRoute): Route {
  return defineRoute({
    ...asking,
    method: 'post',
    audit: BY_GATEWAYS,
    path: PATH,
    operationId: 'grantLease',
    summary: 'Get a lease for many calls',
    description: GRANT,
    body: grantBody,
    responses: {
      200: { description: 'Nothing is held: a limit has less left than `min_micros`', schema: deniedLease },
      201: { description: 'The lease. A repeated request holds it only once', schema: grantedLease },
    },
    handler: async ({ caller, body }) => {
      const decided = await leases.grant(caller, {
        requestId: body.request_id,
        agentId: body.agent_id,
        planKey: body.plan_key ?? null,
        amountMicros: body.amount_micros,
        minMicros: body.min_micros,
        ttlSeconds: body.ttl_seconds,
        runId: body.run_id ?? null,
        model: body.model ?? null,
        provider: body.provider ?? null,
        labels: body.labels,
      });
      const { decision } = decided;
      const rows = decided.limits.map(toLimitRow);
      if (decision === 'denied') {
        return { status: 200, body: { decision, denial: toDenialBody(decided.denial), limits: rows } };
      }
      return { status: 201, body: { decision, lease: toLeaseBody(decided.lease), limits: rows } };
    },
  });
}

function settleRoute(leases: Leases, ending: KeyRoute, chargeSettlements: ChargeSettlements): Route {
  return defineRoute({
    ...ending,
    bodyLimitBytes: MAX_SETTLE_BYTES,
    method: 'post',
    audit: BY_GATEWAYS,
    path: `${ONE}:settle`,
    operationId: 'settleLease',
    summary: 'Settle the cost of calls from a lease',
    description: SETTLE,
    params: leaseParams,
    body: settleBody,
    // Valid or not.
    charge: (caller, body) => chargeSettlements(caller, settlementsIn(body)),
    responses: { 200: { description: 'The lease as it is now, and each settlement', schema: settledLease } },
    handler: async ({ caller, params, body }) => {
      const settlements = body.settlements.map(toSettlement);
      const { lease, results } = await leases.settle(caller.tenantId, params.lease_id, settlements);
      return { status: 200, body: { lease: toLeaseBody(lease), results: results.map(toResultBody) } };
    },
  });
}

function settlementsIn(body: unknown): number {
  const settlements = (body as { settlements?: unknown } | null)?.settlements;
  return Array.isArray(settlements) ? Math.min(settlements.length, MAX_LEASE_SETTLEMENTS) : 1;
}

function routesOfOne(leases: Leases, asking: KeyRoute, ending: KeyRoute): Route[] {
  const now = { 200: { description: 'The lease as it is now', schema: leaseSchema } } as const;
  return [
    defineRoute({
      ...asking,
      method: 'get',
      path: ONE,
      operationId: 'getLease',
      summary: 'Read a lease',
      description: 'A lease older than three days is 404 too.',
      params: leaseParams,
      responses: { 200: { description: 'The lease', schema: leaseSchema } },
      handler: async ({ caller, params }) => {
        return { status: 200, body: toLeaseBody(await leases.get(caller.tenantId, params.lease_id)) };
      },
    }),
    defineRoute({
      ...asking,
      method: 'post',
      audit: BY_GATEWAYS,
      path: `${ONE}:renew`,
      operationId: 'renewLease',
      summary: 'Renew a lease',
      description: RENEW,
      params: leaseParams,
      body: renewBody,
      responses: now,
      handler: async ({ caller, params, body }) => {
        const { request_id: requestId, amount_micros: amountMicros, ttl_seconds: ttlSeconds } = body;
        const renewed = await leases.renew(caller, params.lease_id, { requestId, amountMicros, ttlSeconds });
        return { status: 200, body: toLeaseBody(renewed) };
      },
    }),
    defineRoute({
      ...ending,
      method: 'post',
      audit: BY_GATEWAYS,
      path: `${ONE}:return`,
      operationId: 'returnLease',
      summary: 'Return a lease',
      description:
        'Ends the lease and frees what is left of it. Settle its calls first: what comes later is late. Returning a lease again, or an expired one, changes nothing.',
      params: leaseParams,
      responses: now,
      handler: async ({ caller, params }) => {
        return { status: 200, body: toLeaseBody(await leases.return(caller.tenantId, params.lease_id)) };
      },
    }),
  ];
}

function routesOfPeople(leases: Leases, limits: LeaseRouteDeps['limits']): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: OF_PEOPLE,
      operationId: 'listLeases',
      tag: TAG,
      summary: 'List the leases of the last 48 hours, newest first',
      description: 'A page may have fewer items than `limit`, or none; `next_cursor` says whether there are more.',
      access: 'admin',
      query: z.object({
        state: leaseState.optional(),
        agent_id: identifier.optional(),
        limit: integerQuery({ min: 1, max: 100, default: 50, description: 'Maximum number of items on a page' }),
        cursor: z.string().max(1024).optional().meta({ description: 'The `next_cursor` of the previous page' }),
      }),
      responses: { 200: { description: 'A page', schema: leasePage } },
      handler: async ({ caller, query }) => {
        const { state, agent_id: agentId, limit, cursor } = query;
        const page = await limits.listLeases(caller.tenantId, { state, agentId }, { limit, cursor });
        return { status: 200, body: { items: page.items.map(toLeaseBody), next_cursor: page.nextCursor } };
      },
    }),
    defineRoute({
      method: 'post',
      audit: 'lease.return',
      path: `${OF_PEOPLE}/{lease_id}:return`,
      operationId: 'returnLeaseAsOwner',
      tag: TAG,
      summary: 'End a lease',
      description:
        'For a lease that its gateway does not return. Its gateway may go on to use it until it learns of this, at its next settlement or renewal: that spend is late. Ending a lease again changes nothing.',
      access: 'owner',
      params: leaseParams,
      responses: { 200: { description: 'The lease as it is now', schema: leaseSchema } },
      handler: async ({ caller, params, cause }) => {
        return { status: 200, body: toLeaseBody(await leases.return(caller.tenantId, params.lease_id, cause)) };
      },
    }),
  ];
}

type Body = z.output<typeof settleBody>['settlements'][number];

function toSettlement(body: Body): LeaseSettlement {
  return {
    settlementId: body.settlement_id,
    runId: body.run_id,
    amountMicros: body.amount_micros,
    occurredAt: body.occurred_at === undefined ? undefined : Date.parse(body.occurred_at),
    model: body.model,
    provider: body.provider,
    inputTokens: body.input_tokens,
    outputTokens: body.output_tokens,
  };
}

function toResultBody({ settlementId, outcome, micros }: SettlementResult) {
  return { settlement_id: settlementId, outcome, amount_micros: micros };
}
