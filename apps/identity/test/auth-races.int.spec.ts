import { createAuditTrail } from '@tollkeeper/audit-trail';
import { systemCause } from '@tollkeeper/contracts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@tollkeeper/kernel';
import { connectMongo } from '@tollkeeper/mongo';
import { testLogger, useMongo } from '@tollkeeper/testing';
import { createAuthUseCases } from '../src/domain/auth.use-cases.ts';
import { createPasswordHasher, type PasswordHasher } from '../src/domain/password.hasher.ts';
import { draftUser } from '../src/domain/user.ts';
import { createAttemptLimiter } from '../src/store/attempt.limiter.ts';
import { createModels } from '../src/store/models.ts';
import { createAccountTrail } from '../src/store/account.trail.ts';
import { createLinkStore } from '../src/store/link.store.ts';
import { createSessionStore } from '../src/store/session.store.ts';
import { createUserStore, fromUser } from '../src/store/user.store.ts';
import { createWorkspaceStore } from '../src/store/workspace.store.ts';
import { PASSWORD } from './identity.stack.ts';

const CAUSE = systemCause('user.password.change', 'test');
const REQUEST = { ...CAUSE, action: 'session.create' } as const;

/** These tests depend on the order of events, so they delay the check of the password. */
describe('a login while its password is being checked', () => {
  const mongo = useMongo();
  const connected = connectMongo({ uri: mongo.uri, database: mongo.newDatabase(), logger: testLogger().logger });
  const models = createModels(connected.connection);
  const trail = createAuditTrail({
    connection: connected.connection,
    eventLog: { ensureTopic: async () => undefined, append: async () => undefined },
    logger: testLogger().logger,
  });
  const accounts = createAccountTrail(models, trail);
  const users = createUserStore(models, accounts);
  const limiter = createAttemptLimiter(connected.connection);
  const clock = Date.now;
  const plainHasher = createPasswordHasher();

  beforeAll(async () => {
    await connected.start();
    await limiter.start();
  });
  afterAll(() => connected.stop());

  const passwordPolicy = { allowed: 'all', breakGlass: null } as const;

  /**
   * A login whose password check ends when `release` is called. `checked` resolves once the check is done internally.
   */
  function heldLogin(email: string) {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: checked, resolve: check } = Promise.withResolvers<void>();
    const hasher: PasswordHasher = {
      hash: plainHasher.hash,
      async verify(password, hash) {
        const right = await plainHasher.verify(password, hash);
        check();
        await released;
        return right;
      },
    };
    const stores = {
      users,
      sessions: createSessionStore(models, accounts),
      workspaces: createWorkspaceStore(models, trail),
      onRefused: () => undefined,
    };
    const auth = createAuthUseCases({ ...stores, hasher, limiter, passwordPolicy, clock });
    return {
      login: auth.login({ login: email, address: newId('req'), userAgent: '' }, PASSWORD, REQUEST),
      checked,
      release,
    };
  }

  async function newUser() {
    const email = `${newId('user').slice(5).toLowerCase()}@example.com`;
    const user = await draftUser({ hasher: plainHasher, clock }, { email, password: PASSWORD });
    await models.users.create(fromUser(user));
    return user;
  }

  it('costs as much for an unknown e-mail as for a wrong password: one check of a hash', async () => {
    const checks: (string | null)[] = [];
    const hasher: PasswordHasher = {
      ...plainHasher,
      async verify(_password, hash) {
        checks.push(hash);
        return false;
      },
    };
    const stores = {
      users,
      sessions: createSessionStore(models, accounts),
      workspaces: createWorkspaceStore(models, trail),
      onRefused: () => undefined,
    };
    const auth = createAuthUseCases({ ...stores, hasher, limiter, passwordPolicy, clock });
    const user = await newUser();
    for (const name of [user.loginName, 'nobody@example.com']) {
      const login = auth.login({ login: name, address: newId('req'), userAgent: '' }, PASSWORD, REQUEST);
      await expect(login).rejects.toMatchObject({ code: 'unauthenticated' });
    }
    expect(checks).toEqual([user.passwordHash, null]);
  });

  it('opens no session when the password is changed meanwhile', async () => {
    const user = await newUser();
    const { login, checked, release } = heldLogin(user.loginName);
    const refused = expect(login).rejects.toMatchObject({ code: 'unauthenticated' });
    await checked;
    const to = await plainHasher.hash('another long password');
    expect(await users.changePassword(user.id, { from: user.passwordHash, to, keepSession: null }, CAUSE)).toBe(true);
    release();
    await refused;
    expect(await models.sessions.countDocuments({ userId: user.id })).toBe(0);
  });

  it('links no one when its account gets another password meanwhile', async () => {
    const user = await newUser();
    const links = createLinkStore(models, accounts);
    const person = { issuer: 'https://id.example', subject: newId('req'), email: null, emailProven: false, name: null };
    const by = { providerId: 'try', address: null, userAgent: null, requestId: null };
    const link = (passwordHash: string | null) => links.link(person, { id: user.id, passwordHash }, new Date(), by);
    const to = await plainHasher.hash('another long password');
    expect(await users.changePassword(user.id, { from: user.passwordHash, to, keepSession: null }, CAUSE)).toBe(true);
    await expect(link(user.passwordHash)).rejects.toMatchObject({ code: 'conflict' });
    expect(await links.findUser(person)).toBeNull();
    expect(await link(to)).toBe(true);
  });

  it('opens no session when ten other guesses fail meanwhile, though its own is right', async () => {
    const user = await newUser();
    const { login, checked, release } = heldLogin(user.loginName);
    const refused = expect(login).rejects.toMatchObject({ code: 'rate_limited' });
    await checked;
    for (let failures = 0; failures < 10; failures += 1) {
      await limiter.recordFailure({ login: user.loginName, address: newId('req') });
    }
    release();
    await refused;
    expect(await models.sessions.countDocuments({ userId: user.id })).toBe(0);
  });
});
