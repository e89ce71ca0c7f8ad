import type { ClientSession, Connection } from 'mongoose';

export interface TransactionOptions {
  /** Milliseconds for all of it, its retries and its commit included. */
  timeoutMs?: number;
}

/**
 * Runs `work` in a transaction on one snapshot and commits it to a majority's journal. Every operation in `work` must be
 * given the session, one after the other.
 *
 * A transient failure (a write conflict, a new primary) runs `work` again until `timeoutMs` is over, so `work` must have
 * no effect outside the session. Any other rejection aborts the transaction and is passed on, a duplicate key included.
 */
export function withTransaction<T>(
  connection: Connection,
  work: (session: ClientSession) => Promise<T>,
  { timeoutMs = 30_000 }: TransactionOptions = {},
): Promise<T> {
  return connection.getClient().withSession((session) =>
    session.withTransaction(work, {
      readConcern: { level: 'snapshot' },
      writeConcern: { w: 'majority', journal: true },
      readPreference: 'primary',
      timeoutMS: timeoutMs,
    }),
  );
}
