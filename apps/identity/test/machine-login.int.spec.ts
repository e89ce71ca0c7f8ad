import { createHmac } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import { exportSPKI } from 'jose';
import { PASSWORD } from './identity.stack.ts';
import { AUDIENCE, type Entered, exchangeAt, SUBJECT, useIssuer } from './machine.stack.ts';
import { useProvider, useSingleSignOn } from './sso.stack.ts';

const mongo = useMongo();
const time = { now: () => Date.now() };
const issuer = useIssuer(() => time.now());
const other = useIssuer(() => time.now());
const rotating = useIssuer(() => time.now());
const broken = useIssuer(() => time.now());
const overTls = useProvider({ tls: true });
const identity = useSingleSignOn(mongo, () => [
  issuer.settings(),
  rotating.settings({ id: 'rotating' }),
  broken.settings({ id: 'broken' }),
  issuer.settings({ id: 'tls', issuer: overTls().issuer, ca_file: overTls().settings()['ca_file'] }),
  // Its metadata is never asked for: this address has none.
  { ...other.settings({ id: 'fixed', issuer: 'https://kubernetes.default.svc' }), jwks: other.jwks() },
]);
beforeAll(async () => {
  // Times in tokens are whole seconds.
  const now = Math.floor(Date.now() / 1000) * 1000;
  identity.clock.now = now;
  time.now = () => now;
  const workspace = { slug: 'alpha', name: 'Alpha' };
  await identity.ensureOwner({ email: 'root@corp.test', password: PASSWORD, workspace });
});

afterEach(() => {
  identity.clock.now = time.now();
});

const exchange = (token: string, id = 'ci', body: object = {}) =>
  identity.call('post', `/api/v1/auth/oidc/${id}:exchange`, { body: { id_token: token, ...body } });
const statusOf = async (token: string, id = 'ci') => (await exchange(token, id)).status;
const seconds = () => Math.floor(time.now() / 1000);

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('the token of a machine', () => {
  it('opens a session that ends within 15 minutes, whether it is used or not', async () => {
    const response = await exchange(await issuer.token());
    expect([response.status, response.get('set-cookie')]).toEqual([200, undefined]);
    const { session, expires_at, user, workspaces } = response.body as Entered;
    expect(user.name).toBe('deploy');
    expect(workspaces).toEqual([expect.objectContaining({ slug: 'alpha', role: 'admin' })]);
    expect(Date.parse(expires_at) - time.now()).toBe(600_000);
    const now = time.now();
    identity.clock.now = now + 599_999;
    expect((await identity.resolve(session))?.userName).toBe(`deploy (${SUBJECT})`);
    identity.clock.now = now + 600_000;
    expect(await identity.resolve(session)).toBeNull();
  });

  it('opens no longer session than 15 minutes, and none that outlives it by more than 5', async () => {
    const lasts = async (exp: number) => {
      const { body } = await exchange(await issuer.token({ exp: seconds() + exp }));
      return (Date.parse((body as Entered).expires_at) - time.now()) / 1000;
    };
    expect([await lasts(3_000), await lasts(60)]).toEqual([900, 360]);
  });

  it('is checked with keys that are read over TLS with a certificate from a file, and with keys from the settings', async () => {
    const { status, body } = await exchange(await issuer.token({ iss: overTls().issuer }), 'tls');
    expect([status, JSON.stringify(body)]).toEqual([401, expect.stringContaining('does not publish')]);
    const own = { iss: 'https://kubernetes.default.svc', aud: [AUDIENCE] };
    expect(await statusOf(await other.token(own), 'fixed')).toBe(200);
    expect(other.asked()).toEqual([]);
  });

  const forged = (header: object) => `${encode(header)}.${encode(issuer.claims())}`;
  /** Each with a word of the error's sentence. */
  const REFUSED: [string, () => Promise<string>, number, string][] = [
    ['another issuer', () => other.token(), 401, 'is from the issuer'],
    ['another audience', () => issuer.token({ aud: 'https://other.test' }), 401, 'for the audience https://other.test'],
    ['an audience in addition', () => issuer.token({ aud: [AUDIENCE, 'x'] }), 401, 'for the audience'],
    ['no audience', () => issuer.token({ aud: undefined }), 401, 'for the audience none'],
    ['another repository', () => issuer.token({ repository: 'acme/other' }), 403, `id_token of ${SUBJECT}`],
    ['no repository', () => issuer.token({ repository: undefined }), 403, 'claims of the rules: repository'],
    ['an end in the past', () => issuer.token({ exp: seconds() - 31 }), 401, 'expired 31 seconds ago'],
    ['no end', () => issuer.token({ exp: undefined }), 401, 'claim exp'],
    ['a start in the future', () => issuer.token({ nbf: seconds() + 31 }), 401, 'another 31 seconds (nbf)'],
    ['an issue in the future', () => issuer.token({ iat: seconds() + 31 }), 401, 'another 31 seconds (iat)'],
    ['an age of an hour', () => issuer.token({ iat: seconds() - 3_631 }), 401, 'issued 3631 seconds ago'],
    ['no time of issue', () => issuer.token({ iat: undefined }), 401, 'claim iat'],
    ['a subject of two lines', () => issuer.token({ sub: 'a\nb' }), 401, 'claim sub'],
    ['no subject', () => issuer.token({ sub: undefined }), 401, 'claim sub'],
    ['the type of an access token', () => issuer.token({}, { header: { typ: 'at+jwt' } }), 401, 'not a signed'],
    [
      'a type that is not a text',
      () => issuer.token({}, { header: { typ: { toString: null, valueOf: null } } }),
      401,
      'not a signed',
    ],
    [
      'an unknown critical header',
      () => issuer.token({}, { header: { crit: ['test-only'], 'test-only': 1 } }),
      401,
      'not a signed',
    ],
    [
      'another key',
      async () => issuer.token({}, { key: { ...(await issuer.newKey()), kid: issuer.key().kid } }),
      401,
      'signature',
    ],
    [
      'a key that is not published',
      async () => issuer.token({}, { key: await issuer.newKey() }),
      401,
      'does not publish',
    ],
    ['no signature', async () => `${forged({ alg: 'none' })}.`, 401, 'signed with none'],
    [
      'the public key as a shared secret',
      async () => {
        const signed = forged({ alg: 'HS256', kid: issuer.key().kid });
        const secret = await exportSPKI(issuer.key().publicKey);
        return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
      },
      401,
      'signed with HS256',
    ],
    ['a text that is no token', async () => 'hunter2', 401, 'not a signed'],
    ['too many characters', async () => `${await issuer.token()}${'A'.repeat(16_384)}`, 400, 'id_token'],
  ];

  it.each(REFUSED)('is refused with %s, and the error says so without the token', async (_, make, status, words) => {
    const token = await make();
    const response = await exchange(token);
    const text = JSON.stringify(response.body);
    expect([response.status, text]).toEqual([status, expect.stringContaining(words)]);
    expect(text).not.toContain(token.slice(-40));
    expect(identity.logs.text()).not.toContain(token.slice(-40));
  });

  it('is refused if the body is too large or too deep, and not if only its claims are deep', async () => {
    expect(await statusOf('A'.repeat(40_000))).toBe(413);
    const body = JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`) as object;
    const deep = await identity.call('post', '/api/v1/auth/oidc/ci:exchange', { body: { id_token: body } });
    expect(deep.status).toBe(400);
    const nested = `"x":${'['.repeat(4_000)}${']'.repeat(4_000)}`;
    const payload = JSON.stringify(issuer.claims()).replace('{', `{${nested},`);
    expect(await statusOf(await issuer.token({}, { payload }))).toBe(200);
    const audience = JSON.stringify(issuer.claims({ aud: undefined })).replace('{', `{${nested.replace('x', 'aud')},`);
    expect(await statusOf(await issuer.token({}, { payload: audience }))).toBe(401);
  });

  it('is for a provider of machines that is configured', async () => {
    const { status, body } = await exchange(await issuer.token(), 'nowhere');
    expect([status, (body as { code: string }).code]).toEqual([404, 'not_found']);
    const { body: listed } = await identity.call('get', '/api/v1/auth/oidc');
    expect(listed).toMatchObject({ items: [] });
  });
});

describe('a token that was used', () => {
  const SIGNATURE = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

  /** The other valid signature of the same text with the same key: of (r, s), (r, n - s). */
  function signedAlike(token: string): string {
    const [header, payload, signature] = token.split('.');
    const bytes = Buffer.from(signature!, 'base64url');
    const s = SIGNATURE - BigInt(`0x${bytes.subarray(32).toString('hex')}`);
    const changed = Buffer.concat([bytes.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')]);
    return `${header}.${payload}.${changed.toString('base64url')}`;
  }

  it('is refused, also with another valid signature and after its end', async () => {
    const token = await issuer.token();
    expect(signedAlike(token)).not.toBe(token);
    expect(await statusOf(token)).toBe(200);
    for (const again of [token, signedAlike(token)]) {
      const { status, body } = await exchange(again);
      expect([status, JSON.stringify(body)]).toEqual([401, expect.stringContaining('already used')]);
    }
    const stored = await identity.collection('oidc_used_tokens').findOne({}, { sort: { expiresAt: -1 } });
    // Until every replica finds it too old: its end, the tolerance, and five minutes.
    expect((stored?.['expiresAt'] as Date).getTime()).toBeGreaterThanOrEqual((seconds() + 300 + 30 + 300) * 1000);
    expect(JSON.stringify(await identity.collection('oidc_used_tokens').find({}).toArray())).not.toContain(
      token.slice(-40),
    );
  });

  it('opens one session if it is sent 20 times at once, to two replicas', async () => {
    const replica = identity.newReplica();
    await replica.start();
    const token = await issuer.token();
    const before = await identity.collection('sessions').countDocuments({});
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        index % 2 === 0 ? exchange(token) : exchangeAt(replica.httpUrl, token, `2001:db8:2:${index}::1`),
      ),
    );
    await replica.stop();
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 401)]);
    expect(await identity.collection('sessions').countDocuments({})).toBe(before + 1);
  });

  it('is free again if it could not be exchanged', async () => {
    const token = await issuer.token();
    await identity.collection('workspaces').updateOne({ slug: 'alpha' }, { $set: { slug: 'beta' } });
    const { status, body } = await exchange(token);
    expect([status, JSON.stringify(body)]).toEqual([403, expect.stringContaining('alpha, which does not exist')]);
    await identity.collection('workspaces').updateOne({ slug: 'beta' }, { $set: { slug: 'alpha' } });
    expect(await statusOf(token)).toBe(200);
  });
});

describe('failed exchanges', () => {
  it('of one address get 429 after ten, and stop neither its right tokens nor the logins of its people', async () => {
    const address = '2001:db8:3::1';
    const send = async (token: string) => {
      const path = '/api/v1/auth/oidc/ci:exchange';
      return (await identity.call('post', path, { address, body: { id_token: token } })).status;
    };
    const statuses = [];
    for (let sent = 0; sent < 12; sent += 1) statuses.push(await send('wrong'));
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429]);
    expect(await send(await issuer.token())).toBe(200);
    expect((await identity.login('root@corp.test', PASSWORD, { address })).status).toBe(200);
  });
});

describe('the keys of an issuer', () => {
  afterEach(() => {
    for (const each of [issuer, rotating, broken]) each.answerWith(undefined);
  });

  it('are read again for a new key, and not for each token with an unknown one', async () => {
    expect(await statusOf(await rotating.token(), 'rotating')).toBe(200);
    await rotating.rotate();
    const unknown = await rotating.newKey();
    const tokens = await Promise.all(Array.from({ length: 20 }, () => rotating.token({}, { key: unknown })));
    const before = rotating.asked().length;
    const statuses = await Promise.all(tokens.map((token) => statusOf(token, 'rotating')));
    expect(new Set(statuses)).toEqual(new Set([401]));
    expect(rotating.asked().length - before).toBeLessThan(5);
    const token = await rotating.token();
    await eventually(async () => expect(await statusOf(token, 'rotating')).toBe(200));
  });

  it('that cannot be read make 503 with Retry-After, and only for this issuer', async () => {
    broken.answerWith((req) => void req.socket.destroy());
    const token = await broken.token();
    const { status, body, headers } = await exchange(token, 'broken');
    expect([status, headers['retry-after']]).toEqual([503, '5']);
    expect((body as { error: string }).error).toMatch(/keys of the id_token's issuer cannot be read \(127\.0\.0\.1/);
    const before = broken.asked().length;
    await exchange(token, 'broken');
    expect(await statusOf(await issuer.token())).toBe(200);
    broken.answerWith((_req, res) => void res.writeHead(200).end('x'.repeat(600 * 1024)));
    const words = async () => JSON.stringify((await exchange(token, 'broken')).body);
    await eventually(async () => expect(await words()).toMatch(/UND_ERR_RES_EXCEEDED_MAX_SIZE/));
    broken.answerWith((_req, res) => void res.writeHead(302, { location: `${issuer.url()}/keys` }).end());
    await eventually(async () => expect(await words()).toContain('HTTP 302'));
    broken.answerWith((_req, res) => {
      res.writeHead(200).end(JSON.stringify({ issuer: 'https://evil.test', jwks_uri: `${issuer.url()}/keys` }));
    });
    await eventually(async () => expect(await words()).toContain('https://evil.test'));
    broken.answerWith(undefined);
    await eventually(async () => expect(await statusOf(token, 'broken')).toBe(200));
    // It was left alone for some seconds after each failure.
    expect(broken.asked().length - before).toBeLessThan(12);
  });
});
