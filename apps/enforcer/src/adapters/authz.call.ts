import {
  callRequestId,
  identifier,
  invalidRequest,
  issueMessage,
  micros,
  modelName,
  planKey,
  RESERVATION_TTL_SECONDS,
  toErrorDetails,
} from '@tollkeeper/contracts';
import type { VerifiedKey } from '@tollkeeper/workspace-keys';
import { z } from 'zod';
import type { Decision, Reservations } from '../domain/enforcement.ts';
import type { CallPrices } from '../prices/call.prices.ts';
import { holdOf } from './call.hold.ts';
import { requireHeld } from './proxy.answer.ts';

/** What a proxy passes on of the request that it asks for. */
export interface PassedRequest {
  /** By their names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The bytes of its body that the proxy sends, empty if none. */
  body: Buffer;
  /** The proxy's id of the request. */
  callId: string;
}

/** Most of a body that a proxy may send. */
export const MAX_BODY_BYTES = 64 * 1024;
/** Set by Envoy: whether the body is longer than what it sends. */
const PARTIAL_BODY = 'x-envoy-auth-partial-body';

/** The headers that say who calls, and for what. */
export const callHeaders = z.object({
  'x-tollkeeper-agent': identifier,
  'x-tollkeeper-run': identifier.optional(),
  'x-tollkeeper-plan': planKey.optional(),
  'x-tollkeeper-model': modelName.optional(),
  'x-tollkeeper-estimate-micros': z
    .string()
    .regex(/^\d{1,16}$/, 'must be a whole number')
    .transform(Number)
    .pipe(micros)
    .optional(),
});

// The body is for the model, so what does not fit is ignored.
const count = z.int().min(1).optional().catch(undefined);
const callBody = z
  .object({
    model: modelName.optional().catch(undefined),
    max_tokens: count,
    max_completion_tokens: count,
    max_output_tokens: count,
    n: count,
  })
  .catch({});

/** Asks before a call that a proxy describes by the headers and the body of its request. */
export async function authorizeCall(
  { reservations, prices }: { reservations: Reservations; prices: CallPrices },
  key: VerifiedKey,
  { headers, body, callId }: PassedRequest,
): Promise<Decision> {
  const read = callHeaders.safeParse(headers, { error: issueMessage });
  // Proxies log the sentence alone, so it names the first problem.
  if (!read.success) throw invalidRequest(toErrorDetails(read.error.issues.slice(0, 1)), 1);
  const said = read.data;
  const isWhole = body.length > 0 && headers[PARTIAL_BODY] !== 'true';
  const { n = 1, ...asked } = isWhole ? callBody.parse(jsonOf(body)) : {};
  // Which of them counts depends on the API.
  const maxTokens = Math.max(asked.max_tokens ?? 0, asked.max_completion_tokens ?? 0, asked.max_output_tokens ?? 0);
  // The header may be the caller's own, and the model reads the body.
  const model = asked.model ?? said['x-tollkeeper-model'] ?? null;
  const planned = {
    model,
    provider: null,
    maxOutputTokens: maxTokens * n || undefined,
    inputBytes: isWhole ? body.length : undefined,
    micros: undefined,
  };
  const requestId = callRequestId(callId);
  const request = {
    requestId,
    agentId: said['x-tollkeeper-agent'],
    runId: said['x-tollkeeper-run'] ?? requestId,
    planKey: said['x-tollkeeper-plan'] ?? null,
    amountMicros: said['x-tollkeeper-estimate-micros'] || (await holdOf(prices, key.tenantId, planned)),
    ttlSeconds: RESERVATION_TTL_SECONDS.default,
    model,
    provider: null,
    labels: {},
  };
  const decision = await reservations.reserve(key, request);
  requireHeld(decision, 'x-request-id');
  return decision;
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}
