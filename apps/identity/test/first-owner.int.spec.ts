import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '@tollkeeper/runtime';
import { useMongo } from '@tollkeeper/testing';
import { identityConfig } from '../src/index.ts';
import { PASSWORD, cookieOf, useIdentity } from './identity.stack.ts';

const EMAIL = 'First.Owner@example.com';

describe('the first owner', () => {
  const identity = useIdentity(useMongo(), {
    FIRST_OWNER_EMAIL: EMAIL,
    FIRST_OWNER_PASSWORD: PASSWORD,
    FIRST_WORKSPACE_SLUG: 'platform',
  });
  const count = (name: string) => identity.collection(name).countDocuments();

  it('is made at the start with a workspace of their own, and can log in', async () => {
    const { status, body } = await identity.login(EMAIL);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      user: { email: EMAIL.toLowerCase() },
      workspaces: [{ slug: 'platform', role: 'owner', timezone: 'UTC' }],
    });
  });

  it('keeps the password that they have chosen since, and their sessions, at every later start', async () => {
    const cookie = cookieOf(await identity.login(EMAIL));
    const { userId = '' } = (await identity.resolve(cookie)) ?? {};
    const as = { userId, tenantId: null, role: null };
    const body = { current_password: PASSWORD, new_password: 'another long password' };
    expect((await identity.call('post', '/api/v1/auth/password', { as, cookie, body })).status).toBe(204);
    await identity.restart();
    expect((await identity.login(EMAIL, 'another long password')).status).toBe(200);
    expect((await identity.login(EMAIL)).status).toBe(401);
    expect(await identity.resolve(cookie)).not.toBeNull();
  });

  it('is nobody new once there is a user, whoever that is', async () => {
    await identity.stopService();
    await identity.collection('users').updateOne({}, { $set: { loginName: 'renamed' } });
    await identity.startService();
    expect(await count('users')).toBe(1);
  });

  it('is one, however many replicas start at the same time', async () => {
    await identity.stopService();
    for (const name of ['users', 'workspaces', 'members']) await identity.collection(name).deleteMany({});
    const replicas = Array.from({ length: 4 }, () => identity.newReplica());
    await Promise.all(replicas.map((replica) => replica.start()));
    await Promise.all(replicas.map((replica) => replica.stop()));
    await identity.startService();
    expect([await count('users'), await count('workspaces'), await count('members')]).toEqual([1, 1, 1]);
    expect((await identity.login(EMAIL)).status).toBe(200);
  });

  it('is one, though replicas that start at the same time have settings of their own', async () => {
    await identity.stopService();
    for (const name of ['users', 'workspaces', 'members']) await identity.collection(name).deleteMany({});
    const replicas = ['one', 'two', 'three'].map((name) =>
      identity.newReplica({ FIRST_OWNER_EMAIL: `${name}@example.com`, FIRST_WORKSPACE_SLUG: name }),
    );
    await Promise.all(replicas.map((replica) => replica.start()));
    await Promise.all(replicas.map((replica) => replica.stop()));
    await identity.startService();
    expect([await count('users'), await count('workspaces'), await count('members')]).toEqual([1, 1, 1]);
  });
});

describe('the settings of the first owner', () => {
  const required = {
    MONGODB_URI: 'mongodb://localhost',
    CALLER_TOKEN_SECRET: 's'.repeat(32),
    PUBLIC_URL: 'https://tollkeeper.test',
  };

  it.each([
    ['FIRST_OWNER_PASSWORD', { FIRST_OWNER_EMAIL: EMAIL }],
    ['FIRST_OWNER_EMAIL', { FIRST_OWNER_PASSWORD: PASSWORD }],
  ])('name what is missing: %s', (missing, given) => {
    expect(() => loadConfig(identityConfig, { ...required, ...given })).toThrow(`${missing}: is required but not set`);
  });

  it('take no password that a user could not choose, and do not repeat it', () => {
    const given = { FIRST_OWNER_EMAIL: EMAIL, FIRST_OWNER_PASSWORD: 'too-short' };
    const load = () => loadConfig(identityConfig, { ...required, ...given });
    expect(load).toThrow('FIRST_OWNER_PASSWORD: must be at least 12 characters');
    expect(load).not.toThrow('too-short');
  });
});
