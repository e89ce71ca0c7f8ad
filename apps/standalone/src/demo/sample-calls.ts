import type { SpendSettledEvent } from '@tollkeeper/contracts';
import type { Reservations } from '@tollkeeper/enforcer';
import type { TenantId } from '@tollkeeper/kernel';

/** A gateway reserves the possible cost of a call, which is more than the cost of most calls. */
const ESTIMATE_SHARE = 1.3;
const TTL_SECONDS = 60;

export interface SampleCallsOptions {
  tenantId: TenantId;
  reservations: Pick<Reservations, 'reserve' | 'settle'>;
}

/** Makes a call like a gateway: reserves before it and settles after it. Resolves to whether it was allowed. */
export function createSampleCalls({ tenantId, reservations }: SampleCallsOptions) {
  return async ({ id, data }: SpendSettledEvent): Promise<boolean> => {
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
    if (decision.decision === 'denied' || decision.reservation === null) return false;
    await reservations.settle(tenantId, decision.reservation.id, {
      settlementId: data.settlement_id,
      amountMicros: data.amount_micros,
      model: data.model,
      provider: data.provider,
      inputTokens: data.input_tokens,
      outputTokens: data.output_tokens,
    });
    return true;
  };
}
