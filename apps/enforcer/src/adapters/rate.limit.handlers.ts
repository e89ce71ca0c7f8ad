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
import type { EndCall } from './call.end.ts';
import { holdOf } from './call.hold.ts';
import { deniedAnswer, requireHeld, RESERVATION_HEADER, reservationMetadata } from './proxy.answer.ts';
import { asks, asksIn, callOf, type Descriptor, endedCalls, readDescriptors } from './rate.limit.descriptors.ts';

const MAX_DESCRIPTORS = 20;
const MAX_ENTRIES = 32;
const MAX_TEXT = 1024;

const text = z.string().max(MAX_TEXT, `must be at most ${MAX_TEXT} characters`);
const requests = {
  // The counts are checked first, so that a list that is too long is one problem.
  shouldRateLimit: z.object({
    domain: text,
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
              .pipe(z.array(z.object({ key: text, value: text }))),
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
    if (decision.decision === 'allowed' && decision.reservation !== null) requireHeld(decision.reservation, 'call');
    return decision;
  }

  /** Denies all if one is denied, and then holds nothing. */
  async function decideAll(key: VerifiedKey, asked: readonly Descriptor[]): Promise<RateLimitResponseMessage> {
    const denied = await (asked.length > 1 ? firstDenied(key, asked) : undefined);
    if (denied !== undefined) return denied;
    const granted: Reservation[] = [];
    // One that cannot be released expires.
    const giveBack = () => Promise.allSettled(granted.map(({ id }) => reservations.release(key.tenantId, id)));
    try {
      for (const one of asked) {
        const decision = await decide(key, one, { dryRun: one.verb === 'check' });
        if (decision.decision === 'denied') {
          await giveBack();
          return toDenied(decision, one);
        }
        if (decision.reservation !== null) granted.push(decision.reservation);
      }
    } catch (error) {
      await giveBack();
      throw error;
    }
    return toAllowed(granted[0]);
  }

  /** Looks at all before anything is held, so that a denied request can be repeated as it is. */
  async function firstDenied(key: VerifiedKey, asked: readonly Descriptor[]) {
    for (const one of asked) {
      const { decision } = await decide(key, one, { dryRun: true });
      if (decision === 'allowed') continue;
      // Reports the denial.
      const reported = await decide(key, one, { dryRun: one.verb === 'check' });
      return reported.decision === 'denied' ? toDenied(reported, one) : undefined;
    }
    return undefined;
  }

  function toDenied({ denial }: Extract<Decision, { decision: 'denied' }>, { format }: Descriptor) {
    const { headers, body } = deniedAnswer(denial, format, clock());
    return { overallCode: 'OVER_LIMIT' as const, responseHeadersToAdd: toHeaders(headers), rawBody: Buffer.from(body) };
  }

  async function answer(key: VerifiedKey, descriptors: readonly Descriptor[]): Promise<RateLimitResponseMessage> {
    await Promise.all(endedCalls(descriptors, newCallId).map((call) => endCall(key, call)));
    return decideAll(key, descriptors.filter(asks));
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

/** Authenticates by the metadata, else by a domain that is a key. Calls that only report have a quota of their own. */
export function createRateLimitAuthenticator(
  check: Record<'asking' | 'ending', KeyCheck>,
): RpcAuthenticator<VerifiedKey> {
  return {
    async authenticate(call) {
      const message = call.message as RateLimitRequestMessage;
      const { domain } = message;
      const authorization = call.authorization ?? (parseWorkspaceKey(domain) === null ? undefined : `Bearer ${domain}`);
      const requests = Math.min(message.descriptors.filter((one) => asksIn(one, message)).length, MAX_DESCRIPTORS);
      if (requests === 0) return check.ending({ ...call, authorization });
      return check.asking({ ...call, authorization, requests });
    },
    senderOf: ({ tenantId }) => tenantId,
  };
}

function toAllowed(reservation: Reservation | undefined): RateLimitResponseMessage {
  if (reservation === undefined) return { overallCode: 'OK' };
  const requestHeadersToAdd = toHeaders({ [RESERVATION_HEADER]: reservation.id });
  return { overallCode: 'OK', requestHeadersToAdd, dynamicMetadata: reservationMetadata(reservation) };
}

function toHeaders(headers: Record<string, string>) {
  return Object.entries(headers).map(([key, value]) => ({ key, value }));
}
