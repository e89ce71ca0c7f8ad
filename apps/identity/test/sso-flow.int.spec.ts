import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '@tollkeeper/managed-process';
import { useMongo } from '@tollkeeper/testing';
import { PASSWORD, setCookieOf } from './identity.stack.ts';
import { locationOf, pathOf, PUBLIC_URL, useProvider, useSingleSignOn } from './sso.stack.ts';

const mongo = useMongo();
const provider = useProvider();
const second = useProvider();
const overTls = useProvider({ tls: true });

/** A server that accepts connections and never answers, or answers too much. */
let silent: Server;
let endless: Server;
let nobodyPort: number;

beforeAll(async () => {
  silent = createServer(() => undefined).listen(0, '127.0.0.1');
  endless = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"a":"');
      const chunk = 'x'.repeat(64 * 1024);
      const more = () => {
        while (!socket.destroyed && socket.write(chunk));
        if (!socket.destroyed) socket.once('drain', more);
      };
      more();
    });
  }).listen(0, '127.0.0.1');
  await Promise.all([once(silent, 'listening'), once(endless, 'listening')]);
  nobodyPort = await freePort();
});
afterAll(() => {
  silent.close();
  endless.close();
});

const at = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

describe('a login with a provider', () => {
  const sso = useSingleSignOn(
    mongo,
    () => {
      const own = provider().settings({ mapping: [] });
      return [
        own,
        { ...second().settings({ mapping: [] }), id: 'second' },
        { ...own, id: 'other-name', issuer: own.issuer.replace('127.0.0.1', 'localhost') },
        { ...own, id: 'silent', issuer: at(silent) },
        { ...own, id: 'endless', issuer: at(endless) },
      ];
    },
    { OIDC_SIGN_UP: 'true' },
  );

  beforeAll(async () => {
    const people = { ann: { email: 'ann@corp.test', email_verified: true } };
    await provider().setPeople(people);
    await second().setPeople(people);
  });
  afterEach(() => provider().setFaults({}));

  /** A browser that has reached the URL of the callback. */
  async function almostThere(id = 'try') {
    const browser = sso.newBrowser();
    const { headers } = await browser.start(id);
    return { browser, back: await browser.atProvider(String(headers['location']), 'ann') };
  }

  it('asks for a code with PKCE S256, state and nonce, and binds it to the browser with a cookie', async () => {
    const response = await sso.newBrowser().start();
    expect(response.status).toBe(302);
    const { origin, searchParams } = locationOf(response);
    expect(origin).toBe(provider().issuer);
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: 'tollkeeper',
      response_type: 'code',
      redirect_uri: `${PUBLIC_URL}/api/v1/auth/oidc/try/callback`,
      scope: 'openid email profile groups',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(setCookieOf(response)).toEqual([
      expect.stringMatching(/^gw_oidc=[\w-]{43}; Max-Age=600; Path=\/api\/v1\/auth\/oidc; HttpOnly; SameSite=Lax$/),
    ]);
    // A copy of the database cannot complete a log-in: it contains neither the state nor the cookie in plain text.
    const stored = JSON.stringify(await sso.collection('oidc_transactions').find({}).toArray());
    expect(stored).not.toContain(/gw_oidc=([\w-]{43})/.exec(setCookieOf(response).join())![1]);
    expect(stored).not.toContain(searchParams.get('state'));
  });

  it.each(['//evil.example', 'https://evil.example', '/\\evil.example', '/%09/evil.example', 'javascript:alert(1)'])(
    'refuses to return to %s',
    async (returnTo) => {
      const path = `/api/v1/auth/oidc/try/start?return_to=${encodeURIComponent(decodeURIComponent(returnTo))}`;
      const { status, body } = await sso.call('get', path);
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('return_to')]);
    },
  );

  it('is complete once: the same address again, by the same browser, leads nowhere', async () => {
    const { browser, back } = await almostThere();
    expect(locationOf(await browser.comeBack(back)).pathname).toBe('/login/done');
    const again = await browser.comeBack(back);
    expect([locationOf(again).pathname, await browser.failureOf(again)]).toEqual(['/login/failed', null]);
    expect(setCookieOf(again)).toEqual([]);
  });

  it('is complete once, also when the browser comes back 20 times at the same moment', async () => {
    const { browser, back } = await almostThere();
    const responses = await Promise.all(Array.from({ length: 20 }, () => browser.comeBack(back)));
    expect(responses.filter((response) => locationOf(response).pathname === '/login/done')).toHaveLength(1);
  });

  it('takes no code that was used before, though the state is new', async () => {
    const { browser, back } = await almostThere();
    await browser.comeBack(back);
    const again = locationOf(await browser.start());
    const replayed = new URL(back);
    replayed.searchParams.set('state', again.searchParams.get('state') ?? '');
    expect(await browser.failureOf(await browser.comeBack(replayed.href))).toMatchObject({
      code: 'code_refused',
      facts: { error: 'invalid_grant' },
    });
  });

  it('takes no code of somebody else, who began it in another browser', async () => {
    const attacker = await almostThere();
    const victim = sso.newBrowser();
    const mine = locationOf(await victim.start()).searchParams.get('state') ?? '';
    // The URL as it is, and the attacker's code with the victim's own state.
    expect(await victim.failureOf(await victim.comeBack(attacker.back))).toBeNull();
    const mixed = new URL(attacker.back);
    mixed.searchParams.set('state', mine);
    const failure = await victim.failureOf(await victim.comeBack(mixed.href));
    expect(failure?.code).toBe('code_refused');
    expect(victim.cookies.has('gw_session')).toBe(false);
    // The attempt has not used up the log-in in its own browser.
    expect(locationOf(await attacker.browser.comeBack(attacker.back)).pathname).toBe('/login/done');
  });

  it('continues in two tabs of one browser, each of which ends where it began', async () => {
    const browser = sso.newBrowser();
    const one = locationOf(await browser.start('try', '/w/one')).href;
    const two = locationOf(await browser.start('try', '/w/two')).href;
    const paths = [];
    for (const url of [two, one]) paths.push(pathOf(await browser.comeBack(await browser.atProvider(url, 'ann'))));
    expect(paths).toEqual(['/login/done?next=%2Fw%2Ftwo', '/login/done?next=%2Fw%2Fone']);
  });

  it('takes 10 minutes at most', async () => {
    const { browser, back } = await almostThere();
    sso.clock.now += 600_000;
    expect(await browser.failureOf(await browser.comeBack(back))).toBeNull();
    sso.clock.now -= 600_000;
  });

  it('fails where somebody took PKCE out of the request to the provider', async () => {
    const browser = sso.newBrowser();
    const url = locationOf(await browser.start());
    url.searchParams.delete('code_challenge');
    url.searchParams.delete('code_challenge_method');
    const back = await browser.atProvider(url.href, 'ann');
    expect((await browser.failureOf(await browser.comeBack(back)))?.code).toBe('code_refused');
  });

  it('fails where another provider answers: by its address, or by the issuer that it names', async () => {
    const { browser, back } = await almostThere('second');
    const elsewhere = back.replace('/oidc/second/', '/oidc/try/');
    expect(await browser.failureOf(await browser.comeBack(elsewhere))).toBeNull();

    const other = await almostThere();
    const mixed = new URL(other.back);
    mixed.searchParams.set('iss', second().issuer);
    expect(await other.browser.failureOf(await other.browser.comeBack(mixed.href))).toEqual({
      code: 'issuer_mismatch',
      facts: { expected: provider().issuer, got: second().issuer },
    });
    const without = await almostThere();
    const stripped = new URL(without.back);
    stripped.searchParams.delete('iss');
    expect((await without.browser.failureOf(await without.browser.comeBack(stripped.href)))?.code).toBe(
      'token_invalid',
    );
  });

  it('names the issuer that is configured and the one that answers', async () => {
    const browser = sso.newBrowser();
    const expected = provider().issuer.replace('127.0.0.1', 'localhost');
    expect(await browser.failureOf(await browser.start('other-name'))).toEqual({
      code: 'issuer_mismatch',
      facts: { expected, got: provider().issuer },
    });
  });

  it.each([
    [-7_200, /^-7(1|2)\d\d$/],
    [3_600, /^3(5|6)\d\d$/],
  ])('reports by how much the clocks differ, at %i s', async (clockSeconds, seconds) => {
    await provider().setFaults({ clockSeconds });
    const { browser, back } = await almostThere();
    expect(await browser.failureOf(await browser.comeBack(back))).toEqual({
      code: 'clock_off',
      facts: { seconds: expect.stringMatching(seconds), tolerance: '30' },
    });
  });

  it('bears a clock that is a little off', async () => {
    await provider().setFaults({ clockSeconds: 20 });
    const { browser, back } = await almostThere();
    expect(locationOf(await browser.comeBack(back)).pathname).toBe('/login/done');
  });

  it('fails for somebody whom the provider has disabled meanwhile, and later for good', async () => {
    const { browser, back } = await almostThere();
    await provider().setPeople({ ben: {} });
    expect((await browser.failureOf(await browser.comeBack(back)))?.code).toBe('code_refused');
    const later = await almostThere();
    expect((await later.browser.failureOf(await later.browser.comeBack(later.back)))?.code).toBe('log_in_refused');
    await provider().setPeople({ ann: { email: 'ann@corp.test', email_verified: true } });
  });

  it('takes no subject that is longer than OpenID Connect allows, and claims of any size and name', async () => {
    const long = 's'.repeat(256);
    const groups = Array.from({ length: 3_000 }, (_, index) => `group-${index}`);
    const odd = Object.fromEntries(['__proto__', 'constructor', '$where', 'a.b'].map((name) => [name, [name]]));
    await provider().setPeople({
      [long]: { email: 'long@corp.test', email_verified: true },
      odd: { email: 'odd@corp.test', email_verified: true, groups, realm_access: JSON.parse(JSON.stringify(odd)) },
    });
    const browser = sso.newBrowser();
    const { headers } = await browser.start();
    const back = await browser.atProvider(String(headers['location']), long);
    expect(await browser.failureOf(await browser.comeBack(back))).toMatchObject({
      code: 'token_invalid',
      facts: { claim: 'sub' },
    });
    expect(locationOf(await sso.newBrowser().logIn('odd')).pathname).toBe('/login/done');
    await provider().setPeople({ ann: { email: 'ann@corp.test', email_verified: true } });
  });

  it('takes no token that is signed with another key, and no userinfo of another person', async () => {
    await provider().setFaults({ otherSubject: true });
    const { browser, back } = await almostThere();
    expect(await browser.failureOf(await browser.comeBack(back))).toEqual({ code: 'subject_mismatch', facts: {} });
    await second().setFaults({ otherKeys: true });
    const other = await almostThere('second');
    expect((await other.browser.failureOf(await other.browser.comeBack(other.back)))?.code).toBe('token_invalid');
    await second().setFaults({});
  });

  it.each(['none', 'HS256'] as const)(
    'takes no token of the algorithm %s, which needs no key of the provider',
    async (tokenAlgorithm) => {
      await provider().setFaults({ tokenAlgorithm });
      const { browser, back } = await almostThere();
      expect((await browser.failureOf(await browser.comeBack(back)))?.code).toBe('token_invalid');
    },
  );

  it('that is cancelled says so, in the words of the provider and as text', async () => {
    const browser = sso.newBrowser();
    const { headers } = await browser.start();
    const back = await browser.atProvider(String(headers['location']), 'nobody');
    expect(await browser.failureOf(await browser.comeBack(back))).toEqual({
      code: 'log_in_refused',
      facts: { error: 'access_denied', description: 'The log-in was cancelled <b>here</b>.' },
    });
  });

  it('fails within seconds at a provider that is silent or does not end, while passwords and others keep working', async () => {
    const workspace = { slug: 'owned', name: 'Owned' };
    await sso.ensureOwner({ email: 'owner@corp.test', password: PASSWORD, workspace });
    const browsers = Array.from({ length: 20 }, () => sso.newBrowser());
    const failing = browsers.map(async (browser, index) =>
      browser.failureOf(await browser.start(index % 2 === 0 ? 'silent' : 'endless')),
    );
    const other = sso.newBrowser();
    expect(locationOf(await other.logIn('ann')).pathname).toBe('/login/done');
    expect((await sso.login('owner@corp.test')).status).toBe(200);
    const failures = await Promise.all(failing);
    expect(new Set(failures.map((failure) => failure?.code))).toEqual(new Set(['provider_unreachable']));
    expect(failures[0]?.facts['problem']).toBe('timeout');
  });

  it('says what a broken provider answers', async () => {
    const broken = sso.newBrowser();
    const state = locationOf(await broken.start('second')).searchParams.get('state') ?? '';
    await second().setFaults({ status: 502 });
    const callback = `${PUBLIC_URL}/api/v1/auth/oidc/second/callback?code=x&state=${state}&iss=${second().issuer}`;
    expect(await broken.failureOf(await broken.comeBack(callback))).toEqual({
      code: 'provider_invalid',
      facts: { problem: 'HTTP 502' },
    });
    await second().setFaults({});
  });

  it('knows no other providers, and no failure for longer than 10 minutes', async () => {
    expect((await sso.call('get', '/api/v1/auth/oidc/nobody/start')).status).toBe(404);
    expect((await sso.call('get', '/api/v1/auth/oidc/nobody/callback?state=x')).status).toBe(404);
    const browser = sso.newBrowser();
    const failure = locationOf(await browser.start('other-name')).searchParams.get('failure');
    sso.clock.now += 600_000;
    expect((await sso.call('get', `/api/v1/auth/oidc/failures/${failure}`)).status).toBe(404);
    sso.clock.now -= 600_000;
  });

  it('leaves no token, code, state or secret in the log, and one line of what failed', async () => {
    const { browser, back } = await almostThere();
    await provider().setFaults({ otherSubject: true });
    await browser.comeBack(back);
    const log = sso.logs.text();
    const { searchParams } = new URL(back);
    const secrets = [searchParams.get('code'), searchParams.get('state'), browser.cookies.get('gw_oidc')];
    for (const secret of [...secrets, provider().settings().client_secret, 'eyJ']) expect(log).not.toContain(secret);
    const lines = sso.logs.lines().filter(({ provider: id, reason }) => id === 'try' && reason === 'subject_mismatch');
    expect(lines.length).toBeGreaterThan(0);
  });
});

describe('a provider over https', () => {
  const sso = useSingleSignOn(
    mongo,
    () => {
      const trusted = overTls().settings({ mapping: [] });
      const untrusted = overTls().settings({ mapping: [], ca_file: undefined });
      const issuer = `http://127.0.0.1:${nobodyPort}`;
      return [
        trusted,
        { ...untrusted, id: 'untrusted', issuer: `${trusted.issuer}/` },
        { ...untrusted, id: 'away', issuer },
      ];
    },
    { OIDC_SIGN_UP: 'true' },
  );

  it('is asked with the certificates of its file, and not without; one that is down says so', async () => {
    await overTls().setPeople({ ann: { email: 'ann@corp.test', email_verified: true } });
    expect(locationOf(await sso.newBrowser().logIn('ann')).pathname).toBe('/login/done');
    const browser = sso.newBrowser();
    const { host } = new URL(overTls().issuer);
    expect(await browser.failureOf(await browser.start('untrusted'))).toEqual({
      code: 'provider_unreachable',
      facts: { host, problem: expect.stringMatching(/SELF_SIGNED|UNABLE_TO_VERIFY/) },
    });
    expect(await browser.failureOf(await browser.start('away'))).toEqual({
      code: 'provider_unreachable',
      facts: { host: `127.0.0.1:${nobodyPort}`, problem: 'ECONNREFUSED' },
    });
  });
});
