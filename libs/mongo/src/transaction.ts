import type { ClientSession, Connection } from 'mongoose';

/**
 * Runs `work` in a transaction on one snapshot and commits it to a majority's journal. Every operation in `work` must be
 * given the session, one after the other.
 *
 * A transient failure (a write conflict, a new primary) runs `work` again, for up to 2 minutes, so `work` must have no
 * effect outside the session. Any other rejection aborts the transaction and is passed on, a duplicate key included.
 */
export function withTransaction<T>(connection: Connection, work: (session: ClientSession) => Promise<T>): Promise<T> {
  return connection.getClient().withSession((session) =>
    session.withTransaction(work, {
      readConcern: { level: 'snapshot' },
      writeConcern: { w: 'majority', journal: true },
      readPreference: 'primary',
    }),
  );
}
