import type { ReadRecord } from '../event-log.ts';
import type { LogStore } from './log.store.ts';

/** With the size of a stored batch this bounds one fetch to about 4 MiB. */
const FETCH_DOCUMENTS = 16;
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

/** Reads one partition forward, in batches of at most `maxRecords`; keeps what a fetch brought beyond that. */
export function createPartitionReader(store: LogStore, topic: string, partition: number, maxRecords: number) {
  let fetched: ReadRecord[] = [];

  /** Records at `offset` and after; they start later where retention removed some. Empty when there are none. */
  return async function read(offset: number): Promise<ReadRecord[]> {
    if (fetched[0]?.offset !== offset) fetched = [];
    let next = (fetched.at(-1)?.offset ?? offset - 1) + 1;
    let complete = false;
    while (!complete && fetched.length < maxRecords && bytesOf(fetched) < MAX_BATCH_BYTES) {
      const page = await store.read(topic, partition, next, FETCH_DOCUMENTS);
      fetched = fetched.concat(page.records);
      next = (fetched.at(-1)?.offset ?? next - 1) + 1;
      complete = page.complete;
    }
    return fetched.splice(0, maxRecords);
  };
}

function bytesOf(records: ReadRecord[]): number {
  return records.reduce((total, { value }) => total + value.length, 0);
}
