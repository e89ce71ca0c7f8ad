import { AppError, createTurns, type Turns } from '@tollkeeper/kernel';
import { type ClientSession, type Connection, mongo } from 'mongoose';
import { endAbandonedTransactions } from './abandoned-transactions.ts';

/** A conflict that lasts this long is probably with a transaction whose process has died. */
const SUSPICIOUS_MS = 1_000;

export interface TransactionOptions {
  /**
   * Milliseconds after which no further attempt begins, for work that others wait behind. Conflicts with what a killed
   * process has left open need about 5 seconds. Default: the driver's 2 minutes.
   */
  retryForMs?: number;
}

/** Codes by which the server says that it aborted the transaction, or could not go on with it just then. */
const ABORTED = new Set([
  24, // LockTimeout
  46, // LockBusy
  112, // WriteConflict
  225, // TransactionTooOld
  239, // SnapshotTooOld
  246, // SnapshotUnavailable
  251, // NoSuchTransaction: for taking too long, or behind a write that was refused
  290, // TransactionExceededLifetimeLimitSeconds
]);

/** The server is there, but aborted the transaction at every attempt: by conflicts, or for taking too long. */
export class ContendedTransaction extends Error {
  constructor(triedForMs: number, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : 'it was aborted at its commit';
    super(`The transaction did not get through within ${Math.round(triedForMs)} ms: ${reason}`, { cause });
    this.name = 'ContendedTransaction';
  }
}

/**
 * Runs `work` in a transaction on one snapshot and commits it to a majority's journal. Every operation in `work` must
 * be given the session, one after the other. Bulk writes are ordered: behind a write that is refused, an unordered one
 * continues and reports only that the transaction is gone.
 *
 * A transient failure (a write conflict, a new primary) runs `work` again, for up to `retryForMs`, so `work` must have
 * no effect outside the session. Any other rejection aborts the transaction and is passed on, a duplicate key included.
 * With `retryForMs`, rejects with {@link ContendedTransaction} when that time was not enough and the server answers. An
 * outage aborts transactions too, so the time begins anew after it. A conflict with a transaction that a killed process
 * has left open ends after a few seconds.
 */
export function withTransaction<T>(
  connection: Connection,
  work: (session: ClientSession) => Promise<T>,
  { retryForMs = Infinity }: TransactionOptions = {},
): Promise<T> {
  const client = connection.getClient();
  const outages = outagesOf(client);
  let signsBefore = outages.signs;
  /** Of the first attempt, or of the first one after an outage. */
  let startedAt = performance.now();
  let lookAt = startedAt + SUSPICIOUS_MS;
  /** The error of the attempt before; undefined if that one failed at its commit, null without one. */
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

/** Changes of a sender that wait in a process. */
const MAX_WAITING_CHANGES = 256;
/** How long one waits at most. A change takes about 10 ms. */
const MAX_WAIT_MS = 15_000;
const RETRY_AFTER_SECONDS = 2;
const REFUSALS = {
  too_many: () =>
    new AppError(
      'rate_limited',
      `${MAX_WAITING_CHANGES} changes are waiting already. Wait for their answers before sending more.`,
      { retryAfterSeconds: RETRY_AFTER_SECONDS },
    ),
  too_long: () =>
    new AppError(
      'service_unavailable',
      'Other changes take too long just now. Nothing was changed. Try again shortly.',
      { retryAfterSeconds: RETRY_AFTER_SECONDS },
    ),
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
 * As `withTransaction`, for what somebody asked to change: the transactions of one `sender`, a workspace or a user,
 * come one after the other in this process. What a workspace changes is in few documents, so at the same time they
 * would conflict and be tried over and over, and others would wait for a connection meanwhile. Throws `rate_limited`
 * when too many of the sender wait, and `service_unavailable` when the turn does not come in time; nothing has been
 * done then. Within `work`, never call it with the same sender.
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
  /** Signs of one so far: a primary that stepped down, or a connection that broke. */
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
  // A primary that is back before the driver has looked shows only in its broken connections.
  client.on('connectionClosed', ({ reason }) => {
    if (reason === 'error' || reason === 'stale') made.signs += 1;
  });
  return made;
}

function isAborted(failure: unknown): boolean {
  return failure === undefined || (failure instanceof mongo.MongoServerError && ABORTED.has(Number(failure.code)));
}
