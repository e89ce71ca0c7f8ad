import { enforcerService } from '@tollkeeper/contracts';
import { AGENT_ID, AMOUNT_MICROS, PLAN_KEY, TTL_SECONDS } from './call.ts';
import { createCallGatherer } from './call.gatherer.ts';
import type { Decider } from './decider.ts';
import { createGrpcCalls, metadataOf } from './grpc.calls.ts';

/** Like a gateway in the cluster that batches calls, with the replicas in turn. */
export function createGrpcBatchesDecider(of: { addresses: string[]; apiKey: string }): Decider {
  const { call, close } = createGrpcCalls(of.addresses);
  const metadata = metadataOf(of.apiKey);
  const { ReserveMany, SettleMany, ReleaseMany } = enforcerService;
  const [reserve, settle, release] = [
    createCallGatherer(async (requests: object[]) => (await call(ReserveMany, { requests }, metadata)).results),
    createCallGatherer(async (requests: object[]) => (await call(SettleMany, { requests }, metadata)).results),
    createCallGatherer(async (requests: object[]) => (await call(ReleaseMany, { requests }, metadata)).results),
  ];

  return {
    async decide(requestId) {
      const call_ = { requestId, agentId: AGENT_ID, runId: 'run-bench', planKey: PLAN_KEY };
      const { response } = await reserve({ ...call_, amountMicros: AMOUNT_MICROS, ttlSeconds: TTL_SECONDS });
      if (response?.limits.length !== 3) throw new Error(`${response?.limits.length} limits applied, not three`);
      if (!response.allowed?.reservation) throw new Error('The call was denied');
      return response.allowed.reservation.id;
    },
    settle: async (reservationId) =>
      void (await settle({ reservationId, settlementId: `s-${reservationId}`, amountMicros: AMOUNT_MICROS })),
    release: async (reservationId) => void (await release({ reservationId })),
    async close() {
      close();
    },
  };
}
