import { setTimeout as delay } from 'node:timers/promises';
import type { Component, Logger } from '@tollkeeper/runtime';
import { type Connection, Error as MongooseError, Mongoose } from 'mongoose';
import { wakeCommandsOfClosedConnections } from './closed-connections.ts';
import { ensureIndexes } from './indexes.ts';
import { explainOutage } from './outage.ts';

wakeCommandsOfClosedConnections();

export interface MongoOptions {
  /** `mongodb://` or `mongodb+srv://` URI of a replica set. A database in it is ignored. */
  uri: string;
  database: string;
  logger: Logger;
  /** Milliseconds to find a primary before an operation fails. */
  serverSelectionTimeoutMs?: number;
  maxPoolSize?: number;
}

/** A connection to one database. */
export interface MongoConnection extends Component {
  /** Register models on it before `start`; operations on a connection that is not started reject. */
  readonly connection: Connection;
  /** Rejects when the primary does not answer. */
  ping(): Promise<void>;
}

/** Milliseconds between two attempts to reach the server at the start. */
const RETRY_INTERVAL_MS = 1_000;

/** The name that the server shows for the connections of all services. */
export const APP_NAME = 'tollkeeper';

/** Shorter than the timeout of readiness probes, which is a few seconds. */
const PING_TIMEOUT_MS = 2_000;

/**
 * A connection with its own bounded pool. Writes are acknowledged once a majority has them in the journal, so an
 * acknowledged write survives `kill -9` of the server.
 *
 * Filters are cast by the schema, a field that the schema does not know rejects, and an object with operators is
 * compared as a value. Where a query needs `$gte` and the like, the store wraps it in mongoose's `trusted()`.
 *
 * While no primary answers, operations reject within about 12 s, and most within 5, with errors that `explainOutage`
 * recognizes. They succeed again automatically once a primary answers.
 *
 * `start` waits until the server can be reached and has a primary, logs each attempt, and creates the collections and
 * indexes of the models on the connection. If the server refuses the user, or is not a replica set (which transactions
 * need), it rejects with a sentence that says what to do.
 */
export function connectMongo({
  uri,
  database,
  logger,
  serverSelectionTimeoutMs = 5_000,
  maxPoolSize = 20,
}: MongoOptions): MongoConnection {
  // An instance of its own, because mongoose keeps these settings per instance and not per connection.
  const mongoose = new Mongoose({
    strictQuery: 'throw',
    sanitizeFilter: true,
    autoIndex: false,
    autoCreate: false,
    bufferCommands: false,
  });
  const connection = mongoose.createConnection();
  const address = withoutCredentials(uri);
  const givenUp = new AbortController();
  let started = false;
  connection.on('disconnected', () => {
    if (started) logger.warn({ database }, 'MongoDB does not answer; operations fail until it is back');
  });
  connection.on('reconnected', () => logger.info({ database }, 'MongoDB answers again'));

  async function open(): Promise<void> {
    if (connection.readyState === mongoose.STATES.connected) return;
    await connection.openUri(uri, {
      dbName: database,
      appName: APP_NAME,
      serverSelectionTimeoutMS: serverSelectionTimeoutMs,
      // A server that hangs without closing its sockets is given up after one heartbeat and the connect timeout.
      // Waiting operations then fail, so no request hangs longer than that plus the server selection.
      heartbeatFrequencyMS: 2_000,
      connectTimeoutMS: 5_000,
      maxPoolSize,
      // Limits how long an operation waits for a connection when all are in use.
      waitQueueTimeoutMS: serverSelectionTimeoutMs,
      writeConcern: { w: 'majority', journal: true },
    });
  }

  async function ping(): Promise<void> {
    if (connection.db === undefined) throw new Error('MongoDB is not connected');
    const late = AbortSignal.timeout(PING_TIMEOUT_MS);
    await connection.db.command({ ping: 1 }, { signal: late }).catch((cause: unknown) => {
      // The driver's own message would say that the socket "timed out (undefinedms)".
      throw late.aborted ? new Error(`MongoDB did not answer within ${PING_TIMEOUT_MS} ms`, { cause }) : cause;
    });
  }

  return {
    name: `mongo:${database}`,
    connection,
    async start() {
      for (;;) {
        try {
          await open();
          await requireReplicaSet(connection, address);
          await ensureIndexes(Object.values(connection.models));
          started = true;
          return;
        } catch (err) {
          const failure = explainFailure(err, address);
          if (givenUp.signal.aborted || !isPassing(err)) throw failure;
          logger.warn(`${failure.message} Trying again`);
          await delay(RETRY_INTERVAL_MS, undefined, { signal: givenUp.signal }).catch(() => undefined);
        }
      }
    },
    drain: () => givenUp.abort(),
    async stop() {
      started = false;
      await connection.close();
    },
    ping,
    ready: ping,
  };
}

/** The server is in a replica set that has not been initiated yet. */
class NotInitiated extends Error {}

/** Its message needs no further explanation. */
class NoReplicaSet extends Error {}

async function requireReplicaSet(connection: Connection, address: string): Promise<void> {
  const hello = await connection.db?.command({ hello: 1 });
  if (hello?.['setName'] !== undefined || hello?.['msg'] === 'isdbgrid') return;
  if (hello?.['isreplicaset'] === true) throw new NotInitiated('its replica set is not initiated');
  throw new NoReplicaSet(
    `MongoDB at ${address} is not a replica set, which Tollkeeper needs for transactions. ` +
      'Start mongod with --replSet rs0 and run rs.initiate() once; a single node is enough.',
  );
}

/** Whether a retry can succeed without a change of settings. */
function isPassing(err: unknown): boolean {
  return (
    err instanceof NotInitiated ||
    err instanceof MongooseError.MongooseServerSelectionError ||
    explainOutage(err) !== undefined
  );
}

function explainFailure(cause: unknown, address: string): Error {
  if (cause instanceof NoReplicaSet) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Error(
    `MongoDB at ${address} cannot be used: ${reason}. Check that it runs and that MONGODB_URI is right (host, port, user, TLS).`,
    { cause },
  );
}

/** The address for messages: without user, password and options. */
export function withoutCredentials(uri: string): string {
  return uri.replace(/\/\/.*@/, '//').replace(/\?.*/, '');
}
