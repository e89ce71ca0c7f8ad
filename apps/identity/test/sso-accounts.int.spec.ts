import { beforeAll, describe, expect, it } from '@jest/globals';
import { testLogger, useMongo } from '@tollkeeper/testing';
import { runUserCommand } from '../src/index.ts';
import { cookieOf, PASSWORD } from './identity.stack.ts';
import {
  type Browser,
  locationOf,
  pathOf,
  PUBLIC_URL,
  type SingleSignOn,
  useProvider,
  useSingleSignOn,
} from './sso.stack.ts';

const mongo = useMongo();
const provider = useProvider();

beforeAll(() =>
  provider().setPeople({
    ann: { email: 'ann@corp.test', email_verified: true, name: 'Ann' },
    ben: { email: 'ben@corp.test', email_verified: true },
    cat: { email: 'cat@corp.test', name: 'Cat' },
    dan: { email: 'dan@trusted.test' },
    eve: { email: 'victim@corp.test' },
    fay: {},
    gus: { email: 'gus@corp.test', email_verified: true },
    hal: { email: 'hal@corp.test', email_verified: true },
    ida: { email: 'ida@corp.test', email_verified: true },
    lea: { email: 'lea@corp.test', email_verified: true },
  }),
);

const noMapping = () => [provider().settings({ mapping: [] })];

/** An account with a workspace of its own, whose e-mail nobody has verified. */
async function newAccount(sso: SingleSignOn, email: string, { verified = false } = {}): Promise<string> {
  const slug = `w-${email.replaceAll(/[^a-z]/g, '-')}`;
  const { userId } = await sso.ensureOwner({ email, password: PASSWORD, workspace: { slug, name: slug } });
  if (verified) {
    const change = { $set: { email, emailVerified: true } };
    await sso.collection('users').updateOne({ _id: userId }, change);
  }
  return userId;
}

const userOf = async (sso: SingleSignOn, browser: Browser) =>
  (await sso.resolve(browser.cookies.get('gw_session') ?? ''))?.userId;

const linkOf = (response: Parameters<typeof locationOf>[0]) =>
  `/api/v1/auth/oidc/links/${locationOf(response).searchParams.get('link')}`;

describe('a first log-in by a provider, where nobody signs up', () => {
  const sso = useSingleSignOn(mongo, noMapping, { OIDC_TRUSTED_DOMAINS: 'trusted.test' });

  it('goes to the account whose verified e-mail it proves, and later ones too, whatever the e-mail is then', async () => {
    const userId = await newAccount(sso, 'ann@corp.test', { verified: true });
    const browser = sso.newBrowser();
    const response = await browser.logIn('ann', { returnTo: '/w/alpha/budgets?range=3m' });
    expect(pathOf(response)).toBe(`/login/done?next=${encodeURIComponent('/w/alpha/budgets?range=3m')}`);
    expect(await userOf(sso, browser)).toBe(userId);

    await sso.collection('users').updateOne({ _id: userId }, { $set: { email: 'new@corp.test' } });
    const later = sso.newBrowser();
    await later.logIn('ann');
    expect(await userOf(sso, later)).toBe(userId);
  });

  it('never shares an account that somebody made under the e-mail: its password is to be proven, once', async () => {
    const userId = await newAccount(sso, 'ben@corp.test');
    const browser = sso.newBrowser();
    const response = await browser.logIn('ben');
    expect(locationOf(response).pathname).toBe('/login/link');
    expect(browser.cookies.has('gw_session')).toBe(false);
    const link = linkOf(response);
    expect((await browser.ask('get', link)).body).toEqual({
      provider: 'Log in with the provider for trying',
      email: 'ben@corp.test',
      may_be_new: false,
    });
    expect((await browser.ask('post', `${link}:signUp`)).status).toBe(403);
    const wrong = await browser.ask('post', `${link}:prove`, { login: 'ben@corp.test', password: 'not-the-password' });
    expect(wrong.status).toBe(401);
    const right = await browser.ask('post', `${link}:prove`, { login: 'ben@corp.test', password: PASSWORD });
    expect([right.status, right.body]).toEqual([200, { return_to: '/w/alpha' }]);
    expect(await userOf(sso, browser)).toBe(userId);

    const later = sso.newBrowser();
    expect(locationOf(await later.logIn('ben')).pathname).toBe('/login/done');
    expect(await userOf(sso, later)).toBe(userId);
    const again = { login: 'ben@corp.test', password: PASSWORD };
    expect((await browser.ask('post', `${link}:prove`, again)).status).toBe(404);
  });

  it('reveals to no one whether there is an account with an e-mail that is not theirs', async () => {
    const answers = [];
    for (const [person, email] of [
      ['eve', 'victim@corp.test'],
      ['cat', 'cat@corp.test'],
    ] as const) {
      if (person === 'eve') await newAccount(sso, email, { verified: true });
      const browser = sso.newBrowser();
      const link = linkOf(await browser.logIn(person));
      const { body } = await browser.ask('get', link);
      const refused = await browser.ask('post', `${link}:prove`, { login: email, password: 'a wrong password' });
      const { error } = refused.body as { error: string };
      answers.push([(body as { may_be_new: boolean }).may_be_new, refused.status, error]);
    }
    expect(answers[0]).toEqual(answers[1]);
  });

  it('believes a provider about an e-mail of a trusted domain', async () => {
    const userId = await newAccount(sso, 'dan@trusted.test', { verified: true });
    const browser = sso.newBrowser();
    await browser.logIn('dan');
    expect(await userOf(sso, browser)).toBe(userId);
  });

  it('is refused in words where there is no account', async () => {
    const browser = sso.newBrowser();
    const response = await browser.logIn('hal');
    expect(await browser.failureOf(response)).toEqual({ code: 'no_account', facts: { person: 'hal@corp.test' } });
    const other = sso.newBrowser();
    expect(await other.failureOf(await other.logIn('fay'))).toEqual({
      code: 'no_account',
      facts: { person: 'fay' },
    });
    expect(await sso.collection('oidc_identities').countDocuments({ subject: { $in: ['hal', 'fay'] } })).toBe(0);
  });

  it('makes an account for whoever was invited under the e-mail that they prove', async () => {
    const owner = await sso.newOwner();
    await sso.invite(owner, 'admin', 'lea@corp.test');
    const browser = sso.newBrowser();
    expect(locationOf(await browser.logIn('lea')).pathname).toBe('/login/done');
    // They join only when they accept.
    expect(await sso.resolve(browser.cookies.get('gw_session') ?? '')).toMatchObject({ memberships: [] });
  });

  it('leaves an account that is to be proven to the browser that logged in', async () => {
    await newAccount(sso, 'gus@corp.test');
    const link = linkOf(await sso.newBrowser().logIn('gus'));
    const other = sso.newBrowser();
    await other.start();
    expect((await other.ask('get', link)).status).toBe(404);
    const proof = { login: 'gus@corp.test', password: PASSWORD };
    expect((await other.ask('post', `${link}:prove`, proof)).status).toBe(404);
    expect((await other.ask('post', `${link}:signUp`)).status).toBe(404);
  });

  it('lets a proof be tried for 10 minutes, and counts wrong passwords as every log-in does', async () => {
    await newAccount(sso, 'ida@corp.test');
    const browser = sso.newBrowser();
    const link = linkOf(await browser.logIn('ida'));
    const statuses = new Set<number>();
    for (let guess = 0; guess < 11; guess += 1) {
      const body = { login: 'ida@corp.test', password: `guess number ${guess}` };
      statuses.add((await browser.ask('post', `${link}:prove`, body)).status);
    }
    expect([...statuses]).toEqual([401, 429]);
    sso.clock.now += 600_000;
    expect((await browser.ask('get', link)).status).toBe(404);
    sso.clock.now -= 600_000;
  });
});

describe('a reset of the password of an account', () => {
  const sso = useSingleSignOn(mongo, noMapping, { OIDC_SIGN_UP: 'true' });

  it('unlinks whoever was linked by the password from before, with the e-mail that they brought', async () => {
    await provider().setPeople({ mal: { email: 'mal@corp.test', email_verified: true } });
    const userId = await newAccount(sso, 'victim@corp.test');
    const thief = sso.newBrowser();
    const link = linkOf(await logInUnproven(thief));
    const proof = { login: 'victim@corp.test', password: PASSWORD };
    expect((await thief.ask('post', `${link}:prove`, proof)).status).toBe(200);
    expect(await userOf(sso, thief)).toBe(userId);

    const command = await runUserCommand(['reset-link', '--email', 'victim@corp.test'], {
      config: { MONGODB_URI: mongo.uri, MONGODB_DATABASE: sso.database, PUBLIC_URL },
      logger: testLogger().logger,
      clock: () => sso.clock.now,
    });
    const body = { token: /#(\S+)/.exec(command)?.[1] ?? '', new_password: 'another long password' };
    expect((await sso.call('post', '/api/v1/auth/reset', { body })).status).toBe(200);
    expect(await userOf(sso, thief)).toBeUndefined();
    const later = sso.newBrowser();
    await later.logIn('mal');
    expect(await userOf(sso, later)).not.toBe(userId);
  });

  /** Uses an e-mail that an account claims, so that the password is required. */
  async function logInUnproven(browser: Browser) {
    await newAccount(sso, 'mal@corp.test');
    return browser.logIn('mal');
  }
});

describe('a first log-in by a provider, where everybody may sign up', () => {
  const sso = useSingleSignOn(mongo, noMapping, { OIDC_SIGN_UP: 'true' });

  beforeAll(() =>
    provider().setPeople({
      ann: { email: 'ann@corp.test', email_verified: true, name: 'Ann' },
      ben: { email: 'ben@corp.test', email_verified: true, name: 'Ben' },
      cat: { email: 'cat@corp.test', name: 'Cat' },
      fay: { name: 'Fay' },
      joe: { email: 'joe@corp.test', email_verified: true },
    }),
  );

  const accountOf = async (browser: Browser) => {
    const userId = (await userOf(sso, browser)) ?? '';
    const { body } = await sso.call('get', '/api/v1/auth/me', { as: { userId, tenantId: null, role: null } });
    return (body as { user: object }).user;
  };

  it('makes an account of one’s own, with the e-mail that is proven and without a password', async () => {
    const browser = sso.newBrowser();
    await browser.logIn('ann');
    expect(await accountOf(browser)).toMatchObject({ name: 'Ann', email: 'ann@corp.test', email_verified: true });
    const { login_name: loginName } = (await accountOf(browser)) as { login_name: string };
    expect((await sso.login(loginName, '')).status).toBe(400);
    expect((await sso.login(loginName, 'any password at all')).status).toBe(401);
  });

  it('takes a proven e-mail from an account that never verified it, which keeps all else', async () => {
    const attacker = await newAccount(sso, 'ben@corp.test');
    const browser = sso.newBrowser();
    const link = linkOf(await browser.logIn('ben'));
    expect((await browser.ask('get', link)).body).toMatchObject({ may_be_new: true });
    expect((await browser.ask('post', `${link}:signUp`)).status).toBe(200);
    expect(await userOf(sso, browser)).not.toBe(attacker);
    expect(await accountOf(browser)).toMatchObject({ email: 'ben@corp.test', email_verified: true });
    const { body } = await sso.login('ben@corp.test');
    expect(body).toMatchObject({ user: { id: attacker, email: '', email_verified: false } });
    expect((body as { workspaces: unknown[] }).workspaces).toHaveLength(1);
  });

  it('keeps an e-mail that is not proven as one that is not verified, after asking whether there is an account', async () => {
    const browser = sso.newBrowser();
    const link = linkOf(await browser.logIn('cat'));
    await browser.ask('post', `${link}:signUp`);
    expect(await accountOf(browser)).toMatchObject({ email: 'cat@corp.test', email_verified: false });
  });

  it('makes an account without an e-mail where the provider has none', async () => {
    const browser = sso.newBrowser();
    await browser.logIn('fay');
    expect(await accountOf(browser)).toMatchObject({
      name: 'Fay',
      email: '',
      login_name: expect.stringMatching(/^fay/i),
    });
  });

  it('makes one account of 50 first log-ins at once', async () => {
    const browsers = Array.from({ length: 50 }, () => sso.newBrowser());
    const responses = await Promise.all(browsers.map((browser) => browser.logIn('joe')));
    const ends = responses.map((response) => [response.status, locationOf(response).pathname].join(' '));
    expect(new Set(ends)).toEqual(new Set(['302 /login/done']));
    const users = await Promise.all(browsers.map((browser) => userOf(sso, browser)));
    expect(new Set(users).size).toBe(1);
    expect(new Set(responses.map(cookieOf)).size).toBe(50);
    expect(await sso.collection('users').countDocuments({ email: 'joe@corp.test' })).toBe(1);
  });
});

describe('a password, where log-ins are meant to go by a provider', () => {
  const owners = useSingleSignOn(mongo, noMapping, { PASSWORD_LOGIN: 'owners' });
  const none = useSingleSignOn(mongo, noMapping, {
    PASSWORD_LOGIN: 'none',
    PASSWORD_LOGIN_BREAK_GLASS: 'glass@corp.test',
  });

  it('is for owners alone, or for the one owner who is named, and a wrong one gets the usual error', async () => {
    for (const [sso, expected] of [
      [owners, [200, 200]],
      [none, [200, 403]],
    ] as const) {
      await newAccount(sso, 'glass@corp.test');
      await newAccount(sso, 'other@corp.test');
      const statuses = [await sso.login('glass@corp.test'), await sso.login('other@corp.test')].map(
        (each) => each.status,
      );
      expect(statuses).toEqual(expected);
      expect((await sso.login('other@corp.test', 'a wrong password')).status).toBe(401);
    }
    await owners.collection('members').updateMany({}, { $set: { role: 'admin' } });
    expect((await owners.login('other@corp.test')).status).toBe(403);
  });

  it('makes no account of an invitation either, except for an owner where owners have one', async () => {
    const answers = [];
    for (const sso of [owners, none]) {
      const owner = await sso.newOwner();
      for (const role of ['member', 'owner'] as const) {
        const token = await sso.invite(owner, role, `${role}@corp.test`);
        const { status, body } = await sso.accept(token, { body: { name: 'New', password: 'correct horse battery' } });
        answers.push([status, (body as { code?: string }).code]);
      }
    }
    const refused = [403, 'forbidden'];
    expect(answers).toEqual([refused, [200, undefined], refused, refused]);
  });

  it('is sent to the log-in page together with the providers, and no secret with them', async () => {
    const { body } = await none.call('get', '/api/v1/auth/oidc');
    expect(body).toEqual({
      items: [{ id: 'try', button_text: 'Log in with the provider for trying' }],
      password_login: 'none',
      mails_links: false,
    });
  });
});
