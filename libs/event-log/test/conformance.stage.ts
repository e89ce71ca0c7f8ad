import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach } from '@jest/globals';
import type { EventLog, LogConsumer, LogRecord } from '../src/event-log.ts';
import type { GroupLedger } from './group.ledger.ts';

/** How the suite accesses an adapter. */
export interface EventLogHarness {
  /** Another started log on the same storage, with its own connections as in another process. */
  openLog(): Promise<EventLog>;
  /** Stops all opened logs. */
  close(): Promise<void>;
}

export const PARTITIONS = 4;
export const HOUR_MS = 3_600_000;
export const KEYS = ['ws_a', 'ws_b', 'ws_c', 'ws_d', 'ws_e', 'ws_f', 'ws_g', 'ws_h'];

/** The log and the topic of a test. */
export interface ConformanceStage {
  current(): { harness: EventLogHarness; log: EventLog; topic: string };
  /** Starts a consumer, which stops after the test. */
  consume(ledger: GroupLedger, options?: ConsumeOptions): Promise<LogConsumer>;
  /** Stops the consumer after the test. */
  stopLater(consumer: LogConsumer): void;
}

/** Each test gets a log, and a topic of its own. */
export function useConformanceStage(createHarness: () => Promise<EventLogHarness>): ConformanceStage {
  let harness: EventLogHarness;
  let log: EventLog;
  let topic: string;
  let consumers: LogConsumer[];

  beforeEach(async () => {
    consumers = [];
    harness = await createHarness();
    log = await harness.openLog();
    topic = `topic-${randomUUID()}`;
    await log.ensureTopic({ name: topic, partitions: PARTITIONS, retentionMs: HOUR_MS });
  });

  afterEach(async () => {
    await Promise.all(consumers.map((consumer) => consumer.stop()));
    await harness.close();
  });

  return {
    current: () => ({ harness, log, topic }),
    async consume(ledger, { on = log, group = 'group', member = group, maxRecords = 100, before = () => {} } = {}) {
      const consumer = on.consumer({ group, topic, maxRecords, handler: ledger.handler(member, before) });
      consumers.push(consumer);
      await consumer.start();
      return consumer;
    },
    stopLater: (consumer) => void consumers.push(consumer),
  };
}

interface ConsumeOptions {
  on?: EventLog | undefined;
  group?: string;
  member?: string;
  maxRecords?: number;
  before?: Parameters<GroupLedger['handler']>[1];
}

export function numbered(key: string, first: number, count: number): LogRecord[] {
  return Array.from({ length: count }, (_, index) => ({ key, value: Buffer.from(`${key}-${first + index}`) }));
}

export function valuesOf(records: LogRecord[]): string[] {
  return records.map(({ value }) => value.toString());
}

export function partitionsOf(batches: { partition: number }[]): Set<number> {
  return new Set(batches.map(({ partition }) => partition));
}

export function partitionsOfKeys(ledger: GroupLedger): [string, number][] {
  return ledger.batches.flatMap(({ partition, records }) =>
    records.map(({ key }): [string, number] => [key, partition]),
  );
}

export function offsetsByPartition({ batches }: GroupLedger): number[][] {
  return [...Map.groupBy(batches, ({ partition }) => partition).values()].map((own) =>
    own.flatMap(({ records }) => records.map(({ offset }) => offset)),
  );
}
