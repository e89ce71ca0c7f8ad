import { startSlices } from '@tollkeeper/kernel';
import { isRefusal, type OffsetStore, withTransaction } from '@tollkeeper/mongo';
import type { ClientSession, Connection } from 'mongoose';
import { createConflictPatience, PATIENCE_MS } from './conflict.patience.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { ConsumerHandler, ReadRecord, RecordBatch } from './event-log.ts';

/** What a service does with the records that it reads, all of it in MongoDB. */
export interface RecordEffects<Item, Effect> {
  /**
   * What there is to apply of a record, undefined for nothing. Throws, with a reason for people, when it can't be read.
   */
  decode(record: ReadRecord): Item | undefined;
  /**
   * About how many documents an item writes beside those that the items before it write anyway. Called once for each
   * transaction, and the answer for its items in order. One each unless given.
   */
  documents?(): (item: Item) => number;
  /** Writes all of it with the session. Runs again after a conflict. */
  apply(session: ClientSession, items: Item[]): Promise<Effect>;
  /** Called once what `apply` answered is committed. */
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
 * What one transaction may write, about. The small cache of the standalone, which six partitions share, has room for
 * several of this size; a batch of live events fits, one that is spread over a month does not.
 */
const LIMITS = {
  documents: 3_000,
  bytes: 4 * 1024 * 1024,
  /** Milliseconds of conflicts after which less is tried at once. What a killed process holds is free before that. */
  retryForMs: 10_000,
  /**
   * Milliseconds that a single record conflicts before it is taken for the cause, and not the load or somebody's lock.
   */
  patienceMs: PATIENCE_MS,
};

interface Entry<Item> {
  record: ReadRecord;
  item: Item;
}

/** A position that moves: what is before it is stored. */
interface Place {
  batch: RecordBatch;
  from: number | null;
  stored: (position: number) => void;
}

/**
 * A handler whose effects and position are one transaction, as large as a transaction may be and no larger: a batch
 * that writes more is committed in several, each with the position behind its records.
 *
 * What MongoDB refuses is halved, down to one record. One that is refused alone, while the database takes the position
 * before it, is set aside with the reason, as is what can't be read; the records behind it go on. An outage sets
 * nothing aside.
 */
export function createTransactionalHandler<Item, Effect>(
  options: TransactionalHandlerOptions<Item, Effect>,
): ConsumerHandler {
  const { connection, offsets, deadLetters, decode, documents = () => () => 1 } = options;
  const limits = { ...LIMITS, ...options.limits };
  const patience = createConflictPatience(limits.patienceMs);

  /** Commits the entries, with the position behind them. */
  async function commit(place: Place, entries: readonly Entry<Item>[], to: number): Promise<void> {
    const { topic, partition } = place.batch;
    const items = entries.map(({ item }) => item);
    const work = async (session: ClientSession): Promise<{ effect: Effect } | undefined> => {
      await offsets.advance(session, { topic, partition, from: place.from, to });
      return items.length === 0 ? undefined : { effect: await options.apply(session, items) };
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

  /** Applies an entry that was refused with others; sets it aside if it is refused alone. */
  async function applyAlone(place: Place, entry: Entry<Item>, to: number): Promise<void> {
    const { batch } = place;
    const { offset } = entry.record;
    // If the database refuses even this, the database is in trouble, and the record is not the cause.
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
      // Records may be as large as senders like: reading a batch of them takes long.
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
