import { enforcerService, rateLimitService } from '@tollkeeper/contracts';
import { AGENT_ID, AMOUNT_MICROS, PLAN_KEY } from './call.ts';
import type { Decider } from './decider.ts';
import { createGrpcCalls, metadataOf } from './grpc.calls.ts';

const RESERVATION_HEADER = 'x-tollkeeper-reservation';

/** Like an Envoy that asks its rate limit service before each call, with one connection to each replica. */
export function createRateLimitDecider(of: { addresses: string[]; apiKey: string }): Decider {
  const { call, close } = createGrpcCalls(of.addresses);
  const metadata = metadataOf(of.apiKey);

  return {
    async decide(requestId) {
      const said = { tollkeeper: 'reserve', agent: AGENT_ID, run: 'run-bench', plan: PLAN_KEY, call: requestId };
      const entries = Object.entries(said).map(([key, value]) => ({ key, value }));
      const descriptors = [{ entries, hitsAddend: { value: AMOUNT_MICROS } }];
      const request = { domain: 'tollkeeper', descriptors, hitsAddend: 0 };
      const answer = await call(rateLimitService.ShouldRateLimit, request, metadata);
      const id = answer.requestHeadersToAdd?.find(({ key }) => key === RESERVATION_HEADER)?.value;
      if (id === undefined) throw new Error(`The call was not reserved: ${answer.overallCode}`);
      return id;
    },
    async settle(reservationId) {
      const settlement = { reservationId, settlementId: `s-${reservationId}`, amountMicros: AMOUNT_MICROS };
      await call(enforcerService.Settle, settlement, metadata);
    },
    async release(reservationId) {
      await call(enforcerService.Release, { reservationId }, metadata);
    },
    async close() {
      close();
    },
  };
}
