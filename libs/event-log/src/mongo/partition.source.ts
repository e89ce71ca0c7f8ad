import type { Logger } from '@tollkeeper/runtime';
import type { ConsumerOptions, ReadRecord } from '../event-log.ts';
import { type PartitionSource, startOffset } from '../partition.worker.ts';
import type { EndOffsets } from './end-offsets.ts';
import type { LogStore, ReadPage } from './log.store.ts';

/** Together with the maximum size of a stored batch, this limits one fetch to about 1 MiB. */
const FETCH_DOCUMENTS = 4;
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

/**
 * Reads one partition forward. It keeps fetched records beyond `maxRecords` for the next batch, and fetches ahead while
 * the caller works on a batch.
 */
export function createPartitionSource(deps: {
  consumer: ConsumerOptions;
  partition: number;
  store: Pick<LogStore, 'read'>;
  ends: Pick<EndOffsets, 'settle' | 'beyond'>;
  logger: Logger;
}): PartitionSource {
  const { partition, store, ends } = deps;
  const { topic, maxRecords } = deps.consumer;
  let fetched: ReadRecord[] = [];
  let ahead: { offset: number; page: Promise<ReadPage | null> } | undefined;
  let offset = 0;

  function fetchPage(from: number): Promise<ReadPage> {
    return store.read(topic, partition, from, FETCH_DOCUMENTS);
  }

  /** The page that was fetched ahead, or a new one if that failed or was empty: a new fetch may find records. */
  async function takePage(from: number): Promise<ReadPage> {
    const early = ahead?.offset === from ? await ahead.page : null;
    ahead = undefined;
    return early === null || early.records.length === 0 ? fetchPage(from) : early;
  }

  /**
   * Records from `offset` on, up to the stored `end`. They start later if retention has removed some; empty if there
   * are none.
   *
   * Records from `end` on are left for later. The stored end does not cover them yet. So after they have expired, their
   * offsets could be given to other records, which this reader would miss.
   */
  async function read(end: number): Promise<ReadRecord[]> {
    if (fetched[0]?.offset !== offset) fetched = [];
    let next = (fetched.at(-1)?.offset ?? offset - 1) + 1;
    let complete = false;
    while (!complete && fetched.length < maxRecords && bytesOf(fetched) < MAX_BATCH_BYTES) {
      const page = await takePage(next);
      fetched = fetched.concat(page.records);
      next = (fetched.at(-1)?.offset ?? next - 1) + 1;
      complete = page.complete;
      if (!complete) ahead = { offset: next, page: fetchPage(next).catch(() => null) };
    }
    const later = fetched.findIndex((record) => record.offset >= end);
    return fetched.splice(0, later === -1 ? maxRecords : Math.min(later, maxRecords));
  }

  return {
    async open(position) {
      const end = (await ends.settle())[partition] ?? 0;
      offset = startOffset(position, end, deps.logger);
      fetched = [];
      ahead = undefined;
    },
    async next(signal) {
      for (;;) {
        const endOffset = await ends.beyond(partition, offset, signal);
        let records = await read(endOffset);
        if (records.length === 0) {
          // After a fail-over, a new primary may not show all acknowledged records until a majority has confirmed one
          // of its own writes.
          await ends.settle();
          records = await read(endOffset);
        }
        const last = records.at(-1);
        // If there is no record, retention has removed all records before this end.
        offset = last === undefined ? endOffset : last.offset + 1;
        if (last !== undefined) return { records, endOffset };
      }
    },
  };
}

function bytesOf(records: ReadRecord[]): number {
  return records.reduce((total, { value }) => total + value.length, 0);
}
