import { authorizationService, type CheckResponseMessage } from '@tollkeeper/contracts';
import { type GrpcService, grpcService, type RpcAuthenticator } from '@tollkeeper/grpc';
import { type Clock, newId } from '@tollkeeper/kernel';
import type { VerifiedKey } from '@tollkeeper/workspace-keys';
import { z } from 'zod';
import { PROXY_ANSWER_MS, within } from '../domain/answer.time.ts';
import type { Decision, Reservations } from '../domain/enforcement.ts';
import type { CallPrices } from '../prices/call.prices.ts';
import { authorizeCall, MAX_BODY_BYTES } from './authz.call.ts';
import { deniedAnswer, RESERVATION_HEADER, reservationMetadata } from './proxy.answer.ts';

export interface AuthorizationDeps {
  reservations: Reservations;
  prices: CallPrices;
  authenticator: RpcAuthenticator<VerifiedKey>;
  clock: Clock;
}

const tooLarge = `must be at most ${MAX_BODY_BYTES} bytes: set max_request_bytes of with_request_body`;
const http = z.object({
  headers: z.custom<Record<string, string>>(),
  body: z.string().refine((body) => Buffer.byteLength(body) <= MAX_BODY_BYTES, tooLarge),
  rawBody: z.instanceof(Buffer).refine(({ length }) => length <= MAX_BODY_BYTES, tooLarge),
});
const requests = {
  check: z.object({
    attributes: z.object({ request: z.object({ http: http.nullable() }).nullable() }).nullable(),
  }),
};

/** The handler of Envoy's external authorization: reserves before calls. Reports of the calls settle. */
export function createAuthorizationHandlers({ authenticator, clock, ...deps }: AuthorizationDeps): GrpcService {
  return grpcService(
    authorizationService,
    requests,
    {
      async check({ attributes }, { caller }) {
        const { headers = {}, body = '', rawBody } = attributes?.request?.http ?? {};
        const passed = {
          headers,
          body: rawBody !== undefined && rawBody.length > 0 ? rawBody : Buffer.from(body),
          callId: headers['x-request-id'] || newId('req'),
        };
        return toResponse(await within(PROXY_ANSWER_MS, authorizeCall(deps, caller, passed)), clock());
      },
    },
    authenticator,
  );
}

/** Statuses of gRPC. */
const [OK, RESOURCE_EXHAUSTED] = [0, 8];

function toResponse(decision: Decision, now: number): CheckResponseMessage {
  if (decision.decision === 'denied') {
    const { headers, body } = deniedAnswer(decision.denial, 'openai', now);
    const deniedResponse = { status: { code: 'TooManyRequests' as const }, headers: toHeaders(headers), body };
    return { status: { code: RESOURCE_EXHAUSTED }, deniedResponse };
  }
  const { reservation } = decision;
  if (reservation === null) return { status: { code: OK } };
  return {
    status: { code: OK },
    okResponse: { headers: toHeaders({ [RESERVATION_HEADER]: reservation.id }) },
    dynamicMetadata: reservationMetadata(reservation),
  };
}

function toHeaders(headers: Record<string, string>) {
  return Object.entries(headers).map(([key, value]) => ({
    header: { key, value },
    appendAction: 'OVERWRITE_IF_EXISTS_OR_ADD' as const,
  }));
}
