import { provenTenantId } from '@tollkeeper/kernel';
import { z } from 'zod';
import { budgetId } from './api/budgets.ts';
import { labels } from './api/labels.ts';
import { LEASE_TTL_SECONDS, leaseTtlSeconds, MAX_LEASE_SETTLEMENTS, MIN_ABOVE_AMOUNT } from './api/lease.ts';
import { identifier, micros, planKey } from './api/primitives.ts';
import { extraMicros, MAX_RAISES, raiseReason, raiseValue } from './api/raises.ts';
import { RESERVATION_TTL_SECONDS, ttlSeconds } from './api/reservation.ts';
import { modelName, providerName, settlementId, tokens } from './spend-settled.ts';
import type { ReleaseRequest__Output as ReleaseRequestMessage } from './gen/tollkeeper/enforcer/v1/ReleaseRequest.ts';
import type { ReserveRequest__Output as ReserveRequestMessage } from './gen/tollkeeper/enforcer/v1/ReserveRequest.ts';
import type { SettleRequest__Output as SettleRequestMessage } from './gen/tollkeeper/enforcer/v1/SettleRequest.ts';

const MAX_ASKED = 1000;
/** Maximum number of entries in the field `requests` of an RPC. */
export const MAX_BATCH_REQUESTS = 50;
/** Maximum number of agents whose labels one RPC answers. */
export const MAX_LABELLED_AGENTS = 500;
/** Maximum number of budgets of one list by risk. */
const MAX_RISKS = 100;
/** Longest span of one list of settlements or raises. */
const MAX_SPAN_DAYS = 400;
const MAX_CURSOR_LENGTH = 1024;
const SHA256_BYTES = 32;

/** A workspace that the peer has verified. The request carries a service token. */
const tenantId = identifier.transform(provenTenantId);
// The count is checked first, so that a list that is too long is one problem.
const asked = z.array(z.string()).max(MAX_ASKED, `must have at most ${MAX_ASKED} ids`);
const agentIds = asked.pipe(z.array(identifier));
const planKeys = asked.pipe(z.array(planKey));
const channelIds = asked.pipe(z.array(identifier));
const sha256 = z
  .instanceof(Buffer)
  .refine((bytes) => bytes.length === SHA256_BYTES, `must be a SHA-256 of ${SHA256_BYTES} bytes`);
/** The id of a workspace key. */
export const keyId = z.string().regex(/^[0-9A-Za-z]{16}$/, 'must be 16 characters of A-Z a-z 0-9');

/** Bounds of what is kept of a report, in characters and entries. */
export const MAX_REPORT_TEXT = 128;
export const MAX_REFUSAL = 500;
export const MAX_REPORT_CALLS = 2;
export const MAX_REPORT_REASONS = 10;
const MAX_REPORT_FACTS = 64;
/** What became of a call that a report has. */
export const REPORT_OUTCOMES = ['settled', 'unpriced', 'no_usage', 'client_gone', 'failed'] as const;
/** Who said what a reported call cost, as in `spend.settled`. */
export const REPORT_PRICED_BY = ['sender', 'override', 'table'] as const;
const reportText = z.string().max(MAX_REPORT_TEXT, `must be at most ${MAX_REPORT_TEXT} characters`);
const factName = z.string().regex(/^[a-z][a-z0-9_]{0,31}$/, 'must be 1 to 32 of a-z 0-9 _, and begin with a letter');

const amountMicros = z.number('must be given').pipe(micros);
/** Epoch milliseconds. */
const time = z
  .int()
  .min(0, 'must not be negative')
  .max(Date.UTC(9999, 11, 31), 'must be before the year 10000');
const reservation = z.object({ reservationId: identifier });

/** Each request of a batch is checked when it is answered, so that only invalid ones are refused. */
const batch = <Request>() =>
  z.object({
    requests: z
      .array(z.custom<Request>())
      .min(1, 'must not be empty')
      .max(MAX_BATCH_REQUESTS, `must have at most ${MAX_BATCH_REQUESTS} requests`),
  });

/** A request about a span of time of a workspace. */
function inSpan<Shape extends z.ZodRawShape>(shape: Shape) {
  return z
    .object({ tenantId, from: time, until: time })
    .refine(({ from, until }) => from < until, { path: ['from'], error: 'must be before until' })
    .refine(({ from, until }) => until - from <= MAX_SPAN_DAYS * 86_400_000, {
      path: ['from'],
      error: `must be at most ${MAX_SPAN_DAYS} days before until`,
    })
    .and(z.object(shape));
}

/** The requests to budgets over gRPC, by RPC. */
export const budgetsRequests = {
  getBudgets: z.object({ tenantId, agentIds, planKeys }),
  listBudgets: z.object({ tenantId }),
  listActiveBudgets: z.object({ tenantId }),
  requestRaise: z.object({
    tenantId,
    keyId,
    requestId: identifier,
    budgetId,
    value: raiseValue.optional(),
    extraMicros: z.number('must be given').pipe(extraMicros),
    until: time,
    reason: raiseReason,
  }),
  listGrantedRaises: inSpan({ max: z.int().min(1).max(MAX_RAISES) }),
  listPrices: z.object({ tenantId, after: z.int().min(0, 'must not be negative') }),
};

/** The requests to the dashboard over gRPC, by RPC. */
export const dashboardRequests = {
  listSettlements: inSpan({ cursor: z.string().max(MAX_CURSOR_LENGTH) }),
};

/** The requests of gateways to the enforcer over gRPC, by RPC. */
export const enforcerRequests = {
  reserve: z.object({
    requestId: identifier,
    agentId: identifier,
    runId: identifier,
    planKey: planKey.optional(),
    amountMicros,
    ttlSeconds: ttlSeconds.default(RESERVATION_TTL_SECONDS.default),
    dryRun: z.boolean(),
    model: modelName.optional(),
    provider: providerName.optional(),
    labels,
  }),
  getReservation: reservation,
  settle: reservation.extend({
    settlementId,
    amountMicros,
    model: modelName.optional(),
    provider: providerName.optional(),
    inputTokens: tokens.optional(),
    outputTokens: tokens.optional(),
  }),
  release: reservation,
  extend: reservation.extend({ ttlSeconds }),
  reserveMany: batch<ReserveRequestMessage>(),
  settleMany: batch<SettleRequestMessage>(),
  releaseMany: batch<ReleaseRequestMessage>(),
};

/** A google.protobuf.Timestamp as epoch milliseconds. */
const timestamp = z
  .object({ seconds: z.int(), nanos: z.int() })
  .transform(({ seconds, nanos }) => seconds * 1000 + Math.floor(nanos / 1_000_000))
  .pipe(time);
const lease = z.object({ leaseId: identifier });
const ofLeases = { amountMicros, ttlSeconds: leaseTtlSeconds.default(LEASE_TTL_SECONDS.default) };

/** The requests of gateways about leases over gRPC, by RPC. */
export const leaseRequests = {
  grantLease: z
    .object({
      requestId: identifier,
      agentId: identifier,
      planKey: planKey.optional(),
      ...ofLeases,
      minMicros: amountMicros,
      runId: identifier.optional(),
      model: modelName.optional(),
      provider: providerName.optional(),
      labels,
    })
    .refine(({ minMicros, amountMicros: most }) => minMicros <= most, { path: ['minMicros'], error: MIN_ABOVE_AMOUNT }),
  getLease: lease,
  settleLease: lease.extend({
    settlements: z
      .array(
        z.object({
          settlementId,
          runId: identifier,
          amountMicros,
          occurredAt: timestamp.nullable().transform((at) => at ?? undefined),
          model: modelName.optional(),
          provider: providerName.optional(),
          inputTokens: tokens.optional(),
          outputTokens: tokens.optional(),
        }),
      )
      .min(1, 'must not be empty')
      .max(MAX_LEASE_SETTLEMENTS, `must have at most ${MAX_LEASE_SETTLEMENTS} settlements`),
  }),
  renewLease: lease.extend({ requestId: identifier, ...ofLeases }),
  returnLease: lease,
};

/** The requests of our services to the enforcer over gRPC, by RPC. */
export const limitsRequests = { listBudgetsByRisk: z.object({ tenantId, max: z.int().min(1).max(MAX_RISKS) }) };

/** The requests to identity over gRPC, by RPC. */
export const identityRequests = {
  resolveSession: z.object({ sessionSha256: sha256 }),
  getWorkspace: z.object({ tenantId }),
  getAgents: z
    .object({ tenantId, agentIds, withLabels: z.boolean() })
    .refine(({ withLabels, agentIds: { length } }) => !withLabels || (length > 0 && length <= MAX_LABELLED_AGENTS), {
      path: ['agentIds'],
      error: `must be 1 to ${MAX_LABELLED_AGENTS} ids with labels`,
    }),
  registerAgents: z.object({ tenantId, agentIds: asked.min(1, 'must not be empty').pipe(z.array(identifier)) }),
};

/** The requests to keys over gRPC, by RPC. */
export const keysRequests = {
  verifyKey: z.object({ keyId, keySha256: sha256 }),
  keepReport: z.object({
    tenantId,
    reportId: identifier,
    keyId,
    receivedMs: time,
    path: z.string().max(MAX_REPORT_TEXT),
    records: z.int().min(0),
    calls: z.int().min(0),
    firstCalls: z
      .array(
        z.object({
          outcome: z.enum(REPORT_OUTCOMES),
          agentId: identifier,
          amountMicros: micros.optional(),
          pricedBy: z.enum([...REPORT_PRICED_BY, '']),
          facts: z
            .array(z.object({ fact: factName, name: reportText, value: reportText }))
            .max(MAX_REPORT_FACTS, `must have at most ${MAX_REPORT_FACTS} facts`),
        }),
      )
      .max(MAX_REPORT_CALLS, `must have at most ${MAX_REPORT_CALLS} calls`),
    notCalls: z
      .array(z.object({ reason: reportText, records: z.int().min(1) }))
      .max(MAX_REPORT_REASONS, `must have at most ${MAX_REPORT_REASONS} reasons`),
    refusal: z.string().max(MAX_REFUSAL),
  }),
};

/** What was understood of a report, and not where it came from. */
export type ReportContent = Omit<
  z.output<(typeof keysRequests)['keepReport']>,
  'tenantId' | 'reportId' | 'keyId' | 'receivedMs' | 'path'
>;

/** The requests to the notifier over gRPC, by RPC. */
export const notifierRequests = { findChannels: z.object({ tenantId, channelIds }) };
