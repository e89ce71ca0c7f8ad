import { beforeAll, describe, expect, it } from '@jest/globals';
import { digestOf } from '@tollkeeper/kernel';
import { useMongo } from '@tollkeeper/testing';
import type { Response } from 'supertest';
import { cookieOf, PASSWORD, type TestOwner } from './identity.stack.ts';
import { type Entered, useIssuer } from './machine.stack.ts';
import { PUBLIC_URL, useSingleSignOn } from './sso.stack.ts';

const SECOND_MS = 1_000;
const BROWSER = '203.0.113.9';
const PROGRAM = '198.51.100.4';

const mongo = useMongo();
const issuer = useIssuer(() => identity.clock.now);
const identity = useSingleSignOn(mongo, () => [issuer.settings()]);
const { call } = identity;

beforeAll(async () => {
  await identity.ensureOwner({
    ...{ email: 'root@corp.test', password: PASSWORD },
    workspace: { slug: 'alpha', name: 'Alpha' },
  });
});

interface Started {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
  expires_in: number;
  interval: number;
}

interface Person extends TestOwner {
  cookie: string;
}

async function newPerson(): Promise<Person> {
  const owner = await identity.newOwner();
  return { ...owner, cookie: cookieOf(await identity.login(owner.email)) };
}

const start = async (address = PROGRAM) => (await call('post', '/api/v1/auth/device', { address })).body as Started;
const poll = (device_code: string) => call('post', '/api/v1/auth/device/token', { body: { device_code } });
const read = ({ caller: as }: Person, code: string) =>
  call('get', `/api/v1/auth/device-login?user_code=${encodeURIComponent(code)}`, { as });
const decide = (
  what: 'confirm' | 'decline',
  { caller: as, cookie }: Pick<Person, 'caller' | 'cookie'>,
  user_code: string,
) => {
  const path = `/api/v1/auth/device-login:${what}`;
  return call('post', path, { as, cookie, address: BROWSER, body: { user_code } });
};
const codeOf = ({ status, body }: Response) => `${status} ${(body as { code?: string }).code}`;
const pass = (seconds: number) => void (identity.clock.now += seconds * SECOND_MS);

describe('the login of a program', () => {
  it('opens a session of the person who confirms it, once, and names both addresses in the audit log', async () => {
    const person = await newPerson();
    const started = await start();
    expect(started).toMatchObject({
      ...{ verification_uri: `${PUBLIC_URL}/device`, expires_in: 600, interval: 3 },
      verification_uri_complete: `${PUBLIC_URL}/device#${started.user_code}`,
    });
    expect(started.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(codeOf(await poll(started.device_code))).toBe('400 authorization_pending');

    const typed = ` ${started.user_code.toLowerCase().replace('-', '')}`;
    const asked = await read(person, typed);
    expect([asked.status, asked.body]).toEqual([200, expect.objectContaining({ address: PROGRAM })]);
    expect(codeOf(await poll(started.device_code))).toMatch(/^400/);
    expect((await decide('confirm', person, typed)).status).toBe(204);
    const collected = await poll(started.device_code);
    expect([collected.status, collected.get('set-cookie')]).toEqual([200, undefined]);
    const { session, user } = collected.body as Entered;
    expect(user.id).toBe(person.userId);
    expect((await identity.resolve(session))?.userId).toBe(person.userId);
    expect(codeOf(await poll(started.device_code))).toBe('400 expired_token');
    expect(codeOf(await decide('confirm', person, typed))).toBe('404 not_found');

    const records = await identity.audited(person.tenantId, 3);
    const login = records.find(({ action, changes }) => action === 'session.create' && changes.length > 0);
    expect(login).toMatchObject({ actor: { id: person.userId } });
    expect(login?.changes).toEqual([{ field: 'confirmed_from', from: null, to: BROWSER }]);
    const { body } = await call('get', '/api/v1/auth/sessions', { as: person.caller, cookie: session });
    const { items } = body as { items: { current: boolean; address: string }[] };
    expect(items.find(({ current }) => current)?.address).toBe(PROGRAM);
  });

  it('that is declined opens none, and says who declined it in the audit log', async () => {
    const person = await newPerson();
    const { device_code, user_code } = await start();
    expect((await decide('decline', person, user_code)).status).toBe(204);
    expect([codeOf(await poll(device_code)), codeOf(await decide('confirm', person, user_code))]).toEqual([
      '400 access_denied',
      '404 not_found',
    ]);
    const [, , refused] = await identity.audited(person.tenantId, 3);
    expect(refused).toMatchObject({ action: 'session.refuse', actor: { id: person.userId }, address: BROWSER });
    expect(refused?.changes).toContainEqual({ field: 'requested_from', from: null, to: PROGRAM });
  });

  it('ends after ten minutes, confirmed or not', async () => {
    const person = await newPerson();
    const [late, collectedLate] = [await start(), await start()];
    await decide('confirm', person, collectedLate.user_code);
    pass(599);
    expect(codeOf(await poll(late.device_code))).toBe('400 authorization_pending');
    pass(1);
    expect([
      codeOf(await poll(late.device_code)),
      codeOf(await poll(collectedLate.device_code)),
      codeOf(await read(person, late.user_code)),
      codeOf(await decide('confirm', person, late.user_code)),
    ]).toEqual(['400 expired_token', '400 expired_token', '404 not_found', '404 not_found']);
  });

  it('is polled no faster than the interval, which grows for a program that does not wait', async () => {
    const { device_code } = await start();
    const polled = async () => {
      const response = await poll(device_code);
      return `${codeOf(response)} ${response.get('retry-after')}`;
    };
    expect([await polled(), await polled()]).toEqual(['400 authorization_pending 3', '400 slow_down 8']);
    pass(8);
    expect(await polled()).toBe('400 authorization_pending 8');
    pass(3);
    expect(await polled()).toBe('400 slow_down 13');
  });

  it('that is polled all the time has an interval of a minute, and writes nothing in it', async () => {
    const { device_code, user_code } = await start();
    const stored = () =>
      identity.collection('device_logins').findOne({ userSha256: digestOf(user_code.replace('-', '')) });
    for (let polls = 0; polls < 13; polls += 1) await poll(device_code);
    const before = await stored();
    expect(before).toMatchObject({ intervalSeconds: 60 });
    pass(58);
    expect((await poll(device_code)).get('retry-after')).toBe('60');
    expect(await stored()).toEqual(before);
    pass(2);
    expect(codeOf(await poll(device_code))).toBe('400 authorization_pending');
  });

  it('opens one session, however often it is polled and confirmed at a time, at two replicas', async () => {
    const replica = identity.newReplica();
    await replica.start();
    const people = await Promise.all([newPerson(), newPerson()]);
    const { device_code, user_code } = await start();
    const confirmed = await Promise.all(people.map((person) => decide('confirm', person, user_code)));
    expect(confirmed.map(({ status }) => status).sort()).toEqual([204, 404]);
    const sendTo = async (httpUrl: string) => {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ device_code });
      return (await fetch(`${httpUrl}/api/v1/auth/device/token`, { method: 'POST', headers, body })).status;
    };
    const here = Array.from({ length: 8 }, async () => (await poll(device_code)).status);
    const there = Array.from({ length: 8 }, () => sendTo(replica.httpUrl));
    const statuses = await Promise.all([...here, ...there]);
    await replica.stop();
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  });

  it('has its codes in the database as SHA-256 alone, and none of them in the log', async () => {
    const { device_code, user_code } = await start();
    await poll(device_code);
    const stored = JSON.stringify(await identity.collection('device_logins').find({}).toArray());
    for (const code of [device_code, user_code, user_code.replace('-', '')]) {
      expect(stored).not.toContain(code);
      expect(identity.logs.text()).not.toContain(code);
    }
  });

  const ENDED: [string, (person: Person) => Promise<Response>][] = [
    ['logs out', ({ caller: as, cookie }) => call('post', '/api/v1/auth/logout', { as, cookie })],
    [
      'changes their password in the same browser',
      ({ caller: as, cookie }) => {
        const body = { current_password: PASSWORD, new_password: 'another long password' };
        return call('post', '/api/v1/auth/password', { as, cookie, body });
      },
    ],
  ];
  it.each(ENDED)('opens none if the person %s before the program collects it', async (_, end) => {
    const person = await newPerson();
    const { device_code, user_code } = await start();
    await decide('confirm', person, user_code);
    expect((await end(person)).status).toBe(204);
    expect([codeOf(await poll(device_code)), codeOf(await poll(device_code))]).toEqual([
      '400 access_denied',
      '400 expired_token',
    ]);
  });

  it('opens none if the person ends all other sessions before the program collects it', async () => {
    const person = await newPerson();
    const { device_code, user_code } = await start();
    await decide('confirm', person, user_code);
    const { caller: as, cookie } = person;
    expect((await call('delete', '/api/v1/auth/sessions', { as, cookie })).status).toBe(204);
    expect(codeOf(await poll(device_code))).toBe('400 expired_token');
  });

  it('cannot be confirmed by a service account, whose session would outlast its rule', async () => {
    const { body } = await call('post', '/api/v1/auth/oidc/ci:exchange', { body: { id_token: await issuer.token() } });
    const { session, user } = body as Entered;
    const machine = { caller: { userId: user.id, tenantId: null, role: null }, cookie: session };
    const { device_code, user_code } = await start();
    expect(codeOf(await decide('confirm', machine, user_code))).toBe('403 forbidden');
    expect(codeOf(await poll(device_code))).toBe('400 authorization_pending');
  });
});

describe('codes', () => {
  it('that are wrong stop the person who tries them after ten, even with the right one, and nobody else', async () => {
    const [guesser, other] = await Promise.all([newPerson(), newPerson()]);
    const { user_code } = await start();
    const statuses = [];
    for (let tries = 0; tries < 10; tries += 1) statuses.push((await read(guesser, 'BBBB-BBBB')).status);
    expect(new Set(statuses)).toEqual(new Set([404]));
    expect([
      (await read(guesser, user_code)).status,
      (await decide('confirm', guesser, user_code)).status,
      (await decide('decline', guesser, user_code)).status,
      (await read(other, user_code)).status,
      (await identity.login(guesser.email)).status,
    ]).toEqual([429, 429, 429, 200, 200]);
  });

  it('of another form are refused with their field, and count for nobody', async () => {
    const person = await newPerson();
    for (const code of ['AEIO-UAEI', 'BCDF', 'BCDF-GHJK-L', '1234-5678']) {
      const { status, body } = await read(person, code);
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('user_code')]);
    }
  });

  it('are given to a network while it has fewer than 60 that wait, and others are not affected', async () => {
    const statuses = [];
    for (let count = 0; count < 61; count += 1) {
      statuses.push((await call('post', '/api/v1/auth/device', { address: '2001:db8:9:1::7' })).status);
    }
    expect(statuses.slice(-2)).toEqual([200, 429]);
    expect((await call('post', '/api/v1/auth/device', { address: '2001:db8:9:2::7' })).status).toBe(200);
  });
});
