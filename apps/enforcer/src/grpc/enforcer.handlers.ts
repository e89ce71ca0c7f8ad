import { enforcerRequests, enforcerService, type ReservationMessage } from '@tollkeeper/contracts';
import { type GrpcService, grpcService, type RpcAuthenticator, type RpcContext, streamed } from '@tollkeeper/grpc';
import type { VerifiedKey } from '@tollkeeper/workspace-keys';
import type { z } from 'zod';
import type { Reservations } from '../domain/enforcement.ts';
import type { Reservation, ReservationState } from '../domain/reservation.ts';
import { toDenialMessage, toLimitMessage, toTimestamp } from './limit.messages.ts';

/** Maximum request size of the gRPC server: enough for a batch of requests with the longest ids and labels. */
export const MAX_REQUEST_BYTES = 320 * 1024;

export interface EnforcerHandlerDeps {
  reservations: Reservations;
  /** Authenticates gateways by their workspace key. */
  authenticator: RpcAuthenticator<VerifiedKey>;
}

/** A validated request. */
type Asked<Name extends keyof typeof enforcerRequests> = z.output<(typeof enforcerRequests)[Name]>;

/** The handlers of EnforcerService: the calls that gateways make before and after an agent's call. */
export function createEnforcerHandlers({ reservations, authenticator }: EnforcerHandlerDeps): GrpcService {
  async function reserve({ dryRun, planKey, model, provider, ...request }: Asked<'reserve'>, key: VerifiedKey) {
    const asked = { ...request, planKey: planKey ?? null, model: model ?? null, provider: provider ?? null };
    const decided = await reservations.reserve(key, asked, { dryRun });
    const limits = decided.limits.map(toLimitMessage);
    if (decided.decision === 'denied') return { denied: toDenialMessage(decided.denial), limits };
    const { reservation } = decided;
    return { allowed: { reservation: reservation && toReservationMessage(reservation) }, limits };
  }
  async function settle({ reservationId, ...settlement }: Asked<'settle'>, { tenantId }: VerifiedKey) {
    return { reservation: toReservationMessage(await reservations.settle(tenantId, reservationId, settlement)) };
  }
  async function release({ reservationId }: Asked<'release'>, { tenantId }: VerifiedKey) {
    return { reservation: toReservationMessage(await reservations.release(tenantId, reservationId)) };
  }

  const service = grpcService(
    enforcerService,
    enforcerRequests,
    {
      reserve: (request, { caller }: RpcContext<VerifiedKey>) => reserve(request, caller),
      async getReservation({ reservationId }, { caller }) {
        return { reservation: toReservationMessage(await reservations.get(caller.tenantId, reservationId)) };
      },
      settle: (request, { caller }) => settle(request, caller),
      release: (request, { caller }) => release(request, caller),
      async extend({ reservationId, ttlSeconds }, { caller }) {
        const extended = await reservations.extend(caller.tenantId, reservationId, ttlSeconds);
        return { reservation: toReservationMessage(extended) };
      },
      async reserveMany({ requests }, { caller, answerEach }) {
        const answer = async (request: Asked<'reserve'>) => ({ response: await reserve(request, caller) });
        return { results: await answerEach(requests, enforcerRequests.reserve, answer) };
      },
      async settleMany({ requests }, { caller, answerEach }) {
        return { results: await answerEach(requests, enforcerRequests.settle, (request) => settle(request, caller)) };
      },
      async releaseMany({ requests }, { caller, answerEach }) {
        return { results: await answerEach(requests, enforcerRequests.release, (request) => release(request, caller)) };
      },
    },
    authenticator,
  );
  const { Reserve, Settle, Release } = enforcerService;
  const kinds = {
    reserve: streamed(Reserve, enforcerRequests.reserve, async (request, key: VerifiedKey) => ({
      response: await reserve(request, key),
    })),
    settle: streamed(Settle, enforcerRequests.settle, settle),
    release: streamed(Release, enforcerRequests.release, release),
  };
  return { ...service, streams: { ReserveStream: kinds } };
}

function toReservationMessage(reservation: Reservation): ReservationMessage {
  const { id, requestId, agentId, runId, planKey, amountMicros, settledMicros, settlementId } = reservation;
  const { model, provider, labels } = reservation;
  return {
    id,
    requestId,
    agentId,
    runId,
    ...(planKey !== null && { planKey }),
    amountMicros,
    state: toWireState(reservation.state),
    createdAt: toTimestamp(reservation.createdAt),
    expiresAt: toTimestamp(reservation.expiresAt),
    ...(settledMicros !== null && { settledMicros }),
    ...(settlementId !== null && { settlementId }),
    ...(model !== null && { model }),
    ...(provider !== null && { provider }),
    labels,
  };
}

function toWireState<S extends ReservationState>(state: S) {
  return `RESERVATION_STATE_${state.toUpperCase() as Uppercase<S>}` as const;
}
