import { startSlices } from '@tollkeeper/kernel';
import { isRefusal, withTransaction } from '@tollkeeper/mongo';
import type { ClientSession, Connection } from 'mongoose';
import { createConflictPatience, PATIENCE_MS } from './conflict.patience.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { ReadRecord } from './event-log.ts';

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

export interface RecordApplierOptions<Item, Effect> extends RecordEffects<Item, Effect> {
  connection: Connection;
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

/** A stored position, and the records behind it. */
interface Place {
  topic: string;
  partition: number;
  /** In offset order. */
  records: readonly ReadRecord[];
  /** Moves when a transaction is committed: all records before it are applied, set aside or deferred. */
  from: number | null;
  /** The position after all records. */
  end: number;
  /** Stores the position in the session's transaction. Rejects if the stored one is not `from`. */
  move(session: ClientSession, from: number | null, to: number): Promise<void>;
  stored(position: number): void;
  /** Without it, no record is deferred. */
  deferral?: Deferral;
}

/** Decides which records wait until earlier ones with the same key are applied, and stores them. */
export interface Deferral {
  /** Whether records with this key wait. */
  isDeferred(key: string): boolean;
  /** The key has had its turn: its next records wait. */
  defer(key: string): void;
  /** Stores the records in the session's transaction. */
  add(session: ClientSession, records: readonly ReadRecord[]): Promise<void>;
  /** They are committed. */
  added(records: readonly ReadRecord[]): void;
}

interface Entry<Item> {
  record: ReadRecord;
  /** Undefined if the record is deferred. */
  item: Item | undefined;
}

export interface RecordApplier {
  /**
   * Applies all records of the place, in one transaction with its new position, or in several if one would write too
   * much. A key whose records alone are too many for one transaction has its turn with the first; the rest is deferred.
   *
   * If MongoDB refuses a transaction, half of its records are tried, down to one. A record that is refused alone is
   * made a dead letter with the reason, if the database still stores the position before it. So is an unreadable
   * record. Later records are then applied. During an outage no record becomes a dead letter.
   */
  apply(place: Place): Promise<void>;
}

export function createRecordApplier<Item, Effect>(options: RecordApplierOptions<Item, Effect>): RecordApplier {
  const { connection, deadLetters, documents = () => () => 1 } = options;
  const limits = { ...LIMITS, ...options.limits };
  const patience = createConflictPatience(limits.patienceMs);

  /** Commits the entries and the position after them. */
  async function commit(place: Place, entries: readonly Entry<Item>[], to: number): Promise<void> {
    const items = entries.flatMap(({ item }) => (item === undefined ? [] : [item]));
    const deferred = entries.flatMap(({ record, item }) => (item === undefined ? [record] : []));
    if (items.length > 0) await options.applyAhead?.(items);
    const work = async (session: ClientSession): Promise<{ effect: Effect } | undefined> => {
      await place.move(session, place.from, to);
      if (deferred.length > 0) await place.deferral?.add(session, deferred);
      return items.length === 0 || options.apply === undefined
        ? undefined
        : { effect: await options.apply(session, items) };
    };
    const applied = await withTransaction(connection, work, { retryForMs: limits.retryForMs });
    if (applied !== undefined) options.applied?.(applied.effect, items);
    if (deferred.length > 0) place.deferral?.added(deferred);
    place.from = to;
    place.stored(to);
  }

  async function commitOrHalve(place: Place, entries: readonly Entry<Item>[], to: number): Promise<void> {
    try {
      await commit(place, entries, to);
    } catch (error) {
      const [only] = entries;
      if (only === undefined || !isRefusal(error)) throw error;
      if (entries.length === 1) return commitAlone(place, only, to);
      const half = entries.length >> 1;
      await commitOrHalve(place, entries.slice(0, half), entries[half]!.record.offset);
      await commitOrHalve(place, entries.slice(half), to);
    }
  }

  /** Commits an entry that was refused together with others. If it is refused alone, makes it a dead letter. */
  async function commitAlone(place: Place, entry: Entry<Item>, to: number): Promise<void> {
    const { offset } = entry.record;
    // If the database refuses even this, the record is not the cause.
    await commit(place, [], offset);
    try {
      await commit(place, [entry], to);
    } catch (error) {
      if (!isRefusal(error) || !patience.hasRunOut(error, place, offset)) throw error;
      await deadLetters.setAside(place, entry.record, reasonOf(error));
      await commit(place, [], to);
    }
  }

  return {
    async apply(place) {
      const { deferral } = place;
      /** Documents that the items of a key write. */
      const used = new Map<string, number>();
      let entries: Entry<Item>[] = [];
      let pending = { documents: 0, bytes: 0, of: documents() };
      // Records may be large, so decoding a batch may take long.
      const slices = startSlices();
      for (const record of place.records) {
        if (slices.usedUp()) await slices.next();
        const { key, value, offset } = record;
        let item: Item | undefined;
        if (deferral?.isDeferred(key) !== true) {
          item = await decodeOrSetAside(options, place, record);
          if (item === undefined) continue;
          const more = pending.of(item);
          used.set(key, (used.get(key) ?? 0) + more);
          if (deferral !== undefined && used.get(key)! > limits.documents) {
            deferral.defer(key);
            item = undefined;
          } else pending.documents += more;
        }
        pending.bytes += value.length;
        if (entries.length > 0 && (pending.documents > limits.documents || pending.bytes > limits.bytes)) {
          await commitOrHalve(place, entries, offset);
          entries = [];
          const of = documents();
          pending = { documents: item === undefined ? 0 : of(item), bytes: value.length, of };
        }
        entries.push({ record, item });
      }
      await commitOrHalve(place, entries, place.end);
    },
  };
}

/** Undefined if there is nothing to apply. */
async function decodeOrSetAside<Item, Effect>(
  { decode, deadLetters }: RecordApplierOptions<Item, Effect>,
  place: Place,
  record: ReadRecord,
): Promise<Item | undefined> {
  try {
    return decode(record);
  } catch (error) {
    await deadLetters.setAside(place, record, reasonOf(error));
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
