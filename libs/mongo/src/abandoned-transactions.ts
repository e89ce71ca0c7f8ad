import type { Connection, mongo } from 'mongoose';
import { APP_NAME } from './connection.ts';

/**
 * The statements of a transaction follow one another at once. If the next one does not arrive within this time, the
 * process has died.
 */
const ABANDONED_AFTER_MS = 3_000;

/** What repeated looks at an open transaction have shown. */
interface Looks {
  /** Total running time of its statements. It grows as long as there are statements. */
  activeMicros: number;
  /** The first look with that running time, by `performance.now()`. */
  since: number;
}

/** By session. Looks are compared, because the server reports only the sum of all pauses of a transaction. */
const seen = new Map<string, Looks>();

/**
 * Checks the open transactions, and ends those that killed processes have left open on the server. Otherwise they would
 * keep their locks for `transactionLifetimeLimitSeconds`, by default a minute. Call it about every second: a
 * transaction is ended when looks over {@link ABANDONED_AFTER_MS} have shown no statement. A process that was only
 * paused finds its transaction aborted and repeats it. Needs no privilege: users see and end their own sessions.
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
