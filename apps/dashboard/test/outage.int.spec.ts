import { afterAll, describe, expect, it } from '@jest/globals';
import { eventually, useBreakableMongo } from '@tollkeeper/testing';
import { newTenant, settled, useDashboard } from './dashboard.stack.ts';

const mongo = useBreakableMongo();
const dashboard = useDashboard(mongo);
afterAll(mongo.stop);
const SPEND = '/spend?range=today&timezone=UTC';

describe('the dashboard without MongoDB', () => {
  it.each<[string, () => unknown, () => unknown]>([
    ['killed', mongo.kill, mongo.restart],
    ['hanging', mongo.hang, mongo.goOn],
  ])(
    '%s under a stream of events, answers 503 and is not ready, and has counted each of them once when it is back',
    async (_how, takeAway, bringBack) => {
      const tenantId = newTenant();
      const batches = Array.from({ length: 40 }, () =>
        Array.from({ length: 25 }, () => settled('2026-11-21T18:00:00.000Z', 3)),
      );
      const sendAll = () => Promise.allSettled(batches.map((events) => dashboard.append(tenantId, events)));
      await dashboard.append(tenantId, batches[0] ?? []);
      const first = sendAll();
      await takeAway();

      const refused = await dashboard.get(tenantId, SPEND);
      expect([refused.status, refused.body]).toMatchObject([503, { code: 'service_unavailable' }]);
      await eventually(() => expect(dashboard.ready()).rejects.toThrow('mongo'));
      await first;

      await bringBack();
      await eventually(() => dashboard.ready());
      // A gateway repeats what got no 202.
      for (const { status } of await eventually(sendAll)) expect(status).toBe('fulfilled');
      await eventually(async () => {
        const { body } = await dashboard.get(tenantId, SPEND);
        expect(body.metrics).toMatchObject({ unique_settlements: 1000, total_micros: 3000 });
      });
    },
  );
});
