import type { Connection, mongo } from 'mongoose';
import { APP_NAME } from './connection.ts';

/**
 * The statements of a transaction follow each other at once. If the next one does not come for this long, the process
 * has died.
 */
const ABANDONED_AFTER_MICROS = 3_000_000;

/**
 * Ends the transactions that killed processes have left open on the server, where they would hold what they have
 * written for `transactionLifetimeLimitSeconds`, a minute unless the operator says otherwise. A process that was only
 * paused finds its transaction aborted and begins it anew. Needs no privilege: a user sees and ends sessions of its
 * own.
 */
export async function endAbandonedTransactions(connection: Connection): Promise<void> {
  const admin = connection.getClient().db('admin');
  const abandoned = await admin
    .aggregate<{ lsid: { id: mongo.UUID } }>([
      { $currentOp: { allUsers: false, idleSessions: true } },
      { $match: { type: 'idleSession', appName: APP_NAME } },
      { $match: { 'transaction.timeInactiveMicros': { $gt: ABANDONED_AFTER_MICROS } } },
    ])
    .toArray();
  if (abandoned.length > 0) await admin.command({ killSessions: abandoned.map(({ lsid: { id } }) => ({ id })) });
}
