import { enforcerService } from '@tollkeeper/contracts';
import type { Metadata } from '@grpc/grpc-js';
import { AGENT_ID, AMOUNT_MICROS, type BudgetsOfCall, labelsOf, PLAN_KEY, TTL_SECONDS } from './call.ts';
import type { Decider } from './decider.ts';
import { createGrpcCalls, metadataOf } from './grpc.calls.ts';

/** Like a gateway in the cluster: one connection to each replica. Replicas and workspaces are used in turn. */
export function createGrpcDecider(of: { addresses: string[]; apiKeys: string[]; budgets: BudgetsOfCall }): Decider {
  const { addresses, apiKeys, budgets } = of;
  const { call, close } = createGrpcCalls(addresses);
  const callers = apiKeys.map(metadataOf);
  let decisions = 0;

  /** An id belongs to the workspace that requested it. */
  function toParts(id: string): [string, Metadata] {
    const [reservationId = '', workspace] = id.split(' ');
    return [reservationId, callers[Number(workspace)]!];
  }

  return {
    async decide(requestId) {
      const workspace = decisions % callers.length;
      const labels = labelsOf(budgets, decisions++);
      const call_ = { requestId, agentId: AGENT_ID, runId: 'run-bench', planKey: PLAN_KEY };
      const request = { ...call_, amountMicros: AMOUNT_MICROS, ttlSeconds: TTL_SECONDS, labels };
      const { allowed, limits } = await call(enforcerService.Reserve, request, callers[workspace]!);
      if (limits?.length !== budgets.limits) throw new Error(`${limits?.length} limits applied, not ${budgets.limits}`);
      if (!allowed?.reservation) throw new Error('The call was denied');
      return `${allowed.reservation.id} ${workspace}`;
    },
    async settle(id) {
      const [reservationId, caller] = toParts(id);
      const settlement = { reservationId, settlementId: `s-${reservationId}`, amountMicros: AMOUNT_MICROS };
      await call(enforcerService.Settle, settlement, caller);
    },
    async release(id) {
      const [reservationId, caller] = toParts(id);
      await call(enforcerService.Release, { reservationId }, caller);
    },
    async close() {
      close();
    },
  };
}
