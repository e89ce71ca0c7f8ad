import { type LeaseMessage, leaseRequests, leaseService } from '@tollkeeper/contracts';
import { type GrpcService, grpcService, type RpcContext } from '@tollkeeper/grpc';
import type { VerifiedKey } from '@tollkeeper/workspace-keys';
import type { ChargeSettlements, Lease, Leases, SettlementResult } from '../domain/lease.ts';
import type { EnforcerHandlerDeps } from './enforcer.handlers.ts';
import { toDenialMessage, toLimitMessage, toTimestamp } from './limit.messages.ts';

export interface LeaseHandlerDeps extends Pick<EnforcerHandlerDeps, 'authenticator'> {
  leases: Leases;
  chargeSettlements: ChargeSettlements;
}

/** The handlers of LeaseService: what gateways ask and report for many calls at once. */
export function createLeaseHandlers({ leases, authenticator, chargeSettlements }: LeaseHandlerDeps): GrpcService {
  return grpcService(
    leaseService,
    leaseRequests,
    {
      async grantLease({ planKey, runId, model, provider, ...request }, { caller }: RpcContext<VerifiedKey>) {
        const said = {
          planKey: planKey ?? null,
          runId: runId ?? null,
          model: model ?? null,
          provider: provider ?? null,
        };
        const decided = await leases.grant(caller, { ...request, ...said });
        const limits = decided.limits.map(toLimitMessage);
        if (decided.decision === 'denied') return { denied: toDenialMessage(decided.denial), limits };
        return { allowed: toLeaseMessage(decided.lease), limits };
      },
      async getLease({ leaseId }, { caller }) {
        return { lease: toLeaseMessage(await leases.get(caller.tenantId, leaseId)) };
      },
      async settleLease({ leaseId, settlements }, { caller }) {
        chargeSettlements(caller, settlements.length);
        const { lease, results } = await leases.settle(caller.tenantId, leaseId, settlements);
        return { lease: toLeaseMessage(lease), results: results.map(toResultMessage) };
      },
      async renewLease({ leaseId, ...request }, { caller }) {
        return { lease: toLeaseMessage(await leases.renew(caller, leaseId, request)) };
      },
      async returnLease({ leaseId }, { caller }) {
        return { lease: toLeaseMessage(await leases.return(caller.tenantId, leaseId)) };
      },
    },
    authenticator,
  );
}

function toLeaseMessage({ keyId: _, ...lease }: Lease): LeaseMessage {
  const { planKey, model, provider, state, createdAt, expiresAt, ...others } = lease;
  return {
    ...others,
    ...(planKey !== null && { planKey }),
    ...(model !== null && { model }),
    ...(provider !== null && { provider }),
    state: `LEASE_STATE_${upper(state)}`,
    createdAt: toTimestamp(createdAt),
    expiresAt: toTimestamp(expiresAt),
  };
}

function toResultMessage({ settlementId, outcome, micros }: SettlementResult) {
  return { settlementId, outcome: `LEASE_SETTLEMENT_OUTCOME_${upper(outcome)}` as const, amountMicros: micros };
}

function upper<S extends string>(name: S): Uppercase<S> {
  return name.toUpperCase() as Uppercase<S>;
}
