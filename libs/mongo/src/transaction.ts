import type { ClientSession, Connection } from 'mongoose';
import { endAbandonedTransactions } from './abandoned-transactions.ts';

/** A conflict that lasts this long is hardly one with a transaction that is making progress. */
const SUSPICIOUS_MS = 1_000;

/**
 * Runs `work` in a transaction on one snapshot and commits it to a majority's journal. Every operation in `work` must be
 * given the session, one after the other.
 *
 * A transient failure (a write conflict, a new primary) runs `work` again, for up to 2 minutes, so `work` must have no
 * effect outside the session. Any other rejection aborts the transaction and is passed on, a duplicate key included.
 * A conflict with a transaction that a killed process has left open ends after a few seconds.
 */
export function withTransaction<T>(connection: Connection, work: (session: ClientSession) => Promise<T>): Promise<T> {
  let lookAt = performance.now() + SUSPICIOUS_MS;

  const attempt = async (session: ClientSession): Promise<T> => {
    if (performance.now() > lookAt) {
      // Where it fails, the server ends those transactions by itself in the end.
      await endAbandonedTransactions(connection).catch(() => undefined);
      lookAt = performance.now() + SUSPICIOUS_MS;
    }
    return work(session);
  };
  return connection.getClient().withSession((session) =>
    session.withTransaction(attempt, {
      readConcern: { level: 'snapshot' },
      writeConcern: { w: 'majority', journal: true },
      readPreference: 'primary',
    }),
  );
}
