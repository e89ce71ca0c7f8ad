import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createMetrics } from '@tollkeeper/runtime';
import { eventually, type TestLogger, testLogger } from '@tollkeeper/testing';
import type { ConsumerHandler, ReadRecord } from './event-log.ts';
import { createLogMetrics, type LogMetrics } from './log.metrics.ts';
import { type PartitionSource, type PartitionWork, startPartitionWork } from './partition.worker.ts';
import { createStandstills, type Standstills } from './standstill.ts';

const PARTITION = { group: 'readers', topic: 'payments', partition: 3 };

describe('the work on a partition', () => {
  let metrics: LogMetrics;
  let log: TestLogger;
  const clock = { now: 0 };
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
      standstills: createStandstills({
        consumer: PARTITION,
        metrics,
        logger: log.logger,
        monotonicClock: () => clock.now,
      }),
      logger: log.logger,
    });
  }

  it.each([
    ['at the position', 2, [[5, 6]], 3, { from_offset: 2, first_offset: 5, next_offset: 7, skipped: 3 }],
    ['behind a batch', 0, [[0, 1], [3]], 1, { from_offset: 2, first_offset: 3, next_offset: 4, skipped: 1 }],
    ['inside a batch', 0, [[0, 4, 5]], 3, { from_offset: 0, first_offset: 0, next_offset: 6, skipped: 3 }],
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
    ['the position is not reported', { handler: { position: () => Promise.reject(new Error('away')) } }],
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

describe('records that trickle in', () => {
  const LINGER_MS = 60;
  const log = testLogger();
  const metrics = createLogMetrics(createMetrics('test'));
  const standstills = createStandstills({ consumer: PARTITION, metrics, logger: log.logger });

  /** Handles batches of one record each, at the end of the log or before it, and returns the time of each. */
  function start(lingerMs: number, { atEnd, batches }: { atEnd: boolean; batches: number }) {
    const handedAt: number[] = [];
    const { partition, ...consumer } = PARTITION;
    const handler: ConsumerHandler = {
      position: async () => 0,
      handle: async () => void handedAt.push(performance.now()),
    };
    const source = sourceOf(
      Array.from({ length: batches }, (_, offset) => [offset]),
      atEnd ? 0 : batches + 1,
    );
    const options = { ...consumer, handler, maxRecords: 10, lingerMs };
    const work = startPartitionWork({ consumer: options, partition, source, metrics, standstills, logger: log.logger });
    return { handedAt, work };
  }

  it('at the end of the log are handed on together: no batch begins sooner than the linger after the one before', async () => {
    const { handedAt, work } = start(LINGER_MS, { atEnd: true, batches: 4 });
    await eventually(() => expect(handedAt).toHaveLength(4));
    await work.stop({ lost: false });
    for (const [index, at] of handedAt.slice(1).entries()) {
      // A busy machine may delay one batch and not the next. Without a linger, the interval is about 1 ms.
      expect(at - handedAt[index]!).toBeGreaterThanOrEqual(LINGER_MS / 2);
    }
  });

  it('are not waited for while the group is behind', async () => {
    const { handedAt, work } = start(3_600_000, { atEnd: false, batches: 20 });
    await eventually(() => expect(handedAt).toHaveLength(20));
    await work.stop({ lost: false });
  });

  it('are no longer waited for when the work stops', async () => {
    const { handedAt, work } = start(3_600_000, { atEnd: true, batches: 2 });
    await eventually(() => expect(handedAt).toHaveLength(1));
    await work.stop({ lost: false });
    expect(handedAt).toHaveLength(1);
  });
});

describe('a partition in which something is to be done and nothing is', () => {
  let metrics: LogMetrics;
  let log: TestLogger;
  let standstills: Standstills;
  let work: PartitionWork | undefined;
  const clock = { now: 0 };
  /** Resolves when the hanging or failing part has been called. */
  let begun: PromiseWithResolvers<void>;
  /** The hanging part waits for this until the test is over. */
  let held: PromiseWithResolvers<never>;

  beforeEach(() => {
    metrics = createLogMetrics(createMetrics('test'));
    log = testLogger();
    clock.now = 0;
    begun = Promise.withResolvers();
    held = Promise.withResolvers();
    // If nothing hangs, nothing else handles its rejection.
    held.promise.catch(() => undefined);
    standstills = createStandstills({
      consumer: PARTITION,
      metrics,
      logger: log.logger,
      monotonicClock: () => clock.now,
    });
  });
  afterEach(async () => {
    held.reject(new Error('the test is over'));
    await work?.stop({ lost: false });
  });

  function start(
    handler: Partial<ConsumerHandler>,
    source: Partial<PartitionSource> = {},
    offsets = [[7, 8], [9]],
  ): void {
    const { partition, ...consumer } = PARTITION;
    const complete = { position: async () => 7, handle: async () => undefined, ...handler };
    work = startPartitionWork({
      ...{ consumer: { ...consumer, handler: complete, maxRecords: 10 }, partition, metrics, standstills },
      ...{ source: { ...sourceOf(offsets), ...source }, logger: log.logger },
    });
  }
  const standstill = async () =>
    (await metrics.standstill.get()).values.map(({ labels, value }) => ({ labels, value }));
  const never = (): Promise<never> => {
    begun.resolve();
    return held.promise;
  };
  const away = (): Promise<never> => {
    begun.resolve();
    return Promise.reject(new Error('the database is down'));
  };

  it.each<[string, Partial<ConsumerHandler>, Partial<PartitionSource>, number | null, string]>([
    ['its handler hangs', { handle: never }, {}, 7, 'its handler has not answered yet'],
    ['its handler fails', { handle: away }, {}, 7, 'the database is down'],
    ['its position is not reported', { position: never }, {}, null, 'its position has not been reported yet'],
    ['asking for its position fails', { position: away }, {}, null, 'the database is down'],
    ['the log is not opened', {}, { open: never }, null, 'the log has not been opened yet'],
    ['opening the log fails', {}, { open: away }, null, 'the database is down'],
  ])('says so after a minute when %s, with place and cause', async (_what, handler, source, offset, cause) => {
    // Whatever fails comes back to the place of the failure, however quickly the log is read in between.
    const again: PartitionSource = {
      open: async () => undefined,
      next: async () => ({ records: [recordAt(7)], endOffset: 9 }),
    };
    start(handler, { ...again, ...source });
    await begun.promise;
    clock.now = 75_000;
    await eventually(() => expect(standstills.reasons()).toEqual([expect.stringContaining(cause)]));
    await eventually(async () => expect(await standstill()).toEqual([{ labels: PARTITION, value: 75 }]));
    expect(log.lines()).toContainEqual(
      expect.objectContaining({
        level: 'error',
        msg: 'the partition is stalled',
        ...PARTITION,
        offset,
        seconds: 75,
        reason: cause,
      }),
    );
    const where = `partition 3 of payments is stalled at offset ${offset ?? 'unknown'} for 75 s`;
    expect(standstills.reasons()).toEqual([`${where}: ${cause}`]);
  });

  it('says so once a minute and no more when it gets on', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    start({ handle: () => (begun.resolve(), promise) });
    await begun.promise;
    const said = () =>
      log
        .lines()
        .filter(({ msg }) => msg === 'the partition is stalled')
        .map(({ seconds }) => seconds);
    for (const [now, expected] of [
      [61_000, [61]],
      [122_000, [61, 122]],
    ] as const) {
      clock.now = now;
      await eventually(() => expect(said()).toEqual(expected));
    }
    resolve();
    await eventually(async () => expect(await standstill()).toEqual([{ labels: PARTITION, value: 0 }]));
    expect(standstills.reasons()).toEqual([]);
    clock.now = 1_000_000;
    expect(standstills.reasons()).toEqual([]);
  });

  it('does not say so of one with nothing to read, nor of one that continues in mid-batch', async () => {
    const steps: ((position: number) => void)[] = [];
    start({ handle: (_batch, stored) => (steps.push(stored), never()) });
    await eventually(() => expect(steps).toHaveLength(1));
    clock.now = 50_000;
    steps[0]!(8);
    clock.now = 100_000;
    expect(standstills.reasons()).toEqual([]);
    await eventually(async () => expect((await metrics.lag.get()).values).toEqual([{ labels: PARTITION, value: 1 }]));
    clock.now = 120_000;
    expect(standstills.reasons()).toEqual([expect.stringContaining('at offset 8 for 70 s')]);
  });

  it('says so of one that stores again and again where it stands already', async () => {
    start({ handle: (_batch, stored) => (stored(7), away()) }, {}, Array(10).fill([7]));
    await begun.promise;
    clock.now = 61_000;
    await eventually(async () => expect((await metrics.redeliveries.get()).values[0]?.value).toBeGreaterThan(2));
    expect(standstills.reasons()).toEqual([expect.stringContaining('at offset 7 for 61 s')]);
  });

  it('keeps counting when a rebalance starts the work anew', async () => {
    for (const now of [0, 50_000, 100_000]) {
      clock.now = now;
      const asked = Promise.withResolvers<void>();
      start({ position: () => (asked.resolve(), Promise.reject(new Error('the database is down'))) });
      await asked.promise;
      if (now < 100_000) await work?.stop({ lost: true });
    }
    await eventually(() => expect(standstills.reasons()).toEqual([expect.stringContaining('for 100 s')]));
  });

  it('says so of a log that fails each time after a while', async () => {
    let reads = 0;
    start({}, { next: () => ((clock.now += 15_000), (reads += 1), Promise.reject(new Error('no answer'))) });
    await eventually(() => expect(reads).toBeGreaterThan(5));
    await eventually(() => expect(standstills.reasons()).toEqual([expect.stringContaining('no answer')]));
  });

  it('takes work that comes after a long silence for new, also behind an outage', async () => {
    let failures = 1;
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    let reading = false;
    start(
      { position: () => (failures-- > 0 ? Promise.reject(new Error('away')) : Promise.resolve(7)), handle: never },
      {
        async next() {
          reading = true;
          await arrived;
          return { records: [recordAt(7)], endOffset: 8 };
        },
      },
    );
    await eventually(() => expect(reading).toBe(true));
    clock.now = 3_600_000;
    expect(standstills.reasons()).toEqual([]);
    arrive();
    await begun.promise;
    clock.now += 59_000;
    expect(standstills.reasons()).toEqual([]);
    clock.now += 1_000;
    expect(standstills.reasons()).toHaveLength(1);
  });
});

interface Deviations {
  handler?: Partial<ConsumerHandler>;
  source?: Partial<PartitionSource>;
  position?: number | null;
  /** The offsets of each batch in the source. */
  offsets?: number[][];
}

function sourceOf(batches: number[][], endOffset = 0): PartitionSource {
  const left = batches.values();
  return {
    open: async () => undefined,
    async next(signal) {
      const { value: offsets } = left.next();
      if (offsets === undefined) await once(signal, 'abort');
      signal.throwIfAborted();
      return { records: (offsets ?? []).map(recordAt), endOffset };
    },
  };
}

function recordAt(offset: number): ReadRecord {
  return { key: 'ws', value: Buffer.from('value'), offset, appendedAt: 0 };
}
