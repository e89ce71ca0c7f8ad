import { afterAll, describe, expect, it } from '@jest/globals';
import { eventually, useBreakableMongo } from '@tollkeeper/testing';
import { event, newTenant, useAlerts } from './alerts.stack.ts';

const mongo = useBreakableMongo();
const stack = useAlerts(mongo);
afterAll(mongo.stop);

describe('alerts without MongoDB', () => {
  it('killed under events that fire, answers 503 and is not ready; when it is back each alert is there once and dispatched, and resolves', async () => {
    const tenantId = newTenant();
    const { id } = await stack.createChannel(tenantId);
    const threshold = 5;
    const filters = { event_types: ['budget.blocked'] };
    await stack.createRule(tenantId, {
      rule_config: { window_seconds: 60, threshold, filters },
      channel_config_ids: [id],
    });
    // Each burst has its own window, so each fires once.
    const bursts = [-210_000, -140_000, -70_000].map((ago) =>
      Array.from({ length: threshold }, () => event(stack.clock.now + ago)),
    );
    const events = bursts.flat();
    const sendAll = () => Promise.allSettled([stack.append(tenantId, ...events)]);
    const first = sendAll();
    await mongo.kill();

    const refused = await stack.call('get', tenantId, '/rules');
    expect([refused.status, refused.body]).toMatchObject([503, { code: 'service_unavailable' }]);
    await eventually(() => expect(stack.ready()).rejects.toThrow('mongo'));
    await first;

    await mongo.restart();
    await eventually(() => stack.ready());
    expect(await sendAll()).toMatchObject([{ status: 'fulfilled' }]);
    await eventually(() => stack.settled());
    const fired = await stack.alerts(tenantId);
    expect(fired).toHaveLength(bursts.length);
    const notified = () => stack.notified.filter((sent) => sent.tenantId === tenantId && sent.type === 'alert.fired');
    const ids = () => new Set(notified().map(({ alert }) => alert.id));
    await eventually(() => expect(ids()).toEqual(new Set(fired.map((alert) => alert.id))));
    await eventually(async () => {
      for (const { status } of await stack.alerts(tenantId)) expect(status).toBe('resolved');
    });
    expect(await stack.alerts(tenantId)).toHaveLength(bursts.length);
  });
});
