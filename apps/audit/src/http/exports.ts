import { AppError, type TenantId } from '@tollkeeper/kernel';
import type { Entry, ListPlace, RecordFilter, RecordReader } from '../domain/entry.ts';

/**
 * Exports in progress at a time in a replica, and of one person or workspace: each lasts as long as its client reads.
 */
const MAX_EXPORTS = 16;
const MAX_EXPORTS_OF_ONE = 2;
/** Records that are read at a time: what an export takes in memory, and what one write to its client has. */
const PAGE = 200;

export type StreamLines = (
  caller: { tenantId: TenantId; userId: string },
  filter: RecordFilter,
  after: ListPlace | undefined,
  toBody: (entry: Entry) => object,
) => AsyncIterable<string>;

/**
 * Makes the lines of an export, a page at a time when the client has read the one before. Each page is a query of its
 * own, so nothing is held in the database for a client that reads slowly. Rejects with `rate_limited` at its begin
 * where too many are in progress.
 */
export function createExports(records: Pick<RecordReader, 'list'>): StreamLines {
  const inFlight: (readonly string[])[] = [];

  function enter(callers: readonly string[]): () => void {
    const isFull = (one: string) => inFlight.filter((each) => each.includes(one)).length >= MAX_EXPORTS_OF_ONE;
    if (inFlight.length >= MAX_EXPORTS || callers.some(isFull)) {
      const message = 'Too many exports are in progress. Try again when one has finished.';
      throw new AppError('rate_limited', message, { retryAfterSeconds: 10 });
    }
    inFlight.push(callers);
    return () => void inFlight.splice(inFlight.indexOf(callers), 1);
  }

  return async function* ({ tenantId, userId }, filter, after, toBody) {
    const leave = enter([tenantId, userId]);
    try {
      for (let place: ListPlace | null | undefined = after; place !== null;) {
        const page: Awaited<ReturnType<RecordReader['list']>> = await records.list(tenantId, filter, {
          limit: PAGE,
          after: place,
        });
        yield page.entries.map((entry) => `${JSON.stringify(toBody(entry))}\n`).join('');
        place = page.next;
      }
    } finally {
      leave();
    }
  };
}
