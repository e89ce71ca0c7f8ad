import { afterAll, describe, expect, it } from '@jest/globals';
import { encodeNotification, type NotificationRecord } from '@tollkeeper/contracts';
import { eventually, useBreakableMongo } from '@tollkeeper/testing';
import { alertRecord, newTenant, notification } from './notification.builder.ts';
import { useNotifier } from './notifier.stack.ts';

/** The cache size of the standalone. */
const mongo = useBreakableMongo({ cacheSizeMb: 96 });
/** No channel exists, so nothing is sent, and the queue does not shrink. */
const notifier = useNotifier(mongo);
afterAll(() => mongo.stop());

/** Gives the records one key, so that they share a partition regardless of their workspaces. */
const together = (notifications: NotificationRecord[]) =>
  notifier.appendValues(notifications.map((each) => ({ ...encodeNotification(each), key: 'one partition' })));

const notificationOf = (fields: Parameters<typeof alertRecord>[0] = {}) => {
  const tenantId = newTenant();
  return notification({ tenantId, alert: alertRecord({ tenant_id: tenantId, ...fields }) });
};

describe('on the cache of the standalone', () => {
  it('notifications of 1,000 workspaces about the largest alerts are queued, and one of a neighbour in the partition with them', async () => {
    const sample_event_ids = Array.from({ length: 10 }, (_, index) => `${index}`.padEnd(128, 'x'));
    const notifications = Array.from({ length: 1_000 }, () => notificationOf({ sample_event_ids }));
    const neighbour = notificationOf();
    await together([...notifications, neighbour]);
    await eventually(async () =>
      expect(await notifier.deliveries().countDocuments({ _id: neighbour.notificationId })).toBe(1),
    );
    expect(await notifier.deliveries().countDocuments({})).toBe(1_001);
  });
});

describe('a notification that can never be queued', () => {
  it('is set aside with the reason, and those around it are queued', async () => {
    await notifier.command({ collMod: 'deliveries', validator: { 'alert.rule_name': { $ne: 'forbidden' } } });
    const [before, bad, behind] = [notificationOf(), notificationOf({ rule_name: 'forbidden' }), notificationOf()];
    await together([before, bad, behind]);
    await notifier.queued(before);
    await notifier.queued(behind);
    expect(await notifier.deliveries().countDocuments({ _id: bad.notificationId })).toBe(0);
    expect(notifier.logs.lines()).toContainEqual(
      expect.objectContaining({
        msg: 'record set aside in alerts.notifications.dead',
        reason: expect.stringContaining('Document failed validation'),
      }),
    );
  });
});
