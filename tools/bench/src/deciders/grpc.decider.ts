import { Client, credentials, Metadata, type MethodDefinition, status } from '@grpc/grpc-js';
import { enforcerService } from '@tollkeeper/contracts';
import { AGENT_ID, AMOUNT_MICROS, PLAN_KEY, TTL_SECONDS } from './call.ts';
import type { Decider } from './decider.ts';

/** As a gateway in the cluster: one connection to each replica, which take the calls in turn; so do the workspaces. */
export function createGrpcDecider({ addresses, apiKeys }: { addresses: string[]; apiKeys: string[] }): Decider {
  const clients = addresses.map((address) => new Client(address, credentials.createInsecure()));
  const callers = apiKeys.map((apiKey) => {
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${apiKey}`);
    return metadata;
  });
  let calls = 0;

  function call<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    metadata: Metadata,
  ): Promise<Response> {
    const { path, requestSerialize, responseDeserialize } = method;
    const client = clients[calls++ % clients.length]!;
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, (error, response) => {
        if (error === null) resolve(response as Response);
        // Whoever got no decision asks again, and its call takes as long as both.
        else if (error.code === status.UNAVAILABLE) resolve(call(method, request, metadata));
        else reject(error);
      });
    });
  }

  /** An id is of the workspace that asked for it. */
  function toParts(id: string): [string, Metadata] {
    const [reservationId = '', workspace] = id.split(' ');
    return [reservationId, callers[Number(workspace)]!];
  }

  return {
    async decide(requestId) {
      const workspace = calls % callers.length;
      const call_ = { requestId, agentId: AGENT_ID, runId: 'run-bench', planKey: PLAN_KEY };
      const request = { ...call_, amountMicros: AMOUNT_MICROS, ttlSeconds: TTL_SECONDS };
      const { allowed, limits } = await call(enforcerService.Reserve, request, callers[workspace]!);
      if (limits?.length !== 3) throw new Error(`${limits?.length} limits applied, not three`);
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
      for (const client of clients) client.close();
    },
  };
}
