import type { SpendSettledEvent } from '@tollkeeper/contracts';
import type { Reservations } from '@tollkeeper/enforcer';
import type { TenantId } from '@tollkeeper/kernel';

/** A gateway reserves the possible cost of a call, which is more than the cost of most calls. */
const ESTIMATE_SHARE = 1.3;
const TTL_SECONDS = 60;

/** What sample calls need of the reservations of the enforcer. */
export interface SampleReservations {
  reserve(
    ...request: Parameters<Reservations['reserve']>
  ): Promise<{ decision: 'allowed'; reservation: { id: string } | null } | { decision: 'denied' }>;
  settle(...settlement: Parameters<Reservations['settle']>): Promise<unknown>;
}

export interface SampleCallsOptions {
  tenantId: TenantId;
  reservations: SampleReservations;
}

/** Reservations and settlements of calls, as gateways make them. */
interface SampleCalls {
  /** Resolves to the id of the reservation; null if the call was denied. */
  reserve(event: SpendSettledEvent): Promise<string | null>;
  settle(event: SpendSettledEvent, reservationId: string): Promise<void>;
}

export function createSampleCalls({ tenantId, reservations }: SampleCallsOptions): SampleCalls {
  return {
    async reserve({ id, data }) {
      const decision = await reservations.reserve(
        { tenantId, keyId: null, labels: {} },
        {
          requestId: id,
          agentId: data.agent_id,
          runId: data.run_id,
          planKey: data.plan_key ?? null,
          amountMicros: Math.ceil(data.amount_micros * ESTIMATE_SHARE),
          ttlSeconds: TTL_SECONDS,
          model: data.model ?? null,
          provider: data.provider ?? null,
          labels: {},
        },
      );
      return decision.decision === 'denied' ? null : (decision.reservation?.id ?? null);
    },
    async settle({ data }, reservationId) {
      await reservations.settle(tenantId, reservationId, {
        settlementId: data.settlement_id,
        amountMicros: data.amount_micros,
        model: data.model,
        provider: data.provider,
        inputTokens: data.input_tokens,
        outputTokens: data.output_tokens,
      });
    },
  };
}
