import { describe, expect, it } from '@jest/globals';
import { testLogger, useMongo } from '@tollkeeper/testing';
import { runUserCommand } from '../src/index.ts';
import { cookieOf, PASSWORD, type TestOwner, useIdentity } from './identity.stack.ts';

const RESET = '/api/v1/auth/reset';
const NEW_PASSWORD = 'another long password';
const MINUTE_MS = 60_000;

const mongo = useMongo();
const identity = useIdentity(mongo);
const { login, resolve } = identity;

const change = ({ caller }: TestOwner, cookie: string, body: object) =>
  identity.call('post', '/api/v1/auth/password', { as: { ...caller, tenantId: null, role: null }, cookie, body });

describe('a common password', () => {
  it('is refused wherever one is chosen, with the name of the field', async () => {
    const owner = await identity.newOwner();
    const cookie = cookieOf(await login(owner.email));
    const token = await identity.invite(owner, 'member', `x-${owner.email}`);
    const [path, password] = ['password', '1QAZ2wsx3edc'];
    for (const { status, body } of [
      await change(owner, cookie, { current_password: PASSWORD, new_password: password }),
      await identity.accept(token, { body: { name: 'Ada', password } }),
      await identity.call('post', RESET, { body: { token: 'tk_reset_x', new_password: password } }),
    ]) {
      expect(status).toBe(400);
      expect(body.details).toEqual([
        { path: expect.stringContaining(path), message: expect.stringContaining('most common') },
      ]);
    }
  });
});

describe('sessions of one’s own', () => {
  const PATH = '/api/v1/auth/sessions';
  interface Item {
    id: string;
    current: boolean;
  }
  const mine = async ({ caller }: TestOwner, cookie: string) =>
    (await identity.call('get', PATH, { as: caller, cookie })).body.items as Item[];

  it('are listed newest first, with when and where they were opened and used, and no secret', async () => {
    const owner = await identity.newOwner();
    const first = cookieOf(await login(owner.email, PASSWORD, { address: '198.51.100.3' }));
    identity.clock.now += MINUTE_MS;
    const second = cookieOf(await login(owner.email));
    await login((await identity.newOwner()).email);
    identity.clock.now += MINUTE_MS;
    await resolve(first);
    const items = await mine(owner, second);
    const at = (ms: number) => new Date(identity.clock.now + ms).toISOString();
    const id = expect.stringMatching(/^ses_[0-9a-f]{20}$/);
    const user_agent = '';
    expect(items).toEqual([
      {
        ...{ id, user_agent, address: expect.stringMatching(/^2001:db8:/), current: true },
        ...{
          created_at: at(-MINUTE_MS),
          last_seen_at: at(-MINUTE_MS),
          expires_at: at(12 * 60 * MINUTE_MS - MINUTE_MS),
        },
      },
      {
        ...{ id, user_agent, address: '198.51.100.3', current: false },
        ...{ created_at: at(-2 * MINUTE_MS), last_seen_at: at(0), expires_at: at(12 * 60 * MINUTE_MS) },
      },
    ]);
    const stored = await identity.collection('sessions').find({ userId: owner.userId }).toArray();
    for (const { _id } of stored) expect(JSON.stringify(items)).not.toContain(String(_id).slice(0, 8));
  });

  it('end one by one, or all but the one that asks; those of others are not to be found', async () => {
    const [owner, other] = [await identity.newOwner(), await identity.newOwner()];
    const cookies = [];
    for (let index = 0; index < 4; index += 1) cookies.push(cookieOf(await login(owner.email)));
    const [asking, one] = cookies as [string, string];
    const ofOther = cookieOf(await login(other.email));
    const [{ id } = { id: '' }] = (await mine(owner, one)).filter(({ current }) => current);
    const end = (as: TestOwner) => identity.call('delete', `${PATH}/${id}`, { as: as.caller, cookie: asking });
    expect((await end(other)).status).toBe(404);
    expect((await end(owner)).status).toBe(204);
    expect((await end(owner)).status).toBe(404);
    expect(await resolve(one)).toBeNull();
    expect(await mine(owner, asking)).toHaveLength(3);
    expect((await identity.call('delete', PATH, { as: owner.caller, cookie: asking })).status).toBe(204);
    expect(await mine(owner, asking)).toMatchObject([{ current: true }]);
    expect(await resolve(ofOther)).not.toBeNull();
  });

  it.each([
    ['get', PATH],
    ['delete', PATH],
    ['delete', `${PATH}/ses_1`],
  ] as const)('need a session: %s %s', async (method, path) => {
    expect((await identity.call(method, path)).status).toBe(401);
  });
});

describe('a link to reset a password', () => {
  /** The token of the link that the operators' command prints. */
  async function linkFor(name: string): Promise<string> {
    const printed = await runUserCommand(['reset-link', '--email', name], {
      config: { MONGODB_URI: mongo.uri, MONGODB_DATABASE: identity.database, PUBLIC_URL: 'https://tollkeeper.test' },
      logger: testLogger().logger,
      clock: () => identity.clock.now,
    });
    return /^https:\/\/tollkeeper\.test\/reset#(tk_reset_[\w-]{43})$/m.exec(printed)?.[1] ?? printed;
  }
  const reset = (token: string, options: object = {}) =>
    identity.call('post', RESET, { body: { token, new_password: NEW_PASSWORD }, ...options });

  it('is made by an operator, sets a new password, and ends all sessions of the user', async () => {
    const [owner, other] = [await identity.newOwner(), await identity.newOwner()];
    const cookies = [cookieOf(await login(owner.email)), cookieOf(await login(owner.email))];
    const ofOther = cookieOf(await login(other.email));
    const { status, body } = await reset(await linkFor(owner.email.toUpperCase()));
    expect([status, body]).toEqual([200, { login_name: owner.email }]);
    for (const cookie of cookies) expect(await resolve(cookie)).toBeNull();
    expect(await resolve(ofOther)).not.toBeNull();
    expect((await login(owner.email)).status).toBe(401);
    const opened = await login(owner.email, NEW_PASSWORD);
    expect(opened.body.user).toMatchObject({ email_verified: false });
  });

  it('of 20 who use it at the same moment works for one, and a log-in meanwhile leaves no session', async () => {
    const owner = await identity.newOwner();
    const token = await linkFor(owner.email);
    const [answers, opened] = await Promise.all([
      Promise.all(Array.from({ length: 20 }, () => reset(token))),
      Promise.all(Array.from({ length: 5 }, () => login(owner.email))),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(404)]);
    for (const each of opened) if (each.status === 200) expect(await resolve(cookieOf(each))).toBeNull();
  });

  it.each(['used', 'expired', 'replaced', 'never there', 'an invitation'])(
    'that is %s is answered like any other that does not work, and changes nothing',
    async (how) => {
      const owner = await identity.newOwner();
      let token = await linkFor(owner.email);
      if (how === 'expired') identity.clock.now += 30 * MINUTE_MS;
      if (how === 'replaced') await linkFor(owner.email);
      if (how === 'never there') token = `tk_reset_${'A'.repeat(43)}`;
      if (how === 'an invitation') token = await identity.invite(owner, 'member', `x-${owner.email}`);
      if (how === 'used') {
        const body = { token, new_password: PASSWORD };
        await identity.call('post', RESET, { body });
      }
      const { status, body } = await reset(token);
      expect([status, body.error]).toEqual([404, expect.stringContaining('This link is not valid')]);
      expect((await login(owner.email)).status).toBe(200);
    },
  );

  it('cannot be guessed at: an address is stopped after ten failures', async () => {
    const token = await linkFor((await identity.newOwner()).email);
    const address = '203.0.113.78';
    for (let index = 0; index < 10; index += 1)
      expect((await reset(`tk_reset_${index}`, { address })).status).toBe(404);
    expect((await reset(token, { address })).status).toBe(429);
    expect((await reset(token)).status).toBe(200);
  });

  it('is stored as its SHA-256 alone, and is in no log', async () => {
    const token = await linkFor((await identity.newOwner()).email);
    expect(JSON.stringify(await identity.collection('password_resets').find().toArray())).not.toContain(token);
    await reset(token);
    expect(identity.logs.text()).not.toContain(token.slice(-20));
  });

  it.each([
    ['nobody', ['reset-link', '--email', 'nobody@example.com'], 'or the verified e-mail nobody@example.com'],
    ['another command', ['delete', '--email', 'x'], 'Usage: reset-link'],
    ['no name', ['reset-link'], 'Usage: reset-link'],
    ['an unknown option', ['reset-link', '--mail', 'x'], 'Usage: reset-link'],
  ])('is not made for %s, and the command says why', async (_what, args, message) => {
    const config = { MONGODB_URI: mongo.uri, MONGODB_DATABASE: identity.database, PUBLIC_URL: 'https://t.test' };
    const run = runUserCommand(args, { config, logger: testLogger().logger });
    await expect(run).rejects.toThrow(message);
  });
});
