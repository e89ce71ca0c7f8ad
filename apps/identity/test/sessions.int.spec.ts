import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { useMongo } from '@tollkeeper/testing';
import { cookieOf, PASSWORD, setCookieOf, useIdentity } from './identity.stack.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NEW_PASSWORD = 'a second long password';

describe('sessions', () => {
  const identity = useIdentity(useMongo());

  describe('login', () => {
    it('answers the user and their workspaces, and so does /auth/me', async () => {
      const { email, userId, tenantId, slug, caller } = await identity.newOwner();
      const response = await identity.login(email);
      expect(response.status).toBe(200);
      expect(response.body).toEqual({
        user: {
          ...{ id: userId, login_name: email, email, email_verified: false, name: email.split('@')[0] },
        },
        workspaces: [{ id: tenantId, slug, name: 'Research', role: 'owner', timezone: 'UTC', tracked_labels: [] }],
      });
      const me = await identity.call('get', '/api/v1/auth/me', { as: { ...caller, tenantId: null, role: null } });
      expect(me.body).toEqual(response.body);
    });

    it('sets an opaque cookie of 256 bits: HttpOnly, Lax, Secure, for the whole host, without a domain', async () => {
      const { email } = await identity.newOwner();
      const response = await identity.login(email);
      expect(setCookieOf(response)).toEqual([
        expect.stringMatching(/^gw_session=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
      ]);
    });

    it('takes the e-mail in any case', async () => {
      const { email } = await identity.newOwner();
      expect((await identity.login(email.toUpperCase())).status).toBe(200);
    });

    it('keeps the SHA-256 of the cookie and never the cookie', async () => {
      const { email, userId } = await identity.newOwner();
      const cookie = cookieOf(await identity.login(email));
      const stored = await identity.collection('sessions').find({ userId }).toArray();
      expect(stored.map(({ _id }) => String(_id))).toEqual([createHash('sha256').update(cookie).digest('hex')]);
      expect(JSON.stringify(stored)).not.toContain(cookie);
    });

    it('opens a new session each time and never adopts the one that came along', async () => {
      const { email, userId } = await identity.newOwner();
      const planted = 'A'.repeat(43);
      const first = cookieOf(await identity.login(email, PASSWORD, { cookie: planted }));
      const second = cookieOf(await identity.login(email, PASSWORD, { cookie: first }));
      expect(new Set([planted, first, second]).size).toBe(3);
      expect(await identity.resolve(planted)).toBeNull();
      expect(await identity.resolve(first)).toMatchObject({ userId });
      expect(await identity.resolve(second)).toMatchObject({ userId });
    });

    it('answers a wrong password and an unknown e-mail alike, and sets no cookie', async () => {
      const { email } = await identity.newOwner();
      const wrong = await identity.login(email, 'not the password');
      const unknown = await identity.login('nobody@example.com', 'not the password');
      for (const response of [wrong, unknown]) {
        expect(response.status).toBe(401);
        expect(setCookieOf(response)).toEqual([]);
      }
      expect({ ...wrong.body, request_id: '' }).toEqual({ ...unknown.body, request_id: '' });
    });

    it.each([
      ['no body', undefined, ['']],
      ['an empty one', {}, ['email', 'password']],
      ['operator objects', { email: { $gt: '' }, password: { $ne: null } }, ['email', 'password']],
      ['an endless login name', { email: 'x'.repeat(255), password: 'x' }, ['email']],
      ['an endless password', { email: 'a@example.com', password: 'x'.repeat(513) }, ['password']],
      ['an unknown field', { email: 'a@example.com', password: 'x', remember: true }, ['remember']],
    ])('refuses %s and names the fields', async (_case, body, paths) => {
      const response = await identity.call('post', '/api/v1/auth/login', { body });
      expect(response.status).toBe(400);
      expect((response.body.details as { path: string }[]).map(({ path }) => path)).toEqual(paths);
    });
  });

  describe('a session', () => {
    it('brings the workspaces and roles of its user to the gateway', async () => {
      const owner = await identity.newOwner();
      const cookie = cookieOf(await identity.login(owner.email));
      const body = { slug: `${owner.slug}-2`, name: 'Second' };
      const second = await identity.call('post', '/api/v1/workspaces', { as: owner.caller, body });
      expect(await identity.resolve(cookie)).toEqual({
        userId: owner.userId,
        userName: owner.email.split('@')[0],
        memberships: [
          { tenantId: owner.tenantId, slug: owner.slug, role: 'WORKSPACE_ROLE_OWNER' },
          { tenantId: second.body.id, slug: `${owner.slug}-2`, role: 'WORKSPACE_ROLE_OWNER' },
        ],
      });
    });

    it('ends after 12 hours without use', async () => {
      const cookie = cookieOf(await identity.login((await identity.newOwner()).email));
      identity.clock.now += 12 * HOUR_MS - 1;
      expect(await identity.resolve(cookie)).not.toBeNull();
      identity.clock.now += 12 * HOUR_MS;
      expect(await identity.resolve(cookie)).toBeNull();
    });

    it('ends 7 days after login however much it is used', async () => {
      const cookie = cookieOf(await identity.login((await identity.newOwner()).email));
      const end = identity.clock.now + 7 * DAY_MS;
      while (identity.clock.now + 6 * HOUR_MS < end) {
        identity.clock.now += 6 * HOUR_MS;
        expect(await identity.resolve(cookie)).not.toBeNull();
      }
      identity.clock.now = end;
      expect(await identity.resolve(cookie)).toBeNull();
    });

    it('is written at most once a minute however much it is used', async () => {
      const { email, userId } = await identity.newOwner();
      const cookie = cookieOf(await identity.login(email));
      const endOf = async () => (await identity.collection('sessions').findOne({ userId }))?.['expiresAt'] as Date;
      const first = await endOf();
      identity.clock.now += 59_999;
      await identity.resolve(cookie);
      expect(await endOf()).toEqual(first);
      identity.clock.now += 1;
      await identity.resolve(cookie);
      expect((await endOf()).getTime()).toBe(first.getTime() + 60_000);
    });

    it('is forgotten by the database once it has ended', async () => {
      const indexes = await identity.collection('sessions').indexes();
      expect(indexes).toContainEqual(expect.objectContaining({ key: { expiresAt: 1 }, expireAfterSeconds: 0 }));
    });

    it('is nothing for an unknown cookie, and a malformed digest is refused by name', async () => {
      expect(await identity.resolve('A'.repeat(43))).toBeNull();
      const malformed = identity.client().resolveSession({ sessionSha256: Buffer.from('short') });
      await expect(malformed).rejects.toMatchObject({ code: 'invalid_request', details: [{ path: 'session_sha256' }] });
    });
  });

  describe('logout', () => {
    it('revokes the session of the request at once, and no other', async () => {
      const { email, caller } = await identity.newOwner();
      const cookie = cookieOf(await identity.login(email));
      const other = cookieOf(await identity.login(email));
      const response = await identity.call('post', '/api/v1/auth/logout', { as: caller, cookie });
      expect(response.status).toBe(204);
      expect(setCookieOf(response).join()).toMatch(/^gw_session=; Max-Age=0; Path=\/;/);
      expect(await identity.resolve(cookie)).toBeNull();
      expect(await identity.resolve(other)).not.toBeNull();
    });

    it('cannot be undone by a use that is in progress', async () => {
      const { email, caller } = await identity.newOwner();
      const cookie = cookieOf(await identity.login(email));
      identity.clock.now += HOUR_MS;
      await Promise.all([
        identity.call('post', '/api/v1/auth/logout', { as: caller, cookie }),
        ...Array.from({ length: 10 }, () => identity.resolve(cookie)),
      ]);
      expect(await identity.resolve(cookie)).toBeNull();
    });

    it.each([
      ['post', '/api/v1/auth/logout'],
      ['get', '/api/v1/auth/me'],
      ['post', '/api/v1/auth/password'],
    ] as const)('and all else of an account needs a session: %s %s', async (method, path) => {
      expect((await identity.call(method, path)).status).toBe(401);
    });

    it('is nobody any more once its user is gone', async () => {
      const { caller, userId } = await identity.newOwner();
      await identity.collection('users').deleteOne({ _id: userId });
      const me = await identity.call('get', '/api/v1/auth/me', { as: caller });
      expect([me.status, me.body.code]).toEqual([401, 'unauthenticated']);
    });
  });

  describe('a new password', () => {
    const change = (owner: Awaited<ReturnType<typeof identity.newOwner>>, from: string, to: string, cookie?: string) =>
      identity.call('post', '/api/v1/auth/password', {
        as: owner.caller,
        cookie,
        body: { current_password: from, new_password: to },
      });

    it('replaces the old one and revokes the other sessions of the user alone', async () => {
      const owner = await identity.newOwner();
      const stranger = cookieOf(await identity.login((await identity.newOwner()).email));
      const cookie = cookieOf(await identity.login(owner.email));
      const other = cookieOf(await identity.login(owner.email));
      expect((await change(owner, PASSWORD, NEW_PASSWORD, cookie)).status).toBe(204);
      expect(await identity.resolve(cookie)).not.toBeNull();
      expect(await identity.resolve(other)).toBeNull();
      expect(await identity.resolve(stranger)).not.toBeNull();
      expect((await identity.login(owner.email, PASSWORD)).status).toBe(401);
      expect((await identity.login(owner.email, NEW_PASSWORD)).status).toBe(200);
    });

    it('is refused with a wrong current one, which counts as a failed login', async () => {
      const owner = await identity.newOwner();
      const cookie = cookieOf(await identity.login(owner.email));
      for (let failures = 0; failures < 10; failures += 1) {
        const response = await change(owner, 'not the password', NEW_PASSWORD, cookie);
        expect(response.status).toBe(400);
        expect(response.body.details).toEqual([{ path: 'current_password', message: 'is not your password' }]);
      }
      expect((await change(owner, PASSWORD, NEW_PASSWORD, cookie)).status).toBe(429);
    });

    it('is the one of one change, where several ask for one at the same time', async () => {
      const owner = await identity.newOwner();
      const passwords = [1, 2, 3].map((n) => `${NEW_PASSWORD} ${n}`);
      const responses = await Promise.all(passwords.map((to) => change(owner, PASSWORD, to)));
      expect(responses.map(({ status }) => status).toSorted()).toEqual([204, 400, 400]);
      const taken = passwords[responses.findIndex(({ status }) => status === 204)] ?? '';
      expect((await identity.login(owner.email, taken)).status).toBe(200);
    });

    it('is refused when it is the old one', async () => {
      const owner = await identity.newOwner();
      const response = await change(owner, PASSWORD, PASSWORD);
      expect([response.status, response.body.details]).toEqual([
        400,
        [{ path: 'new_password', message: 'is your current password; choose another' }],
      ]);
    });

    it('has at least 12 characters', async () => {
      const owner = await identity.newOwner();
      const response = await change(owner, PASSWORD, 'x'.repeat(11));
      expect(response.status).toBe(400);
      expect(response.body.details).toEqual([{ path: 'new_password', message: 'must be at least 12 characters' }]);
    });

    it('leaves no session behind that a login with the old one opens at the same time', async () => {
      const owner = await identity.newOwner();
      const [changed, ...logins] = await Promise.all([
        change(owner, PASSWORD, NEW_PASSWORD),
        ...Array.from({ length: 4 }, () => identity.login(owner.email, PASSWORD)),
      ]);
      expect(changed.status).toBe(204);
      for (const login of logins) expect(await identity.resolve(cookieOf(login))).toBeNull();
    });
  });

  it('leaves no password, cookie or digest of one in any log line', async () => {
    const { email } = await identity.newOwner();
    const cookie = cookieOf(await identity.login(email));
    await identity.login(email, 'a wrong and secret password');
    await identity.resolve(cookie);
    const text = identity.logs.text();
    for (const secret of [PASSWORD, 'a wrong and secret password', cookie, '$argon2id']) {
      expect(text).not.toContain(secret);
    }
    expect(text).not.toContain(createHash('sha256').update(cookie).digest('hex'));
  });
});
