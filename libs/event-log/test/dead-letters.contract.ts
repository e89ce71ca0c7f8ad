import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Component, createLifecycle, createMetrics, type Logger, type Metrics } from '@tollkeeper/runtime';
import { eventually, testLogger } from '@tollkeeper/testing';
import { createDeadLetters, type EventLog, MAX_RECORD_BYTES } from '../src/index.ts';
import { createGroupLedger } from './group.ledger.ts';

/** An adapter's log, and what must be started before it. */
export interface DeadLetterHarness {
  eventLog: EventLog;
  before: Component[];
}

/** The behavior of dead letters on every adapter. */
export function describeDeadLetters(
  name: string,
  createHarness: (deps: { logger: Logger; metrics: Metrics }) => DeadLetterHarness,
): void {
  const log = testLogger();
  const metrics = createMetrics('test');
  const topic = `payments-${randomUUID()}`;
  const { eventLog, before } = createHarness({ logger: log.logger, metrics });
  const parts = createLifecycle([...before, eventLog], log.logger);

  async function valueOf(metric: string): Promise<number | undefined> {
    const found = await metrics.registry.getSingleMetric(metric)?.get();
    return found?.values.find(({ labels }) => labels['topic'] === topic)?.value;
  }

  describe(`dead letters on ${name}`, () => {
    beforeAll(async () => {
      await parts.start();
      await eventLog.ensureTopic({ name: topic, partitions: 1, retentionMs: 3_600_000 });
    });
    afterAll(() => parts.stop());

    it('keep a record as it was, with where it came from and why, and let those behind it through', async () => {
      const deadLetters = createDeadLetters({ eventLog, group: 'readers', metrics, logger: log.logger });
      const ledger = createGroupLedger();
      const applied: string[] = [];
      const { position, handle } = ledger.handler();
      const consumer = eventLog.consumer({
        group: 'readers',
        topic,
        maxRecords: 10,
        handler: {
          position,
          async handle(batch, stored) {
            for (const record of batch.records) {
              const text = record.value.toString();
              if (text === 'unreadable') await deadLetters.setAside(batch, record, 'it is no JSON');
              else applied.push(text);
            }
            await handle(batch, stored);
          },
        },
      });
      await consumer.start();
      const headers = { traceparent: '00-ab-cd-01' };
      const values = ['first', 'unreadable', 'last'].map((text) => Buffer.from(text));
      await eventLog.append(
        topic,
        values.map((value) => ({ key: 'ws', value, headers })),
      );
      await eventually(() => expect(applied).toEqual(['first', 'last']));
      await consumer.stop();

      const dead = createGroupLedger();
      const reader = eventLog.consumer({
        group: 'people',
        topic: `${topic}.dead`,
        maxRecords: 10,
        handler: dead.handler(),
      });
      await reader.start();
      await eventually(() => expect(dead.values()).toEqual(['unreadable']));
      await reader.stop();
      expect(dead.records()[0]?.headers).toEqual({
        ...headers,
        'dead-reason': 'it is no JSON',
        'dead-group': 'readers',
        'dead-topic': topic,
        'dead-partition': '0',
        'dead-offset': '1',
      });
      expect(await valueOf('event_log_dead_letters_total')).toBe(1);
      expect(log.text()).toContain('it is no JSON');
      expect(log.text()).not.toContain('unreadable');
    });

    it('take also what no log could keep as it is: too long a value, no key, more headers than a record has room for', async () => {
      const deadLetters = createDeadLetters({
        eventLog,
        group: 'readers',
        metrics: createMetrics('other'),
        logger: log.logger,
      });
      await eventLog.ensureTopic({ name: 'strange', partitions: 1, retentionMs: 3_600_000 });
      const strange = {
        key: '',
        value: Buffer.alloc(MAX_RECORD_BYTES + 1, 'x'),
        headers: { junk: 'y'.repeat(100_000) },
        offset: 7,
        appendedAt: 0,
      };
      await deadLetters.setAside({ topic: 'strange', partition: 0 }, strange, 'nobody knows');

      const dead = createGroupLedger();
      const handler = dead.handler();
      const reader = eventLog.consumer({ group: 'people', topic: 'strange.dead', maxRecords: 10, handler });
      await reader.start();
      await eventually(() => expect(dead.records()).toHaveLength(1));
      await reader.stop();
      const [letter] = dead.records();
      expect(letter?.value.equals(strange.value.subarray(0, MAX_RECORD_BYTES))).toBe(true);
      expect(letter?.headers).toMatchObject({ 'dead-offset': '7', 'dead-value-bytes': String(strange.value.length) });
      expect(letter?.headers).not.toHaveProperty('junk');
    });

    it('do not hide how the log is doing: appends, reads, refusals and lag are counted', async () => {
      const ledger = createGroupLedger();
      let refusals = 0;
      const refuseTwice = (): void => {
        refusals += 1;
        if (refusals <= 2) throw new Error('not now');
      };
      const handler = ledger.handler('member', refuseTwice);
      const consumer = eventLog.consumer({ group: 'counted', topic, maxRecords: 10, handler });
      await consumer.start();
      await eventually(() => expect(ledger.records()).toHaveLength(3));
      expect(await valueOf('event_log_appended_records_total')).toBe(3);
      expect(await valueOf('event_log_redeliveries_total')).toBe(2);
      expect(await valueOf('event_log_lag_records')).toBe(0);
      await consumer.stop();
    });
  });
}
