import { describe, expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import { newTenant } from './notification.builder.ts';
import { useNotifier } from './notifier.stack.ts';
import { gated } from './receiver.ts';

/** Less than a lease, so that advancing the clock never expires a lease that was just renewed. */
const STEP_MS = 4000;
const STEPS = 3;

describe('the lease on a delivery', () => {
  const notifier = useNotifier(useMongo(), { timeoutMs: 60_000 });
  const { clock } = notifier;

  const leaseOn = async (_id: string) => (await notifier.deliveries().findOne({ _id }))?.lease;

  it('is renewed while the destination takes its time, so that no replica makes a second request', async () => {
    const other = notifier.create();
    await other.start();
    const gate = gated();
    const receiver = await notifier.receiver(gate.answer);
    const sent = await notifier.notify(await notifier.addChannel(newTenant(), receiver.url));
    await eventually(() => expect(receiver.received).toHaveLength(1));
    for (let step = 0; step < STEPS; step += 1) {
      clock.now += STEP_MS;
      await eventually(async () =>
        expect((await leaseOn(sent.notificationId))?.until.getTime()).toBeGreaterThan(clock.now + STEP_MS),
      );
    }

    gate.open();
    expect(await notifier.outcome(sent)).toMatchObject({ status: 'delivered', attempts: 1 });
    await other.stop();
    expect(receiver.received).toHaveLength(1);
  });

  it('that was lost while the destination took its time leaves the outcome to whoever has it now', async () => {
    const gate = gated();
    const receiver = await notifier.receiver(gate.answer);
    const channel = await notifier.addChannel(newTenant(), receiver.url, { type: 'chat' });
    const sent = await notifier.notify(channel);
    await eventually(() => expect(receiver.received).toHaveLength(1));
    const until = new Date(clock.now + STEP_MS);
    await notifier
      .deliveries()
      .updateOne({ _id: sent.notificationId }, { $set: { lease: { owner: 'another replica', until } } });
    gate.open();
    await eventually(() => expect(notifier.logs.text()).toContain('the lease of a delivery was lost'));
    expect(await leaseOn(sent.notificationId)).toEqual({ owner: 'another replica', until });

    // The other process is dead, so its lease eventually expires.
    clock.now = until.getTime();
    expect(await notifier.outcome(sent)).toMatchObject({ status: 'delivered', attempts: 1, sequence: 1 });
    expect(receiver.received).toHaveLength(2);
    expect(await notifier.metricsText()).toMatch(
      /notifier_deliveries_total{channel_type="chat",outcome="delivered",.*} 1$/m,
    );
  });
});
