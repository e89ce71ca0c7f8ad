import { AppError, createTurns, type Turns } from '@tollkeeper/kernel';
import { type ClientSession, type Connection, mongo } from 'mongoose';
import { endAbandonedTransactions } from './abandoned-transactions.ts';

/** A conflict that lasts this long is probably with a transaction whose process has died. */
const SUSPICIOUS_MS = 1_000;

export interface TransactionOptions {
  /**
   * Milliseconds after which no further attempt starts, for work that blocks other work. Conflicts with a killed
   * process's transactions need about 5 seconds. Default: the driver's 2 minutes.
   */
  retryForMs?: number;
}

/** Codes with which the server says that it aborted the transaction, or could not continue it at that time. */
const ABORTED = new Set([
  24, // LockTimeout
  46, // LockBusy
  112, // WriteConflict
  225, // TransactionTooOld
  239, // SnapshotTooOld
  246, // SnapshotUnavailable
  251, // NoSuchTransaction: it took too long, or a write in it was refused
  290, // TransactionExceededLifetimeLimitSeconds
]);

/** The server works, but aborted the transaction at every attempt, because of conflicts or its duration. */
export class ContendedTransaction extends Error {
  constructor(triedForMs: number, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : 'it was aborted at its commit';
    super(`The transaction did not get through within ${Math.round(triedForMs)} ms: ${reason}`, { cause });
    this.name = 'ContendedTransaction';
  }
}

/**
 * Runs `work` in a transaction on one snapshot and commits it to a majority's journal. Every operation in `work` must
 * get the session, one after the other. Bulk writes are ordered: after a refused write, an unordered one would continue
 * and report only that the transaction no longer exists.
 *
 * A transient failure (a write conflict, a new primary) runs `work` again, for up to `retryForMs`, so `work` must have
 * no effect outside the session. Any other rejection, also a duplicate key, aborts the transaction and is passed on.
 * With `retryForMs`, rejects with {@link ContendedTransaction} if the time is over while the server answers. An outage
 * aborts transactions too, so the time restarts after it. A conflict with the transaction of a killed process ends
 * after a few seconds.
 */
export function withTransaction<T>(
  connection: Connection,
  work: (session: ClientSession) => Promise<T>,
  { retryForMs = Infinity }: TransactionOptions = {},
): Promise<T> {
  const client = connection.getClient();
  const outages = outagesOf(client);
  let signsBefore = outages.signs;
  /** Start of the first attempt, or of the first one after an outage. */
  let startedAt = performance.now();
  let lookAt = startedAt + SUSPICIOUS_MS;
  /** The error of the previous attempt; undefined if that one failed at its commit, null if there was none. */
  let failure: unknown = null;

  const attempt = async (session: ClientSession): Promise<T> => {
    const now = performance.now();
    if (outages.signs !== signsBefore) {
      signsBefore = outages.signs;
      startedAt = now;
    }
    if (now - startedAt > retryForMs && isAborted(failure)) throw new ContendedTransaction(now - startedAt, failure);
    failure = undefined;
    if (now > lookAt) {
      // If this fails, the server ends those transactions after `transactionLifetimeLimitSeconds`.
      await endAbandonedTransactions(connection).catch(() => undefined);
      lookAt = performance.now() + SUSPICIOUS_MS;
    }
    try {
      return await work(session);
    } catch (error) {
      failure = error;
      throw error;
    }
  };
  return client.withSession((session) =>
    session.withTransaction(attempt, {
      readConcern: { level: 'snapshot' },
      writeConcern: { w: 'majority', journal: true },
      readPreference: 'primary',
    }),
  );
}

/** Most waiting changes of a sender in a process. */
const MAX_WAITING_CHANGES = 256;
/** Longest wait of a change. A change takes about 10 ms. */
const MAX_WAIT_MS = 15_000;
const RETRY_AFTER_SECONDS = 2;
const REFUSALS = {
  too_many: () =>
    new AppError(
      'rate_limited',
      `${MAX_WAITING_CHANGES} changes are already waiting. Wait for their responses before sending more.`,
      { retryAfterSeconds: RETRY_AFTER_SECONDS },
    ),
  too_long: () =>
    new AppError('service_unavailable', 'Other changes are taking too long. Nothing was changed. Try again shortly.', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    }),
};

const turnsOfClients = new WeakMap<mongo.MongoClient, Turns>();

function createChangeTurns(): Turns {
  const waiting = {
    ofSender: MAX_WAITING_CHANGES,
    ms: MAX_WAIT_MS,
    refusal: (why: keyof typeof REFUSALS) => REFUSALS[why](),
  };
  return createTurns({ capacity: Infinity, ofSender: 1, waiting });
}

/**
 * As `withTransaction`, for changes on request: the transactions of one `sender`, a workspace or a user, run one after
 * the other in this process. The changes of a workspace touch few documents, so concurrent ones would conflict and
 * retry repeatedly, and keep connections from others. Throws `rate_limited` if too many of the sender's changes wait,
 * and `service_unavailable` if the turn does not come in time; then nothing has been done. Never nest it for the same
 * sender.
 */
export function changeInTurn<T>(
  connection: Connection,
  sender: string,
  work: (session: ClientSession) => Promise<T>,
): Promise<T> {
  const client = connection.getClient();
  const turns = turnsOfClients.get(client) ?? createChangeTurns();
  turnsOfClients.set(client, turns);
  return turns.run(sender, 1, () => withTransaction(connection, work));
}

interface Outages {
  /** Number of signs of an outage so far: a primary that stepped down, or a connection that broke. */
  readonly signs: number;
}

const knownOutages = new WeakMap<mongo.MongoClient, Outages>();

function outagesOf(client: mongo.MongoClient): Outages {
  const known = knownOutages.get(client);
  if (known !== undefined) return known;
  const made = { signs: 0 };
  knownOutages.set(client, made);
  client.on('serverDescriptionChanged', ({ previousDescription, newDescription }) => {
    if (previousDescription.isWritable && !newDescription.isWritable) made.signs += 1;
  });
  // If a primary is back before the driver has checked it, only its broken connections show the outage.
  client.on('connectionClosed', ({ reason }) => {
    if (reason === 'error' || reason === 'stale') made.signs += 1;
  });
  return made;
}

function isAborted(failure: unknown): boolean {
  return failure === undefined || (failure instanceof mongo.MongoServerError && ABORTED.has(Number(failure.code)));
}
