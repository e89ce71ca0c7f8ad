import {
  type DenialMessage,
  enforcerRequests,
  enforcerService,
  type LimitStatusMessage,
  type ReservationMessage,
} from '@tollkeeper/contracts';
import { type GrpcService, grpcService, type RpcAuthenticator } from '@tollkeeper/grpc';
import type { VerifiedKey } from '@tollkeeper/workspace-keys';
import type { Reservations } from '../domain/enforcement.ts';
import type { Denial, LimitRow, Scope } from '../domain/limit.ts';
import type { Reservation, ReservationState } from '../domain/reservation.ts';

/** Largest request that the gRPC server has to take. */
export const MAX_REQUEST_BYTES = 64 * 1024;

export interface EnforcerHandlerDeps {
  reservations: Reservations;
  /** Lets gateways in by their workspace key. */
  authenticator: RpcAuthenticator<VerifiedKey>;
}

/** The gRPC contract of enforcer.proto: what gateways ask before a call and say after it. */
export function createEnforcerHandlers({ reservations, authenticator }: EnforcerHandlerDeps): GrpcService {
  return grpcService(
    enforcerService,
    enforcerRequests,
    {
      async reserve({ dryRun, planKey = null, ...request }, { caller }: { caller: VerifiedKey }) {
        const decided = await reservations.reserve(caller.tenantId, { ...request, planKey }, { dryRun });
        const limits = decided.limits.map(toLimitMessage);
        if (decided.decision === 'denied') return { denied: toDenialMessage(decided.denial), limits };
        const { reservation } = decided;
        return { allowed: { reservation: reservation && toReservationMessage(reservation) }, limits };
      },
      async getReservation({ reservationId }, { caller }) {
        return { reservation: toReservationMessage(await reservations.get(caller.tenantId, reservationId)) };
      },
      async settle({ reservationId, ...settlement }, { caller }) {
        const settled = await reservations.settle(caller.tenantId, reservationId, settlement);
        return { reservation: toReservationMessage(settled) };
      },
      async release({ reservationId }, { caller }) {
        return { reservation: toReservationMessage(await reservations.release(caller.tenantId, reservationId)) };
      },
      async extend({ reservationId, ttlSeconds }, { caller }) {
        const extended = await reservations.extend(caller.tenantId, reservationId, ttlSeconds);
        return { reservation: toReservationMessage(extended) };
      },
    },
    authenticator,
  );
}

function toReservationMessage(reservation: Reservation): ReservationMessage {
  const { id, requestId, agentId, runId, planKey, amountMicros, settledMicros, settlementId } = reservation;
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
  };
}

function toLimitMessage(row: LimitRow): LimitStatusMessage {
  return { ...toLimitFields(row), remainingMicros: row.remainingMicros };
}

function toDenialMessage(denial: Denial): DenialMessage {
  const { requestedMicros, message } = denial;
  return { ...toLimitFields(denial), requestedMicros, message };
}

function toLimitFields(limit: Omit<LimitRow, 'remainingMicros'>) {
  return {
    scope: toWireScope(limit.scope),
    scopeId: limit.scopeId,
    dailyBudgetUsdMicros: limit.dailyBudgetMicros,
    spentMicros: limit.spentMicros,
    heldMicros: limit.heldMicros,
    resetsAt: toTimestamp(limit.resetsAt),
  };
}

function toWireScope<S extends Scope>(scope: S) {
  return `LIMIT_SCOPE_${scope.toUpperCase() as Uppercase<S>}` as const;
}

function toWireState<S extends ReservationState>(state: S) {
  return `RESERVATION_STATE_${state.toUpperCase() as Uppercase<S>}` as const;
}

/** Epoch milliseconds as a google.protobuf.Timestamp. */
function toTimestamp(time: number) {
  return { seconds: Math.floor(time / 1000), nanos: (time % 1000) * 1_000_000 };
}
