import { startSlices } from '@tollkeeper/kernel';
import { isRefusal, type OffsetStore, withTransaction } from '@tollkeeper/mongo';
import type { ClientSession, Connection } from 'mongoose';
import { createConflictPatience, PATIENCE_MS } from './conflict.patience.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { ConsumerHandler, ReadRecord, RecordBatch } from './event-log.ts';

/** The effects of a service's records: by `apply` or, if unavoidable, by `applyAhead`. */
export interface RecordEffects<Item, Effect> {
  /**
   * The item of a record to apply; undefined if there is none. Throws, with a reason for people, if it cannot read the
   * record.
   */
  decode(record: ReadRecord): Item | undefined;
  /**
   * Makes a function that estimates how many documents an item writes in addition to those of the items before it.
   * Called once per transaction; the function gets the transaction's items in order. Default: one each.
   */
  documents?(): (item: Item) => number;
  /** Writes all items with the session. Runs again after a conflict. */
  apply?(session: ClientSession, items: Item[]): Promise<Effect>;
  /**
   * Makes effects that cannot be part of the transaction, before it begins. They are repeated if the position could not
   * be stored, so they must be idempotent.
   */
  applyAhead?(items: Item[]): Promise<void>;
  /** Called with the result of `apply` after its commit. */
  applied?(effect: Effect, items: Item[]): void;
}

export interface TransactionalHandlerOptions<Item, Effect> extends RecordEffects<Item, Effect> {
  connection: Connection;
  offsets: OffsetStore;
  deadLetters: DeadLetters;
  /** For tests. */
  limits?: Partial<typeof LIMITS>;
}

/**
 * Approximate maximum of documents that one transaction writes. The small cache of the standalone, which six partitions
 * share, has room for several such transactions. A batch of live events fits; a batch of a month's events does not.
 */
const LIMITS = {
  documents: 3_000,
  bytes: 4 * 1024 * 1024,
  /** Milliseconds of conflicts after which a smaller transaction is tried. Locks of a killed process end earlier. */
  retryForMs: 10_000,
  /** Milliseconds after which a record that conflicts alone counts as the cause, instead of load or a lock. */
  patienceMs: PATIENCE_MS,
};

interface Entry<Item> {
  record: ReadRecord;
  item: Item;
}

/** A moving position: all effects of the records before it are stored. */
interface Place {
  batch: RecordBatch;
  from: number | null;
  stored: (position: number) => void;
}

/**
 * A handler that stores effects and position in one transaction, or the position after effects that were made ahead. A
 * batch that writes too much for one transaction is committed in several, each with the position after its records.
 *
 * If MongoDB refuses a transaction, half of its records are tried, down to one. A record that is refused alone becomes
 * a dead letter with the reason, if the database still stores the position before it. So does an unreadable record.
 * Later records are then applied. During an outage no record becomes a dead letter.
 */
export function createTransactionalHandler<Item, Effect>(
  options: TransactionalHandlerOptions<Item, Effect>,
): ConsumerHandler {
  const { connection, offsets, deadLetters, decode, documents = () => () => 1 } = options;
  const limits = { ...LIMITS, ...options.limits };
  const patience = createConflictPatience(limits.patienceMs);

  /** Commits the entries and the position after them. */
  async function commit(place: Place, entries: readonly Entry<Item>[], to: number): Promise<void> {
    const { topic, partition } = place.batch;
    const items = entries.map(({ item }) => item);
    const isEmpty = items.length === 0;
    if (!isEmpty) await options.applyAhead?.(items);
    const work = async (session: ClientSession): Promise<{ effect: Effect } | undefined> => {
      await offsets.advance(session, { topic, partition, from: place.from, to });
      return isEmpty || options.apply === undefined ? undefined : { effect: await options.apply(session, items) };
    };
    const applied = await withTransaction(connection, work, { retryForMs: limits.retryForMs });
    if (applied !== undefined) options.applied?.(applied.effect, items);
    place.from = to;
    place.stored(to);
  }

  async function apply(place: Place, entries: readonly Entry<Item>[], to: number): Promise<void> {
    try {
      await commit(place, entries, to);
    } catch (error) {
      const [only] = entries;
      if (only === undefined || !isRefusal(error)) throw error;
      if (entries.length === 1) return applyAlone(place, only, to);
      const half = entries.length >> 1;
      await apply(place, entries.slice(0, half), entries[half]!.record.offset);
      await apply(place, entries.slice(half), to);
    }
  }

  /** Applies an entry that was refused together with others. If it is refused alone, makes it a dead letter. */
  async function applyAlone(place: Place, entry: Entry<Item>, to: number): Promise<void> {
    const { batch } = place;
    const { offset } = entry.record;
    // If the database refuses even this, the record is not the cause.
    await commit(place, [], offset);
    try {
      await commit(place, [entry], to);
    } catch (error) {
      if (!isRefusal(error) || !patience.hasRunOut(error, batch, offset)) throw error;
      await deadLetters.setAside(batch, entry.record, reasonOf(error));
      await commit(place, [], to);
    }
  }

  async function decodeOrSetAside(batch: RecordBatch, record: ReadRecord): Promise<Item | undefined> {
    try {
      return decode(record);
    } catch (error) {
      await deadLetters.setAside(batch, record, reasonOf(error));
      return undefined;
    }
  }

  return {
    position: (topic, partition) => offsets.position(topic, partition),

    async handle(batch, stored) {
      const place: Place = { batch, from: batch.from, stored };
      let entries: Entry<Item>[] = [];
      let written = { documents: 0, bytes: 0, of: documents() };
      // Records may be large, so decoding a batch may take long.
      const slices = startSlices();
      for (const record of batch.records) {
        if (slices.usedUp()) await slices.next();
        const item = await decodeOrSetAside(batch, record);
        if (item === undefined) continue;
        written.documents += written.of(item);
        written.bytes += record.value.length;
        if (entries.length > 0 && (written.documents > limits.documents || written.bytes > limits.bytes)) {
          await apply(place, entries, record.offset);
          entries = [];
          const of = documents();
          written = { documents: of(item), bytes: record.value.length, of };
        }
        entries.push({ record, item });
      }
      await apply(place, entries, batch.nextOffset);
    },
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
