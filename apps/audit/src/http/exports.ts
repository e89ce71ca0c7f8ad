import { AppError, type TenantId } from '@tollkeeper/kernel';
import type { Entry, ListPlace, RecordFilter, RecordReader } from '../domain/entry.ts';

/** Concurrent exports per replica, and per person or workspace. Each lasts as long as its client reads. */
const MAX_EXPORTS = 16;
const MAX_EXPORTS_OF_ONE = 2;
/** Records per read: the memory of an export, and the size of one write to its client. */
const PAGE = 200;

export type StreamLines = (
  caller: { tenantId: TenantId; userId: string },
  filter: RecordFilter,
  after: ListPlace | undefined,
  toBody: (entry: Entry) => object,
) => AsyncIterable<string>;

/**
 * Makes the lines of an export, one page whenever the client has read the one before. Each page is a separate query, so
 * slow clients hold nothing in the database. Rejects with `rate_limited` at the start if too many exports are in
 * progress.
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
