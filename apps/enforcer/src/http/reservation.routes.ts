import {
  identifier,
  labels,
  micros,
  modelName,
  planKey,
  providerName,
  RESERVATION_TTL_SECONDS,
  reservedAmount,
  settlementId,
  tokens,
  ttlSeconds,
} from '@tollkeeper/contracts';
import { type Authenticator, defineRoute, type Route } from '@tollkeeper/http';
import type { VerifiedKey } from '@tollkeeper/workspace-keys';
import { z } from 'zod';
import type { Reservations } from '../domain/enforcement.ts';
import {
  denialSchema,
  limitRow,
  reservationParams,
  reservationSchema,
  toDenialBody,
  toLimitRow,
  toReservationBody,
} from './schemas.ts';

const PATH = '/api/v1/reservations';
const ONE = `${PATH}/{reservation_id}`;
const TAG = 'Reservations';
export const MAX_BODY_BYTES = 64 * 1024;

const RESERVE = `Asks before a call whether it may spend, and holds the amount if it may. The amount is
granted if, for each daily budget that applies, what was spent on the day, what is held and the amount stay within it.
Without a budget it is granted. The workspace is the one of the key.

201 means that the reservation is durable. **Make the call only while \`reservation.state\` is \`held\`.** 200 means that nothing
is held: the call is denied, which dashboards and alert rules learn at once, or it was a \`dry_run\`.

Choose one \`request_id\` for each call. After any other answer, or none, ask again with the same content. For 24 hours a
request that was granted gets its reservation again, as it is now: 201 also when it was settled or released meanwhile,
or has expired. A request that was denied is decided anew. 409 (\`request_id_reused\`) if the \`request_id\` of a
reservation comes with other content, or after 24 hours.

A plan that is unknown or not active is 400. An agent that was never seen is registered.

The labels of the call are those of its workspace key, its agent and the request. Of labels with the same name, the one
of the key wins, then the one of the agent. A label that the key pins to a different value is 403 (\`label_pinned\`).

Each workspace has a quota of calls a second, and of open reservations. Above them the answer is 429 with
\`Retry-After\`. While nothing can be decided it is 503 with \`Retry-After\`, within a second.`;

const SETTLE = `Posts what the call has cost. It is never refused for its amount, nor made smaller: the money is spent.
The spend is a \`spend.settled\` event in the log before the answer, so report it by this call or by an event, or by both
with the same \`settlement_id\`: it counts once. A reservation that has expired can be settled too.

Settling again with the same \`settlement_id\` changes nothing: the first amount stays. 409 if the reservation was
settled with another \`settlement_id\`, or released. 404 if it is unknown, or older than three days. In these cases,
report what the call has cost as a \`spend.settled\` event without \`reservation_id\`.`;

const reserveBody = z.strictObject({
  request_id: identifier.meta({ description: 'Chosen by the gateway, unique for each call', example: 'call-2' }),
  agent_id: identifier,
  run_id: identifier.meta({ example: 'run-2' }),
  amount_micros: reservedAmount,
  plan_key: planKey.optional().meta({ description: 'The plan of the call' }),
  model: modelName.optional().meta({ description: 'The model that the call will use, if it is known' }),
  provider: providerName.optional().meta({ description: 'The provider of the model, if it is known' }),
  labels: labels.default({}),
  ttl_seconds: ttlSeconds.default(RESERVATION_TTL_SECONDS.default),
  dry_run: z.boolean().default(false).meta({ description: 'Return the decision without changing anything' }),
});
const settleBody = z.strictObject({
  settlement_id: settlementId.meta({ example: 'settlement-2' }),
  amount_micros: micros.meta({ description: 'Cost of the call in USD micros' }),
  model: modelName.optional(),
  provider: providerName.optional(),
  input_tokens: tokens.optional(),
  output_tokens: tokens.optional(),
});
const extendBody = z.strictObject({ ttl_seconds: ttlSeconds });

/** Only releases by people are in the audit log (`limit.routes.ts`). */
export const BY_GATEWAYS = { unaudited: 'Gateways ask and report for their agents, with a key' } as const;

const limits = z.array(limitRow).meta({ description: 'One for each limit that applies; empty when none is set' });
const allowed = z.literal('allowed');
const granted = z.object({ decision: allowed, reservation: reservationSchema, limits }).meta({ id: 'GrantedCall' });
const notHeld = z.discriminatedUnion('decision', [
  z.object({ decision: z.literal('denied'), denial: denialSchema, limits }).meta({ id: 'DeniedCall' }),
  z
    .object({ decision: allowed, reservation: z.null(), limits })
    .meta({ id: 'DryRun', description: 'The answer to a `dry_run` of a call that would be allowed' }),
]);

export interface ReservationRouteDeps {
  reservations: Reservations;
  /** `asking` is for calls that ask, `ending` for calls that end a reservation. */
  access: Record<'asking' | 'ending', Authenticator<VerifiedKey>>;
}

/** The routes that gateways call before and after an agent's call, with a workspace key. */
export function createReservationRoutes({ reservations, access }: ReservationRouteDeps): Route[] {
  const common = { tag: TAG, access: access.asking, bodyLimitBytes: MAX_BODY_BYTES };
  return [
    reserveRoute(reservations, common),
    ...routesOfOne(reservations, common, { ...common, access: access.ending }),
  ];
}

/** What the routes for gateways have in common. */
export interface KeyRoute {
  tag: string;
  access: Authenticator<VerifiedKey>;
  bodyLimitBytes: number;
}

function reserveRoute(reservations: Reservations, common: KeyRoute): Route {
  return defineRoute({
    ...common,
    method: 'post',
    audit: BY_GATEWAYS,
    path: PATH,
    operationId: 'reserve',
    summary: 'Reserve spend for a call',
    description: RESERVE,
    body: reserveBody,
    responses: {
      200: { description: 'No reservation was created: the call is denied, or it was a `dry_run`', schema: notHeld },
      201: {
        description: 'The call is allowed, and the amount is held. A repeated request holds it only once',
        schema: granted,
      },
    },
    handler: async ({ caller, body }) => {
      const { dry_run: dryRun } = body;
      const decided = await reservations.reserve(caller, toRequest(body), { dryRun });
      const { decision } = decided;
      const rows = decided.limits.map(toLimitRow);
      if (decision === 'denied') {
        return { status: 200, body: { decision, denial: toDenialBody(decided.denial), limits: rows } };
      }
      const { reservation } = decided;
      if (reservation === null) return { status: 200, body: { decision, reservation, limits: rows } };
      return { status: 201, body: { decision, reservation: toReservationBody(reservation), limits: rows } };
    },
  });
}

function routesOfOne(reservations: Reservations, common: KeyRoute, ending: KeyRoute): Route[] {
  const now = { 200: { description: 'The reservation as it is now', schema: reservationSchema } } as const;
  return [
    defineRoute({
      ...common,
      method: 'get',
      path: ONE,
      operationId: 'getReservation',
      summary: 'Read a reservation',
      description: 'A reservation older than three days is 404 too.',
      params: reservationParams,
      responses: { 200: { description: 'The reservation', schema: reservationSchema } },
      handler: async ({ caller, params }) => {
        const reservation = await reservations.get(caller.tenantId, params.reservation_id);
        return { status: 200, body: toReservationBody(reservation) };
      },
    }),
    defineRoute({
      ...ending,
      method: 'post',
      audit: BY_GATEWAYS,
      path: `${ONE}:settle`,
      operationId: 'settleReservation',
      summary: 'Settle the cost of a call',
      description: SETTLE,
      params: reservationParams,
      body: settleBody,
      responses: now,
      handler: async ({ caller, params, body }) => {
        const settled = await reservations.settle(caller.tenantId, params.reservation_id, {
          settlementId: body.settlement_id,
          amountMicros: body.amount_micros,
          model: body.model,
          provider: body.provider,
          inputTokens: body.input_tokens,
          outputTokens: body.output_tokens,
        });
        return { status: 200, body: toReservationBody(settled) };
      },
    }),
    defineRoute({
      ...ending,
      method: 'post',
      audit: BY_GATEWAYS,
      path: `${ONE}:release`,
      operationId: 'releaseReservation',
      summary: 'Release a reservation',
      description:
        'Releases the held amount. Releasing a reservation again, or an expired one, changes nothing. 409 if the reservation was settled.',
      params: reservationParams,
      responses: now,
      handler: async ({ caller, params }) => {
        const released = await reservations.release(caller.tenantId, params.reservation_id);
        return { status: 200, body: toReservationBody(released) };
      },
    }),
    defineRoute({
      ...common,
      method: 'post',
      audit: BY_GATEWAYS,
      path: `${ONE}:extend`,
      operationId: 'extendReservation',
      summary: 'Extend a reservation',
      description: 'The seconds count from now. 409 unless the reservation is held.',
      params: reservationParams,
      body: extendBody,
      responses: now,
      handler: async ({ caller, params, body }) => {
        const extended = await reservations.extend(caller.tenantId, params.reservation_id, body.ttl_seconds);
        return { status: 200, body: toReservationBody(extended) };
      },
    }),
  ];
}

function toRequest(body: z.output<typeof reserveBody>) {
  return {
    requestId: body.request_id,
    agentId: body.agent_id,
    runId: body.run_id,
    planKey: body.plan_key ?? null,
    amountMicros: body.amount_micros,
    ttlSeconds: body.ttl_seconds,
    model: body.model ?? null,
    provider: body.provider ?? null,
    labels: body.labels,
  };
}
