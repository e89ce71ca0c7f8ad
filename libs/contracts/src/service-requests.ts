import { provenTenantId } from '@tollkeeper/kernel';
import { z } from 'zod';
import { identifier, micros, planKey } from './api/primitives.ts';
import { RESERVATION_TTL_SECONDS, ttlSeconds } from './api/reservation.ts';
import { modelName, providerName, settlementId, tokens } from './event-schemas.ts';
import type { ReleaseRequest__Output as ReleaseRequestMessage } from './gen/tollkeeper/enforcer/v1/ReleaseRequest.ts';
import type { ReserveRequest__Output as ReserveRequestMessage } from './gen/tollkeeper/enforcer/v1/ReserveRequest.ts';
import type { SettleRequest__Output as SettleRequestMessage } from './gen/tollkeeper/enforcer/v1/SettleRequest.ts';

const MAX_ASKED = 1000;
/** Most requests that an RPC carries in its field `requests`. */
export const MAX_BATCH_REQUESTS = 50;
const SHA256_BYTES = 32;

/** The workspace that a peer has proven itself, named in a request that bears a service token. */
const tenantId = identifier.transform(provenTenantId);
// How many there are is checked first, so that a list that is too long is one problem.
const asked = z.array(z.string()).max(MAX_ASKED, `must have at most ${MAX_ASKED} ids`);
const agentIds = asked.pipe(z.array(identifier));
const planKeys = asked.pipe(z.array(planKey));
const channelIds = asked.pipe(z.array(identifier));
const sha256 = z
  .instanceof(Buffer)
  .refine((bytes) => bytes.length === SHA256_BYTES, `must be a SHA-256 of ${SHA256_BYTES} bytes`);
const keyId = z.string().regex(/^[0-9A-Za-z]{16}$/, 'must be 16 characters of A-Z a-z 0-9');

/** An int64, which arrives as text. Beyond what a number carries exactly, `schema` refuses it. */
const int64 = (schema: z.ZodType<number, number>) => z.string('must be given').transform(Number).pipe(schema);
const reservation = z.object({ reservationId: identifier });

/** Each request of a batch is checked when it is answered, so that one which is wrong is refused alone. */
const batch = <Request>() =>
  z.object({
    requests: z
      .array(z.custom<Request>())
      .min(1, 'must not be empty')
      .max(MAX_BATCH_REQUESTS, `must have at most ${MAX_BATCH_REQUESTS} requests`),
  });

/** What budgets takes over gRPC, by the name of the RPC. */
export const budgetsRequests = {
  getBudgets: z.object({ tenantId, agentIds, planKeys }),
  listBudgets: z.object({ tenantId }),
};

/** What the enforcer takes over gRPC. */
export const enforcerRequests = {
  reserve: z.object({
    requestId: identifier,
    agentId: identifier,
    runId: identifier,
    planKey: planKey.optional(),
    amountMicros: int64(micros),
    ttlSeconds: ttlSeconds.default(RESERVATION_TTL_SECONDS.default),
    dryRun: z.boolean(),
  }),
  getReservation: reservation,
  settle: reservation.extend({
    settlementId,
    amountMicros: int64(micros),
    model: modelName.optional(),
    provider: providerName.optional(),
    inputTokens: int64(tokens).optional(),
    outputTokens: int64(tokens).optional(),
  }),
  release: reservation,
  extend: reservation.extend({ ttlSeconds }),
  reserveMany: batch<ReserveRequestMessage>(),
  settleMany: batch<SettleRequestMessage>(),
  releaseMany: batch<ReleaseRequestMessage>(),
};

/** What identity takes over gRPC. */
export const identityRequests = {
  resolveSession: z.object({ sessionSha256: sha256 }),
  getWorkspace: z.object({ tenantId }),
  getAgents: z.object({ tenantId, agentIds }),
  registerAgents: z.object({ tenantId, agentIds: asked.min(1, 'must not be empty').pipe(z.array(identifier)) }),
};

/** What keys takes over gRPC. */
export const keysRequests = { verifyKey: z.object({ keyId, keySha256: sha256 }) };

/** What the notifier takes over gRPC. */
export const notifierRequests = { findChannels: z.object({ tenantId, channelIds }) };
