import { afterAll, describe, expect, it } from '@jest/globals';
import { DELIVERIES_TOPIC, type DeliveryRecord, encodeDelivery } from '@tollkeeper/contracts';
import { newId } from '@tollkeeper/kernel';
import { eventually, useBreakableMongo } from '@tollkeeper/testing';
import { newTenant, useAlerts } from './alerts.stack.ts';

const NOW = '2026-11-21T18:00:00.000Z';

/** The cache size of the standalone. */
const mongo = useBreakableMongo({ cacheSizeMb: 96 });
const stack = useAlerts(mongo);
afterAll(() => mongo.stop());

const deliveries = () =>
  mongo.connection.useDb(stack.database).collection<{ _id: string; status: string }>('deliveries');

/** Reports about notifications that alerts has queued, each of a different workspace. */
async function queued(count: number, fields: Partial<DeliveryRecord> = {}): Promise<DeliveryRecord[]> {
  const reports = Array.from({ length: count }, (): DeliveryRecord => {
    const ids = {
      notificationId: newId('alrt'),
      tenantId: newTenant(),
      alertId: newId('alrt'),
      channelId: newId('chan'),
    };
    const outcome = { responseStatus: 500, responseSnippet: 'x'.repeat(500), error: 'The destination answered 500.' };
    const progress = { status: 'failed', attempts: 1, sequence: 1, lastAttemptAt: NOW, nextAttemptAt: null } as const;
    return {
      type: 'alert.fired',
      channelType: 'webhook',
      ...ids,
      ...outcome,
      ...progress,
      ...fields,
    };
  });
  const stored = reports.map(({ notificationId, tenantId, alertId, channelId, type, channelType }) => ({
    ...{ _id: notificationId, tenantId, alertId, channelId, type, channelType },
    ...{ status: 'queued', attempts: 0, queuedAt: new Date(NOW), sequence: -1 },
  }));
  await deliveries().insertMany(stored);
  return reports;
}

/** Gives the records one key, so that they share a partition regardless of their workspaces. */
const together = (reports: DeliveryRecord[]) =>
  Promise.all(
    reports.map((report) => stack.appendRecord(DELIVERIES_TOPIC, 'one partition', encodeDelivery(report).value)),
  );

const failed = (reports: DeliveryRecord[]) =>
  deliveries().countDocuments({ _id: { $in: reports.map(({ notificationId }) => notificationId) }, status: 'failed' });

describe('on the cache of the standalone', () => {
  it('reports of 1,000 workspaces are taken over, and one of a neighbour in the partition with them', async () => {
    const reports = await queued(1_001);
    await together(reports);
    await eventually(async () => expect(await failed(reports)).toBe(1_001));
  });
});

describe('a report that can never be stored', () => {
  it('is set aside with the reason, and those around it are taken over', async () => {
    await mongo.connection
      .useDb(stack.database)
      .db!.command({ collMod: 'deliveries', validator: { error: { $ne: 'forbidden' } } });
    const [[before], [bad], [behind]] = [await queued(1), await queued(1, { error: 'forbidden' }), await queued(1)];
    await together([before!, bad!, behind!]);
    await eventually(async () => expect(await failed([before!, behind!])).toBe(2));
    expect(await failed([bad!])).toBe(0);
    expect(stack.logs.lines()).toContainEqual(
      expect.objectContaining({
        msg: 'record set aside in alerts.deliveries.dead',
        reason: expect.stringContaining('Document failed validation'),
      }),
    );
  });
});
