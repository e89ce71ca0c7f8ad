import { afterAll, describe, expect, it } from '@jest/globals';
import { eventually, useBreakableMongo } from '@tollkeeper/testing';
import { newTenant } from './notification.builder.ts';
import { useNotifier } from './notifier.stack.ts';
import { gated } from './receiver.ts';

const mongo = useBreakableMongo();
const notifier = useNotifier(mongo);
afterAll(mongo.stop);

describe('the notifier without MongoDB', () => {
  it('killed in mid-delivery, is not ready and shows its other metrics; when it is back all arrives, and alerts hears of it', async () => {
    const gate = gated();
    const receiver = await notifier.receiver(gate.answer);
    const channel = await notifier.addChannel(newTenant(), receiver.url);
    const sent = [await notifier.notify(channel), await notifier.notify(channel)];
    await eventually(() => expect(receiver.received).toHaveLength(1));
    await mongo.kill();
    await eventually(() => expect(notifier.ready()).rejects.toThrow('mongo'));
    // Requests in progress arrive while their outcome cannot be stored.
    gate.open();
    const page = await notifier.metricsText();
    expect(page).toContain('grpc_client_request_duration_seconds_count{');
    expect(page).not.toMatch(/^notifier_(queue_depth|oldest_queued_age_seconds){/m);

    await mongo.restart();
    // The lease on deliveries whose outcome could not be stored has expired.
    notifier.clock.now += 10_000;
    await eventually(() => notifier.ready());
    sent.push(await eventually(() => notifier.notify(channel)));
    for (const { notificationId } of sent) {
      await eventually(() =>
        expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toContain(notificationId),
      );
    }
    await eventually(() => {
      for (const one of sent) expect(notifier.outcomesOf(one).at(-1)?.status).toBe('delivered');
    });
  });
});
