import { Client, credentials } from '@grpc/grpc-js';
import { enforcerService } from '@tollkeeper/contracts';
import { createStreamCaller } from '@tollkeeper/grpc';
import { AGENT_ID, AMOUNT_MICROS, PLAN_KEY, TTL_SECONDS } from './call.ts';
import type { Decider } from './decider.ts';
import { metadataOf } from './grpc.calls.ts';

/** Like a gateway in the cluster that sends its calls over one stream to one replica. */
export function createGrpcStreamDecider(of: { address: string; apiKey: string }): Decider {
  const client = new Client(of.address, credentials.createInsecure());
  const metadata = metadataOf(of.apiKey);
  const { ask, close } = createStreamCaller({
    client,
    method: enforcerService.ReserveStream,
    metadata: () => metadata,
    alone: () => Promise.reject(new Error('This enforcer has no streams')),
    peer: 'enforcer',
  });

  return {
    async decide(requestId) {
      const call = { requestId, agentId: AGENT_ID, runId: 'run-bench', planKey: PLAN_KEY };
      const { response } = await ask({ reserve: { ...call, amountMicros: AMOUNT_MICROS, ttlSeconds: TTL_SECONDS } });
      if (response?.limits.length !== 3) throw new Error(`${response?.limits.length} limits applied, not three`);
      if (!response.allowed?.reservation) throw new Error('The call was denied');
      return response.allowed.reservation.id;
    },
    settle: async (reservationId) =>
      void (await ask({ settle: { reservationId, settlementId: `s-${reservationId}`, amountMicros: AMOUNT_MICROS } })),
    release: async (reservationId) => void (await ask({ release: { reservationId } })),
    async close() {
      close();
      client.close();
    },
  };
}
