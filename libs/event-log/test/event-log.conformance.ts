import { beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { type EventLog, MAX_RECORD_BYTES } from '../src/event-log.ts';
import {
  type ConformanceStage,
  type EventLogHarness,
  HOUR_MS,
  KEYS,
  numbered,
  offsetsByPartition,
  PARTITIONS,
  partitionsOfKeys,
  useConformanceStage,
  valuesOf,
} from './conformance.stage.ts';
import { describeConsuming } from './consuming.conformance.ts';
import { createGroupLedger } from './group.ledger.ts';

/** The contract of {@link EventLog} for every adapter. */
export function describeEventLogConformance(name: string, createHarness: () => Promise<EventLogHarness>): void {
  describe(`${name} as an event log`, () => {
    const stage = useConformanceStage(createHarness);
    describeAppending(stage);
    describeConsuming(stage);
  });
}

function describeAppending(stage: ConformanceStage): void {
  const { consume } = stage;
  let harness: EventLogHarness;
  let log: EventLog;
  let topic: string;
  beforeEach(() => {
    ({ harness, log, topic } = stage.current());
  });

  describe('appending', () => {
    it('keeps the order of the records of one key', async () => {
      const ledger = createGroupLedger();
      for (let n = 0; n < 60; n += 3)
        await log.append(
          topic,
          KEYS.flatMap((key) => numbered(key, n, 3)),
        );
      await consume(ledger);
      await eventually(() => expect(ledger.records()).toHaveLength(60 * KEYS.length));
      for (const key of KEYS) expect(ledger.valuesByKey().get(key)).toEqual(valuesOf(numbered(key, 0, 60)));
    });

    it('keeps the order of appends that one process makes without waiting', async () => {
      const ledger = createGroupLedger();
      await Promise.all(Array.from({ length: 200 }, (_, n) => log.append(topic, numbered('ws_a', n, 1))));
      await consume(ledger);
      await eventually(() => expect(ledger.values()).toEqual(valuesOf(numbered('ws_a', 0, 200))));
    });

    it('puts equal keys in equal partitions, whichever process appends', async () => {
      const ledger = createGroupLedger();
      const other = await harness.openLog();
      await log.append(
        topic,
        KEYS.flatMap((key) => numbered(key, 0, 1)),
      );
      await other.append(
        topic,
        KEYS.flatMap((key) => numbered(key, 1, 1)),
      );
      await consume(ledger);
      await eventually(() => expect(ledger.records()).toHaveLength(2 * KEYS.length));
      const partitions = Map.groupBy(partitionsOfKeys(ledger), ([key]) => key);
      for (const places of partitions.values()) expect(new Set(places.map(([, partition]) => partition)).size).toBe(1);
    });

    it('gives every record one offset, without gaps, and no reader skips one while two processes append', async () => {
      const ledger = createGroupLedger();
      const other = await harness.openLog();
      await consume(ledger, { maxRecords: 7 });
      const appendAll = (on: EventLog, prefix: string) =>
        Promise.all(
          KEYS.flatMap((key) => numbered(`${prefix}${key}`, 0, 25)).map((record) => on.append(topic, [record])),
        );
      await Promise.all([appendAll(log, 'x'), appendAll(other, 'y')]);
      await eventually(() => expect(ledger.records()).toHaveLength(2 * 25 * KEYS.length));
      for (const offsets of offsetsByPartition(ledger)) expect(offsets).toEqual([...offsets.keys()]);
      expect(new Set(ledger.values()).size).toBe(2 * 25 * KEYS.length);
    });

    it('returns bytes, headers and the time of the append as they were given', async () => {
      const ledger = createGroupLedger();
      const value = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
      const before = Date.now();
      await log.append(topic, [{ key: 'ws_a', value, headers: { traceparent: '00-ab-cd-01' } }]);
      await consume(ledger);
      const [record] = await eventually(() => {
        expect(ledger.records()).toHaveLength(1);
        return ledger.records();
      });
      expect(record?.value.equals(value)).toBe(true);
      expect(record).toMatchObject({ key: 'ws_a', offset: 0, headers: { traceparent: '00-ab-cd-01' } });
      expect(record?.appendedAt).toBeGreaterThanOrEqual(before - 1_000);
      expect(record?.appendedAt).toBeLessThanOrEqual(Date.now() + 1_000);
    });

    it('refuses a record that is too large and takes one of the largest size', async () => {
      const ledger = createGroupLedger();
      const tooLarge = { key: 'ws_a', value: Buffer.alloc(MAX_RECORD_BYTES + 1) };
      await expect(log.append(topic, [tooLarge])).rejects.toMatchObject({ code: 'payload_too_large' });
      await log.append(topic, [{ key: 'ws_a', value: Buffer.alloc(MAX_RECORD_BYTES) }]);
      await consume(ledger);
      await eventually(() => expect(ledger.records().map(({ value }) => value.length)).toEqual([MAX_RECORD_BYTES]));
    });

    it('rejects when the topic does not exist', async () => {
      await expect(log.append('no-such-topic', numbered('ws_a', 0, 1))).rejects.toThrow('no-such-topic');
      const consumer = log.consumer({
        group: 'group',
        topic: 'no-such-topic',
        maxRecords: 1,
        handler: createGroupLedger().handler(),
      });
      await expect(consumer.start()).rejects.toThrow('no-such-topic');
    });
  });

  describe('topics', () => {
    it('are made once, however many processes ask at the same time', async () => {
      const other = await harness.openLog();
      const options = { name: `${topic}-again`, partitions: 2, retentionMs: HOUR_MS };
      await Promise.all([log, other, log, other].map((each) => each.ensureTopic(options)));
      await log.append(options.name, numbered('ws_a', 0, 1));
      await log.ensureTopic({ ...options, retentionMs: 2 * HOUR_MS });
    });

    it('never change their number of partitions', async () => {
      const other = { name: topic, partitions: PARTITIONS + 1, retentionMs: HOUR_MS };
      await expect(log.ensureTopic(other)).rejects.toThrow(`${PARTITIONS} partitions`);
    });
  });
}
