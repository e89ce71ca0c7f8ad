import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { eventually, testLogger, useMongo } from '@tollkeeper/testing';
import { Schema } from 'mongoose';
import { connectMongo, type MongoConnection } from './connection.ts';
import { ensureIndexes } from './indexes.ts';

const testMongo = useMongo();
const { logger } = testLogger();

async function withMongo(use: (mongo: MongoConnection) => Promise<void>, uri = testMongo.uri): Promise<void> {
  const mongo = connectMongo({ uri, database: testMongo.database, logger, serverSelectionTimeoutMs: 1_000 });
  try {
    await use(mongo);
  } finally {
    await mongo.stop();
  }
}

describe('a connection to MongoDB', () => {
  it('makes the collections and indexes of its models at start and answers a ping', () =>
    withMongo(async (mongo) => {
      const model = mongo.connection.model(
        'Account',
        new Schema({ email: String }).index({ email: 1 }, { unique: true }),
      );
      await mongo.start();
      await mongo.ping();
      expect(await model.listIndexes()).toContainEqual(expect.objectContaining({ key: { email: 1 }, unique: true }));
    }));

  it('gives an existing TTL index the age that the model declares now', () =>
    withMongo(async (mongo) => {
      const model = mongo.connection.model(
        'Session',
        new Schema({ at: Date }).index({ at: 1 }, { expireAfterSeconds: 60 }),
      );
      await mongo.start();
      model.schema.clearIndexes();
      model.schema.index({ at: 1 }, { expireAfterSeconds: 30 });
      await ensureIndexes([model]);
      expect(await model.listIndexes()).toContainEqual(expect.objectContaining({ expireAfterSeconds: 30 }));
    }));

  it('refuses to change any other index automatically', () =>
    withMongo(async (mongo) => {
      const model = mongo.connection.model('User', new Schema({ email: String }).index({ email: 1 }));
      await mongo.start();
      model.schema.clearIndexes();
      model.schema.index({ email: 1 }, { unique: true });
      await expect(ensureIndexes([model])).rejects.toThrow('existing index');
    }));

  it('never lets a value in a filter act as an operator, and refuses fields that the schema does not know', () =>
    withMongo(async (mongo) => {
      const model = mongo.connection.model('Note', new Schema({ text: String, tags: Schema.Types.Mixed }));
      await mongo.start();
      await model.create({ text: 'hidden', tags: 'a' });
      await expect(model.find({ text: { $ne: '' } as never })).rejects.toThrow('Cast to string failed');
      expect(await model.find({ tags: { $ne: '' } as never })).toEqual([]);
      await expect(model.find({ unknown: 1 } as never)).rejects.toThrow('not in schema');
    }));

  it('waits at its start for a server that does not answer, and names the address, without the password, and the way out', async () => {
    const { logger, text } = testLogger();
    const uri = 'mongodb://admin:hunter2@127.0.0.1:1/?replicaSet=rs0';
    const mongo = connectMongo({ uri, database: testMongo.database, logger, serverSelectionTimeoutMs: 100 });
    const failure = mongo.start();
    await eventually(() => expect(text().match(/Trying again/g)).toHaveLength(2));
    expect(text()).toMatch(/mongodb:\/\/127\.0\.0\.1:1\/ cannot be used: .* MONGODB_URI/);
    await expect(mongo.ping()).rejects.toThrow('not connected');
    mongo.drain?.();
    await expect(failure).rejects.toThrow('cannot be used');
    await expect(failure).rejects.not.toThrow('hunter2');
    expect(text()).not.toContain('hunter2');
    await mongo.stop();
  });

  it('tries a command again that meets a connection which has ended and was not yet seen to be closed', async () => {
    const sockets: Socket[] = [];
    const collect = (message: unknown) => void sockets.push((message as { socket: Socket }).socket);
    subscribe('net.client.socket', collect);
    try {
      await withMongo(async (mongo) => {
        await mongo.start();
        const items = mongo.connection.collection<{ _id: number }>('items');
        await items.findOne({ _id: 1 });
        for (const socket of sockets) socket.destroy();
        const found: unknown[] = [];
        for (let id = 0; id < 10; id += 1) void items.findOne({ _id: id }).then((item) => found.push(item));
        await eventually(() => expect(found).toHaveLength(10));
      });
    } finally {
      unsubscribe('net.client.socket', collect);
    }
  });

  it('does not wait for a server that refuses its user', () =>
    withMongo(
      async (mongo) => expect(mongo.start()).rejects.toThrow(/Authentication failed.* MONGODB_URI/),
      testMongo.uri.replace(/\/\/[^@]*@/, '//nobody:wrong-password@'),
    ));
});
