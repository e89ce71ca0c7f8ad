import { describe, expect, it } from '@jest/globals';
import { testLogger } from '@tollkeeper/testing';
import type { ReadRecord } from '../event-log.ts';
import type { PartitionSource } from '../partition.worker.ts';
import { createPartitionSource } from './partition.source.ts';

/** The contents of a log, and the part of them that it shows. */
interface State {
  /** The end for each time that the source waits for one. */
  ends: number[];
  stored: number[];
  /** The storage shows no record from here on until `settle` is called. */
  shownTo?: number;
}

describe('the source of a partition', () => {
  const { signal } = new AbortController();

  function sourceOf(state: State): PartitionSource {
    return createPartitionSource({
      consumer: {
        ...{ group: 'readers', topic: 'payments', maxRecords: 10 },
        handler: { position: async () => null, handle: async () => undefined },
      },
      partition: 0,
      store: {
        read: async (_topic, _partition, from) => {
          const shown = state.stored.filter((offset) => offset >= from && offset < (state.shownTo ?? Infinity));
          return { records: shown.map(recordAt), complete: true };
        },
      },
      ends: {
        async settle() {
          delete state.shownTo;
          return [state.ends[0] ?? 0];
        },
        async beyond() {
          const end = state.ends.shift();
          if (end === undefined) throw new Error('nothing comes any more');
          return end;
        },
      },
      logger: testLogger().logger,
    });
  }

  const offsetsOf = async (source: PartitionSource): Promise<number[]> =>
    (await source.next(signal)).records.map(({ offset }) => offset);

  it('skips no acknowledged record that the storage does not show yet, as after a fail-over', async () => {
    const state: State = { ends: [3], stored: [0, 1, 2] };
    const source = sourceOf(state);
    await source.open(0);
    state.shownTo = 0;
    expect(await offsetsOf(source)).toEqual([0, 1, 2]);
  });

  it('continues behind what retention has removed', async () => {
    const source = sourceOf({ ends: [3, 4], stored: [3] });
    await source.open(0);
    expect(await offsetsOf(source)).toEqual([3]);
  });

  it('hands out a record only once the end is known to be behind it', async () => {
    const source = sourceOf({ ends: [2, 3], stored: [0, 1, 2] });
    await source.open(0);
    expect(await offsetsOf(source)).toEqual([0, 1]);
    expect(await offsetsOf(source)).toEqual([2]);
  });
});

function recordAt(offset: number): ReadRecord {
  return { key: 'ws', value: Buffer.from('value'), offset, appendedAt: 0 };
}
