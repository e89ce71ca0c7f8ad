import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createMetrics } from '@tollkeeper/runtime';
import { eventually, type TestLogger, testLogger } from '@tollkeeper/testing';
import type { ConsumerHandler, ReadRecord } from './event-log.ts';
import { createLogMetrics, type LogMetrics } from './log.metrics.ts';
import { type PartitionSource, type PartitionWork, startPartitionWork } from './partition.worker.ts';

const PARTITION = { group: 'readers', topic: 'payments', partition: 3 };

describe('the work on a partition', () => {
  let metrics: LogMetrics;
  let log: TestLogger;
  let handed: number;
  let work: PartitionWork | undefined;

  beforeEach(() => {
    metrics = createLogMetrics(createMetrics('test'));
    log = testLogger();
    handed = 0;
  });

  afterEach(() => work?.stop({ lost: false }));

  function start({ handler = {}, source = {}, position = 0, offsets = [] }: Deviations): void {
    const { group, topic, partition } = PARTITION;
    const complete: ConsumerHandler = {
      position: async () => position,
      handle: async () => void (handed += 1),
      ...handler,
    };
    work = startPartitionWork({
      consumer: { group, topic, handler: complete, maxRecords: 10 },
      partition,
      source: { ...sourceOf(offsets), ...source },
      metrics,
      logger: log.logger,
    });
  }

  it.each([
    ['at the position', 2, [[5, 6]], 3, { from: 2, first: 5, nextOffset: 7, skipped: 3 }],
    ['behind a batch', 0, [[0, 1], [3]], 1, { from: 2, first: 3, nextOffset: 4, skipped: 1 }],
    ['inside a batch', 0, [[0, 4, 5]], 3, { from: 0, first: 0, nextOffset: 6, skipped: 3 }],
  ])(
    'tells of records that were gone before the group read them, %s',
    async (_where, position, offsets, gone, line) => {
      start({ position, offsets });
      await eventually(() => expect(log.lines()).toContainEqual(expect.objectContaining({ level: 'error', ...line })));
      expect((await metrics.skipped.get()).values).toEqual([
        { labels: { group: 'readers', topic: 'payments' }, value: gone },
      ]);
    },
  );

  it.each([
    ['a group that starts with the earliest record', null],
    ['a group whose position belongs to another log', 900],
  ])('takes nothing for gone for %s', async (_who, position) => {
    start({ position, offsets: [[4, 5], [6]] });
    await eventually(() => expect(handed).toBe(2));
    expect((await metrics.skipped.get()).values).toEqual([]);
    expect((await metrics.redeliveries.get()).values).toEqual([]);
  });

  it.each<[string, Deviations]>([
    ['the position is not told', { handler: { position: () => Promise.reject(new Error('away')) } }],
    ['the log is not opened', { source: { open: () => Promise.reject(new Error('away')) } }],
    ['a batch is rejected', { handler: { handle: () => Promise.reject(new Error('away')) }, offsets: [[0], [0], [0]] }],
  ])('counts for its partition each time that %s', async (_what, deviations) => {
    start(deviations);
    await eventually(async () =>
      expect((await metrics.redeliveries.get()).values).toEqual([{ labels: PARTITION, value: 2 }]),
    );
    expect((await metrics.consumed.get()).values).toEqual([]);
  });

  it('counts what it applied for its partition', async () => {
    start({ offsets: [[0, 1], [2]] });
    await eventually(async () =>
      expect((await metrics.consumed.get()).values).toEqual([{ labels: PARTITION, value: 3 }]),
    );
  });
});

interface Deviations {
  handler?: Partial<ConsumerHandler>;
  source?: Partial<PartitionSource>;
  position?: number | null;
  /** Of each batch that the source has. */
  offsets?: number[][];
}

function sourceOf(batches: number[][]): PartitionSource {
  const left = batches.values();
  return {
    open: async () => undefined,
    async next(signal) {
      const { value: offsets } = left.next();
      if (offsets === undefined) await once(signal, 'abort');
      signal.throwIfAborted();
      return { records: (offsets ?? []).map(recordAt), endOffset: 0 };
    },
  };
}

function recordAt(offset: number): ReadRecord {
  return { key: 'ws', value: Buffer.from('value'), offset, appendedAt: 0 };
}
