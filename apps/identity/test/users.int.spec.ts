import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@tollkeeper/kernel';
import { connectMongo, withTransaction } from '@tollkeeper/mongo';
import { testLogger, useMongo } from '@tollkeeper/testing';
import type { User } from '../src/domain/user.ts';
import { createModels } from '../src/store/models.ts';
import { claimEmail, createUserStore, fromUser } from '../src/store/user.store.ts';

describe('users', () => {
  const mongo = useMongo();
  const connected = connectMongo({ uri: mongo.uri, database: mongo.newDatabase(), logger: testLogger().logger });
  const models = createModels(connected.connection);
  const users = createUserStore(models, { record: async () => undefined });

  const claim = (userId: string, email: string) =>
    withTransaction(connected.connection, (session) => claimEmail(models.users, userId, email, session));

  beforeAll(() => connected.start());
  afterAll(() => connected.stop());

  async function insert(fields: Partial<User>): Promise<User> {
    const id = newId('user');
    const user = {
      ...{ id, loginName: id.toLowerCase(), name: 'Ada', email: null, emailVerified: false },
      ...{ passwordHash: null, createdAt: new Date(0) },
      ...fields,
    };
    await models.users.create(fromUser(user));
    return user;
  }

  it('are read as they were stored', async () => {
    const user = await insert({ email: 'new@example.com', passwordHash: 'y' });
    expect(await users.findById(user.id)).toEqual(user);
    const bare = await insert({});
    expect(await users.findById(bare.id)).toEqual(bare);
  });

  it('log in with their login name, and with their e-mail only once it is verified and nobody has it as a name', async () => {
    const email = 'claimed@example.com';
    const user = await insert({ email });
    expect(await users.findByLogin(email)).toBeNull();
    await claim(user.id, email);
    expect((await users.findByLogin(email))?.id).toBe(user.id);
    const other = await insert({ loginName: email });
    expect((await users.findByLogin(email))?.id).toBe(other.id);
    expect((await users.findByLogin(user.loginName))?.id).toBe(user.id);
  });

  it('who verify an e-mail take it from all others, who keep the rest', async () => {
    const email = 'taken@example.com';
    const [verified, unverified, owner] = [await insert({ email }), await insert({ email }), await insert({})];
    const named = await insert({ loginName: email, email, passwordHash: 'x' });
    await claim(verified.id, email);
    await claim(owner.id, email);
    await claim(owner.id, email);
    expect(await users.findByVerifiedEmail(email)).toEqual({ ...owner, email, emailVerified: true });
    for (const user of [verified, unverified, named])
      expect(await users.findById(user.id)).toEqual({ ...user, email: null });
  });

  it('who verify one e-mail at the same moment do not share it', async () => {
    const email = 'raced@example.com';
    const racers = await Promise.all(Array.from({ length: 8 }, () => insert({ email })));
    await Promise.all(racers.map(({ id }) => claim(id, email)));
    const holders = await models.users.find({ email }).lean();
    expect(holders.map(({ emailVerified }) => emailVerified)).toEqual([true]);
  });
});
