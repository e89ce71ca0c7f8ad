import type { DashboardServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import type { SettlementSource } from '../domain/peers.ts';

/** The first page waits until the dashboard has stored what the log has. */
const DEADLINE_MS = 30_000;
/** The longest span that the dashboard answers. */
const MAX_SPAN_MS = 400 * 86_400_000;

/** Reads settlements from the events of the dashboard. */
export function createSettlementSource(
  dashboard: Pick<GrpcClient<DashboardServiceDefinition>, 'listSettlements'>,
): SettlementSource {
  return {
    async read(tenantId, { from, until, cursor }) {
      const request = { tenantId, from: Math.max(0, from, until - MAX_SPAN_MS), until, cursor };
      const page = await dashboard.listSettlements(request, { deadlineMs: DEADLINE_MS });
      const spend = page.settlements.map((settlement) => {
        const { settlementId, reservationId = null, agentId, planKey = null, labels } = settlement;
        const { model = null, provider = null, keyId = null, amountMicros, time, correctedAt } = settlement;
        const call = { agentId, planKey, model, provider, keyId, labels };
        const spend = { ...call, settlementId, micros: amountMicros, at: time };
        return correctedAt === undefined ? { ...spend, reservationId } : { ...spend, correctedAt };
      });
      return { spend, cursor: page.nextCursor, readUntil: page.readUntil };
    },
  };
}
