import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from '@jest/globals';
import mongoose from 'mongoose';
import { MONGO_URI_VARIABLE } from './mongo.variable.ts';

/** A suite's share of the run's `mongod`. */
export interface TestMongo {
  /** Connection string without a database, for `MONGODB_URI`. */
  readonly uri: string;
  /** Name of a database that only this suite uses; dropped after it. */
  readonly database: string;
  /** A mongoose connection to `database`, open from `beforeAll` to `afterAll`. */
  readonly connection: mongoose.Connection;
  /** Name of a further database of this suite, also dropped after it. */
  newDatabase(): string;
}

/**
 * A real `mongod` (replica set, so transactions work) for a suite that calls this at its top level. All suites of a
 * jest run share it, with separate databases. The project's jest.config.js must spread `jest-mongo.preset.js`.
 */
export function useMongo(): TestMongo {
  const uri = process.env[MONGO_URI_VARIABLE];
  if (!uri) {
    throw new Error(
      'No mongod runs: spread @tollkeeper/testing/jest-mongo.preset.js in the jest.config.js of this project.',
    );
  }
  const databases: string[] = [];
  const newDatabase = () => {
    const name = `test_${randomBytes(8).toString('hex')}`;
    databases.push(name);
    return name;
  };
  const database = newDatabase();
  const connection = mongoose.createConnection();
  beforeAll(async () => {
    await connection.openUri(uri, { dbName: database, autoIndex: false, autoCreate: false });
  });
  afterAll(async () => {
    for (const name of databases) await connection.useDb(name).dropDatabase();
    await connection.close();
  });
  return { uri, database, connection, newDatabase };
}
