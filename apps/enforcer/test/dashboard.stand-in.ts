import { dashboardRequests, dashboardService, type GatewayEventRecord, isSpendSettled } from '@tollkeeper/contracts';
import { grpcService } from '@tollkeeper/grpc';
import { AppError } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import { createPeers } from '@tollkeeper/testing/peers';

/** Small, so that every fill has several pages. */
const PAGE = 3;

interface DashboardStandInOptions {
  /** Number of settlements of a page. */
  page?: number;
  /** The first page waits for this. */
  caughtUp?: (tenantId: string) => Promise<void>;
}

/** A stand-in for the dashboard that answers the settlements of events, page by page. */
export function createDashboardStandIn(logger: Logger, { page = PAGE, caughtUp }: DashboardStandInOptions = {}) {
  /** By workspace and settlement. */
  const events = new Map<string, Map<string, GatewayEventRecord>>();
  const state = { down: false, pages: 0, afterPage: undefined as ((pages: number) => void) | undefined };

  const service = grpcService(dashboardService, dashboardRequests, {
    async listSettlements({ tenantId, from, until, cursor }) {
      if (state.down) throw new AppError('service_unavailable', 'The dashboard is still reading the log.');
      if (cursor === '') await caughtUp?.(tenantId);
      const all = [...(events.get(tenantId)?.values() ?? [])].flatMap((record) => {
        const time = Date.parse(record.event.time);
        return time >= from && time < until ? toSettlement(record, time) : [];
      });
      const start = Number(cursor);
      const isLast = start + page >= all.length;
      state.pages += 1;
      state.afterPage?.(state.pages);
      return {
        settlements: all.slice(start, start + page),
        nextCursor: isLast ? '' : String(start + page),
        readUntil: isLast ? until : all[start + page]!.time,
      };
    },
  });

  return Object.assign(createPeers(logger, [service]), {
    /** With `down`, every RPC fails; `afterPage` is called with the number of pages so far. */
    state,
    /** Stores the first event of each settlement. */
    add(record: GatewayEventRecord): void {
      const { tenantId, event } = record;
      if (!isSpendSettled(event)) return;
      const known = events.get(tenantId) ?? new Map<string, GatewayEventRecord>();
      events.set(tenantId, known);
      if (!known.has(event.data.settlement_id)) known.set(event.data.settlement_id, record);
    },
  });
}

function toSettlement({ keyId, event }: GatewayEventRecord, time: number) {
  if (!isSpendSettled(event)) return [];
  const { settlement_id, agent_id, plan_key, model, provider, labels = {}, amount_micros } = event.data;
  const { reservation_id = event.data.lease_id } = event.data;
  return {
    settlementId: settlement_id,
    time,
    agentId: agent_id,
    ...(plan_key !== undefined && { planKey: plan_key }),
    ...(model !== undefined && { model }),
    ...(provider !== undefined && { provider }),
    ...(keyId !== undefined && { keyId }),
    labels: { ...labels },
    amountMicros: amount_micros,
    ...(reservation_id !== undefined && { reservationId: reservation_id }),
  };
}
