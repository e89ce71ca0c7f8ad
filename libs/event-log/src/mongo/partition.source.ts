import type { Logger } from '@tollkeeper/runtime';
import type { ConsumerOptions, ReadRecord } from '../event-log.ts';
import { type PartitionSource, startOffset } from '../partition.worker.ts';
import type { EndOffsets } from './end-offsets.ts';
import type { LogStore, ReadPage } from './log.store.ts';

/** With the size of a stored batch this bounds one fetch to about 1 MiB. */
const FETCH_DOCUMENTS = 4;
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

/**
 * Reads one partition forward; keeps what a fetch brought beyond `maxRecords`, and fetches what comes behind while the caller works
 * on a batch.
 */
export function createPartitionSource(deps: {
  consumer: ConsumerOptions;
  partition: number;
  store: LogStore;
  ends: EndOffsets;
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

  /** The page that was fetched ahead, unless that failed or found nothing: there may be something by now. */
  async function takePage(from: number): Promise<ReadPage> {
    const early = ahead?.offset === from ? await ahead.page : null;
    ahead = undefined;
    return early === null || early.records.length === 0 ? fetchPage(from) : early;
  }

  /** Records at `offset` and after; they start later where retention removed some. Empty when there are none. */
  async function read(): Promise<ReadRecord[]> {
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
    return fetched.splice(0, maxRecords);
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
        const records = await read();
        const last = records.at(-1);
        // Without one, retention has removed all that stood before this end.
        offset = last === undefined ? endOffset : last.offset + 1;
        if (last !== undefined) return { records, endOffset };
      }
    },
  };
}

function bytesOf(records: ReadRecord[]): number {
  return records.reduce((total, { value }) => total + value.length, 0);
}
