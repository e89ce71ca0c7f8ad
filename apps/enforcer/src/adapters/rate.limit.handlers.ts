import {
  parseWorkspaceKey,
  type RateLimitRequestMessage,
  type RateLimitResponseMessage,
  rateLimitService,
  RESERVATION_TTL_SECONDS,
} from '@tollkeeper/contracts';
import { type GrpcService, grpcService, type RpcAuthenticator } from '@tollkeeper/grpc';
import { type Clock, newId } from '@tollkeeper/kernel';
import type { KeyCheck, VerifiedKey } from '@tollkeeper/workspace-keys';
import { z } from 'zod';
import { PROXY_ANSWER_MS, within } from '../domain/answer.time.ts';
import type { Decision, Reservations } from '../domain/enforcement.ts';
import type { Reservation } from '../domain/reservation.ts';
import type { CallPrices } from '../prices/call.prices.ts';
import { askAll } from './ask.all.ts';
import type { EndCall } from './call.end.ts';
import { holdOf } from './call.hold.ts';
import { deniedAnswer, requireHeld, RESERVATION_HEADER, reservationMetadata } from './proxy.answer.ts';
import { asks, asksIn, callOf, type Descriptor, endedCalls, readDescriptors } from './rate.limit.descriptors.ts';

const MAX_DESCRIPTORS = 20;
const MAX_ENTRIES = 32;

const text = (max: number) => z.string().max(max, `must be at most ${max} characters`);
/** A value may be of the answer of a model, whatever that says, so that its call still ends. */
const entry = z.object({ key: text(1_024), value: text(64 * 1_024) });
const requests = {
  // The counts are checked first, so that a list that is too long is one problem.
  shouldRateLimit: z.object({
    domain: text(1_024),
    hitsAddend: z.number(),
    descriptors: z
      .array(z.custom<RateLimitRequestMessage['descriptors'][number]>())
      .min(1, 'must not be empty')
      .max(MAX_DESCRIPTORS, `must have at most ${MAX_DESCRIPTORS} descriptors`)
      .pipe(
        z.array(
          z.object({
            entries: z
              .array(z.custom<{ key: string; value: string }>())
              .max(MAX_ENTRIES, `must have at most ${MAX_ENTRIES} entries`)
              .pipe(z.array(entry)),
            hitsAddend: z.object({ value: z.number() }).nullable(),
          }),
        ),
      ),
  }),
};

export interface RateLimitDeps {
  reservations: Reservations;
  endCall: EndCall;
  prices: CallPrices;
  authenticator: RpcAuthenticator<VerifiedKey>;
  clock: Clock;
}

/** The handler of Envoy's rate limit service: reserves before calls, and settles or releases after them. */
export function createRateLimitHandlers(deps: RateLimitDeps): GrpcService {
  const { reservations, endCall, prices, authenticator, clock } = deps;
  const newCallId = () => newId('req');

  async function decide(key: VerifiedKey, asked: Descriptor, { dryRun }: { dryRun: boolean }): Promise<Decision> {
    const call = callOf(asked, newCallId);
    const { model, provider } = call;
    // 0 hits are those of a proxy that cannot know the cost yet.
    const hits = asked.hits || undefined;
    const inMicros = asked.unit === 'micros';
    const [micros, maxOutputTokens] = inMicros ? [hits, asked.max_tokens] : [undefined, hits ?? asked.max_tokens];
    const planned = { model, provider, maxOutputTokens, inputBytes: asked.bytes, micros };
    const amountMicros = await holdOf(prices, key.tenantId, planned);
    const request = { ...call, amountMicros, ttlSeconds: RESERVATION_TTL_SECONDS.default };
    const decision = await reservations.reserve(key, request, { dryRun });
    requireHeld(decision, 'call');
    return decision;
  }

  async function decideAll(key: VerifiedKey, asked: readonly Descriptor[], deadline: number) {
    const answer = await askAll(asked, {
      decide: (one, options) => decide(key, one, options),
      release: (id) => reservations.release(key.tenantId, id),
      isLate: () => performance.now() >= deadline,
    });
    return answer.denied === undefined ? toAllowed(answer.reservation) : toDenied(answer.decision, answer.denied);
  }

  function toDenied({ denial }: Extract<Decision, { decision: 'denied' }>, { format }: Descriptor) {
    const { headers, body } = deniedAnswer(denial, format, clock());
    return { overallCode: 'OVER_LIMIT' as const, responseHeadersToAdd: toHeaders(headers), rawBody: Buffer.from(body) };
  }

  async function answer(key: VerifiedKey, descriptors: readonly Descriptor[]): Promise<RateLimitResponseMessage> {
    const deadline = performance.now() + PROXY_ANSWER_MS;
    // Most requests only ask, about one call.
    if (descriptors.every(asks)) return decideAll(key, descriptors, deadline);
    await Promise.all(endedCalls(descriptors, newCallId).map((call) => endCall(key, call)));
    return decideAll(key, descriptors.filter(asks), deadline);
  }

  return grpcService(
    rateLimitService,
    requests,
    {
      shouldRateLimit: (request, { caller }) => within(PROXY_ANSWER_MS, answer(caller, readDescriptors(request))),
    },
    authenticator,
  );
}

/** Authenticates by the metadata, else by a domain that is a key. Calls that end have a quota of their own. */
export function createRateLimitAuthenticator(
  check: Record<'asking' | 'ending', KeyCheck>,
): RpcAuthenticator<VerifiedKey> {
  return {
    async authenticate(call) {
      const message = call.message as RateLimitRequestMessage;
      const { domain } = message;
      const authorization = call.authorization ?? (parseWorkspaceKey(domain) === null ? undefined : `Bearer ${domain}`);
      const { asking, ending } = countsOf(message);
      if (asking === 0) return check.ending({ ...call, authorization, requests: Math.max(1, ending) });
      const key = await check.asking({ ...call, authorization, requests: asking });
      return ending === 0 ? key : check.ending({ ...call, authorization, requests: ending });
    },
    senderOf: ({ tenantId }) => tenantId,
  };
}

/** How many calls a message asks for and ends, among as many descriptors as it may have. */
function countsOf(message: RateLimitRequestMessage): Record<'asking' | 'ending', number> {
  const descriptors = message.descriptors.slice(0, MAX_DESCRIPTORS);
  const ending = descriptors.filter((one) => !asksIn(one, message));
  if (ending.length === 0) return { asking: descriptors.length, ending: 0 };
  const calls = new Set(ending.map(({ entries }) => entries.find(({ key }) => key === 'call')?.value));
  return { asking: descriptors.length - ending.length, ending: calls.size };
}

function toAllowed(reservation: Reservation | undefined): RateLimitResponseMessage {
  if (reservation === undefined) return { overallCode: 'OK' };
  const requestHeadersToAdd = toHeaders({ [RESERVATION_HEADER]: reservation.id });
  return { overallCode: 'OK', requestHeadersToAdd, dynamicMetadata: reservationMetadata(reservation) };
}

function toHeaders(headers: Record<string, string>) {
  return Object.entries(headers).map(([key, value]) => ({ key, value }));
}
