import { dashboardRequests, dashboardService, fromCursor, invalidRequest, toCursor } from '@tollkeeper/contracts';
import { type GrpcService, grpcService } from '@tollkeeper/grpc';
import { correctedBy } from '../domain/corrections.ts';
import { SPEND_REPRICED, type DashboardEvent } from '../domain/event.ts';
import type { SettlementList } from '../domain/settlement.list.ts';
import type { SettlementPlace } from '../domain/settlement.page.ts';

/** The handlers of dashboard.proto. */
export function createDashboardHandlers({ settlements: list }: { settlements: SettlementList }): GrpcService {
  return grpcService(dashboardService, dashboardRequests, {
    async listSettlements({ tenantId, from, until, cursor }) {
      const { settlements, next } =
        cursor === ''
          ? await list.first(tenantId, { from, until })
          : await list.next(tenantId, placeOf(cursor, { from, until }), until);
      return {
        settlements: settlements.map(toMessage),
        nextCursor: next === null ? '' : toCursor(next.time, `>${next.after}`),
        readUntil: next?.time ?? until,
      };
    },
  });
}

function placeOf(cursor: string, { from, until }: { from: number; until: number }): SettlementPlace {
  const [time, rest] = fromCursor(cursor, /^>[A-Za-z0-9._:-]{0,128}$/);
  if (time >= from && time < until) return { time, after: rest.slice(1) };
  throw invalidRequest(
    [{ path: 'cursor', message: 'must be the next_cursor of a page with the same from and until' }],
    1,
  );
}

function toMessage({ type, time, data }: DashboardEvent) {
  const { settlement_id, agent_id, plan_key, model, provider, key_id, labels } = data;
  const { reservation_id = data.lease_id } = data;
  return {
    ...{ settlementId: settlement_id, time, agentId: agent_id },
    amountMicros: type === SPEND_REPRICED ? correctedBy(data) : data.amount_micros,
    ...{ planKey: plan_key, model, provider, keyId: key_id, labels, reservationId: reservation_id },
    correctedAt: data.corrected_ms,
  };
}
