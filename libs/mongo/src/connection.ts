import type { Component, Logger } from '@tollkeeper/runtime';
import { Mongoose, type Connection } from 'mongoose';
import { ensureIndexes } from './indexes.ts';

export interface MongoOptions {
  /** `mongodb://` or `mongodb+srv://` address of a replica set. A database named in it is not used. */
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

/**
 * A connection with its own bounded pool. Writes are acknowledged once a majority has them in the journal, so an
 * acknowledged write survives `kill -9` of the server.
 *
 * Filters are cast by the schema, a field that the schema does not know rejects, and an object with operators is compared
 * as a value: where a query needs `$gte` and the like, the store wraps it in mongoose's `trusted()`.
 *
 * `start` rejects with a sentence that says what to do when no server answers, or when it is not a replica set
 * (transactions need one). Then it makes the collections and indexes of the models registered on the connection.
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
  let started = false;
  connection.on('disconnected', () => {
    if (started) logger.warn({ database }, 'MongoDB does not answer; operations fail until it is back');
  });
  connection.on('reconnected', () => logger.info({ database }, 'MongoDB answers again'));

  async function ping(): Promise<void> {
    if (connection.db === undefined) throw new Error('MongoDB is not connected');
    await connection.db.command({ ping: 1 }, { signal: AbortSignal.timeout(serverSelectionTimeoutMs) });
  }

  return {
    name: `mongo:${database}`,
    connection,
    async start() {
      const address = withoutCredentials(uri);
      try {
        await connection.openUri(uri, {
          dbName: database,
          appName: 'tollkeeper',
          serverSelectionTimeoutMS: serverSelectionTimeoutMs,
          // A server that hangs without closing its sockets is given up after this and one heartbeat (10 s).
          connectTimeoutMS: 10_000,
          maxPoolSize,
          writeConcern: { w: 'majority', journal: true },
        });
      } catch (cause) {
        throw new Error(
          `MongoDB at ${address} cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}. ` +
            'Check that it runs and that MONGODB_URI is right (host, port, user, TLS).',
          { cause },
        );
      }
      await requireReplicaSet(connection, address);
      await ensureIndexes(Object.values(connection.models));
      started = true;
    },
    async stop() {
      started = false;
      await connection.close();
    },
    ping,
    ready: ping,
  };
}

async function requireReplicaSet(connection: Connection, address: string): Promise<void> {
  const hello = await connection.db?.command({ hello: 1 });
  if (hello?.['setName'] !== undefined || hello?.['msg'] === 'isdbgrid') return;
  await connection.close();
  throw new Error(
    `MongoDB at ${address} is not a replica set, and Tollkeeper needs transactions. ` +
      'Start mongod with --replSet rs0 and run rs.initiate() once; a single node is enough.',
  );
}

/** The address as messages may show it: no user, no password, no options. */
function withoutCredentials(uri: string): string {
  return uri.replace(/\/\/.*@/, '//').replace(/\?.*/, '');
}
