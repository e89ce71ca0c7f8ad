import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectMongo } from '@tollkeeper/mongo';
import { createLifecycle, createMetrics } from '@tollkeeper/runtime';
import { eventually, testLogger, useMongo } from '@tollkeeper/testing';
import { createDeadLetters, createMongoEventLog } from '../src/index.ts';
import { createGroupLedger } from './group.ledger.ts';

const testMongo = useMongo();
const log = testLogger();
const metrics = createMetrics('test');
const mongo = connectMongo({ uri: testMongo.uri, database: testMongo.database, logger: log.logger });
const eventLog = createMongoEventLog({ connection: mongo.connection, logger: log.logger, metrics, leaseMs: 800 });
const parts = createLifecycle([mongo, eventLog], log.logger);

beforeAll(async () => {
  await parts.start();
  await eventLog.ensureTopic({ name: 'payments', partitions: 1, retentionMs: 3_600_000 });
});
afterAll(() => parts.stop());

async function valueOf(metric: string): Promise<number | undefined> {
  const found = await metrics.registry.getSingleMetric(metric)?.get();
  return found?.values.find(({ labels }) => labels['topic'] === 'payments')?.value;
}

describe('dead letters', () => {
  it('keep a record as it was, with where it came from and why, and let those behind it through', async () => {
    const deadLetters = createDeadLetters({ eventLog, metrics, logger: log.logger });
    const ledger = createGroupLedger();
    const applied: string[] = [];
    const { position, handle } = ledger.handler();
    const consumer = eventLog.consumer({
      group: 'readers',
      topic: 'payments',
      maxRecords: 10,
      handler: {
        position,
        async handle(batch) {
          for (const record of batch.records) {
            const text = record.value.toString();
            if (text === 'unreadable') await deadLetters.setAside(batch, record, 'it is no JSON');
            else applied.push(text);
          }
          await handle(batch);
        },
      },
    });
    await consumer.start();
    const headers = { traceparent: '00-ab-cd-01' };
    const values = ['first', 'unreadable', 'last'].map((text) => Buffer.from(text));
    await eventLog.append(
      'payments',
      values.map((value) => ({ key: 'ws', value, headers })),
    );
    await eventually(() => expect(applied).toEqual(['first', 'last']));
    await consumer.stop();

    const dead = createGroupLedger();
    const reader = eventLog.consumer({
      group: 'people',
      topic: 'payments.dead',
      maxRecords: 10,
      handler: dead.handler(),
    });
    await reader.start();
    await eventually(() => expect(dead.values()).toEqual(['unreadable']));
    await reader.stop();
    expect(dead.records()[0]?.headers).toEqual({
      ...headers,
      'dead-reason': 'it is no JSON',
      'dead-topic': 'payments',
      'dead-partition': '0',
      'dead-offset': '1',
    });
    expect(await valueOf('event_log_dead_letters_total')).toBe(1);
    expect(log.text()).toContain('it is no JSON');
    expect(log.text()).not.toContain('unreadable');
  });

  it('do not hide how the log is doing: appends, reads, refusals and lag are counted', async () => {
    const ledger = createGroupLedger();
    let refusals = 0;
    const refuseTwice = (): void => {
      refusals += 1;
      if (refusals <= 2) throw new Error('not now');
    };
    const handler = ledger.handler('member', refuseTwice);
    const consumer = eventLog.consumer({ group: 'counted', topic: 'payments', maxRecords: 10, handler });
    await consumer.start();
    await eventually(() => expect(ledger.records()).toHaveLength(3));
    expect(await valueOf('event_log_appended_records_total')).toBe(3);
    expect(await valueOf('event_log_redeliveries_total')).toBe(2);
    expect(await valueOf('event_log_lag_records')).toBe(0);
    await consumer.stop();
  });
});
