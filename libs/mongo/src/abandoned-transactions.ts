import type { Connection, mongo } from 'mongoose';
import { APP_NAME } from './connection.ts';

/**
 * The statements of a transaction follow each other at once. If the next one does not come for this long, the process
 * has died.
 */
const ABANDONED_AFTER_MS = 3_000;

/** What looks at an open transaction have shown. */
interface Looks {
  /** Time that its statements have run: more at each look as long as there are statements. */
  activeMicros: number;
  /** First look with that time, by `performance.now()`. */
  since: number;
}

/** By session. Looks are compared, since the server tells the sum of all pauses of a transaction alone. */
const seen = new Map<string, Looks>();

/**
 * Looks at the open transactions, and ends those that killed processes have left open on the server, where they would
 * hold what they have written for `transactionLifetimeLimitSeconds`, a minute unless the operator says otherwise. To be
 * called every second or so: a transaction is ended when looks over {@link ABANDONED_AFTER_MS} have shown no statement.
 * A process that was only paused finds its transaction aborted and begins it anew. Needs no privilege: a user sees and
 * ends sessions of its own.
 */
export async function endAbandonedTransactions(connection: Connection): Promise<void> {
  const admin = connection.getClient().db('admin');
  const open = await admin
    .aggregate<{ lsid: { id: mongo.UUID }; transaction: { timeActiveMicros: mongo.Long | number } }>([
      { $currentOp: { allUsers: false, idleSessions: true } },
      { $match: { type: 'idleSession', appName: APP_NAME, transaction: { $exists: true } } },
    ])
    .toArray();
  const now = performance.now();
  const sessions = new Map(open.map(({ lsid, transaction }) => [lsid.id.toString(), { lsid, transaction }]));
  for (const session of seen.keys()) if (!sessions.has(session)) seen.delete(session);
  const abandoned: { id: mongo.UUID }[] = [];
  for (const [session, { lsid, transaction }] of sessions) {
    const activeMicros = Number(transaction.timeActiveMicros);
    const looks = seen.get(session);
    if (looks?.activeMicros !== activeMicros) seen.set(session, { activeMicros, since: now });
    else if (now - looks.since > ABANDONED_AFTER_MS) abandoned.push({ id: lsid.id });
  }
  if (abandoned.length > 0) await admin.command({ killSessions: abandoned });
}
