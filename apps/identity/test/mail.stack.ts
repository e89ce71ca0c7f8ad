import { afterAll, beforeAll, expect } from '@jest/globals';
import { newId, type Role } from '@tollkeeper/kernel';
import { eventually, type TestMongo } from '@tollkeeper/testing';
import { type MailServer, startMailServer, tokenIn } from '@tollkeeper/testing/mail-server';
import { runUserCommand } from '../src/index.ts';
import { PASSWORD, type TestOwner, useIdentity } from './identity.stack.ts';

export const FORGOT = '/api/v1/auth/forgot';
const RESET = '/api/v1/auth/reset';
export const NEW_PASSWORD = 'another long password';
export const MINUTE_MS = 60_000;

export const newEmail = () => `${newId('user').slice(5).toLowerCase()}@people.example.com`;

/** The identity service with a real mail server. */
export function useMail(mongo: TestMongo) {
  const settings: Record<string, string> = { MAIL_FROM: 'tollkeeper@example.com' };
  const provider = {
    ...{ id: 'try', issuer: 'http://127.0.0.1:9', client_id: 'tollkeeper', client_secret: 'x', button_text: 'Log in' },
  };
  const forOwners = { ...settings, PASSWORD_LOGIN: 'owners', OIDC_PROVIDERS: JSON.stringify([provider]) };
  let server: MailServer;
  beforeAll(async () => {
    server = await startMailServer();
    const SMTP_URL = `smtp://127.0.0.1:${server.port}?tls=none`;
    for (const each of [settings, forOwners]) Object.assign(each, { SMTP_URL });
  });
  const identity = useIdentity(mongo, settings);
  afterAll(() => server.stop());

  const forgot = (email: string, address?: string) =>
    identity.call('post', FORGOT, { body: { email }, ...(address !== undefined && { address }) });
  const reset = (token: string) => identity.call('post', RESET, { body: { token, new_password: NEW_PASSWORD } });
  const waiting = () => identity.collection('mails').countDocuments({});
  const nothingWaits = () => eventually(async () => expect(await waiting()).toBe(0));
  const mailTo = (email: string, count = 1) =>
    eventually(() => {
      expect(server.to(email)).toHaveLength(count);
      return server.to(email)[count - 1]!;
    });
  const userOf = (userId: string) => identity.collection('users').findOne({ _id: userId });

  /** The shown token of a mailed invitation. `count` is the number of mails to the e-mail, including this one. */
  async function inviteByMail(owner: TestOwner, role: Role, email: string, count = 1): Promise<string> {
    const shown = await identity.invite(owner, role, email);
    await mailTo(email, count);
    return shown;
  }

  /** Makes the mail server fail like this until it has not taken a mail, then skips the time to the next attempt. */
  async function outage(how: 'hangs' | 'is busy', during: () => Promise<unknown>): Promise<void> {
    const failures = () => identity.logs.lines().filter(({ msg }) => msg === 'an e-mail could not be sent; retrying');
    const before = failures().length;
    server.behave(how);
    await during();
    if (how === 'hangs') {
      await eventually(() => expect(server.open()).toBe(1));
      server.behave('takes');
    }
    await eventually(() => expect(failures().length).toBeGreaterThan(before));
    expect(failures().at(-1)).toMatchObject({ reason: expect.stringMatching(/^E/), attempts: 1 });
    server.behave('takes');
    identity.clock.now += 10_000;
  }

  /** Fills the queue with mails that are not due. */
  async function letThousandWait(kind: string): Promise<void> {
    const later = new Date(identity.clock.now + MINUTE_MS);
    const many = Array.from({ length: 1_000 }, (_, index) => ({
      ...{ _id: `w${index}`, order: { kind }, attempts: 0, dueAt: later, expiresAt: later },
    }));
    await identity.collection('mails').insertMany(many);
  }

  async function operatorLink(email: string): Promise<string> {
    const link = await runUserCommand(['reset-link', '--email', email], {
      config: { MONGODB_URI: mongo.uri, MONGODB_DATABASE: identity.database, PUBLIC_URL: 'https://tollkeeper.test' },
      logger: identity.logs.logger,
      clock: () => identity.clock.now,
    });
    return /#(\S+)/.exec(link)![1]!;
  }

  /** A person who joined with the mailed link. */
  async function newPerson(owner: TestOwner, email = newEmail()) {
    await identity.invite(owner, 'member', email);
    const body = { name: 'Ada', password: PASSWORD };
    const joined = await identity.accept(tokenIn(await mailTo(email)), { body });
    return { email, userId: joined.body.user.id as string, login: joined.body.user.login_name as string, joined };
  }

  /** Call it at the end of a suite: it looks for the tokens of all mails in all stored data. */
  async function expectNoTokenKept(): Promise<void> {
    const tokens = server.received.map(tokenIn).filter((token) => token !== '');
    expect(tokens.length).toBeGreaterThan(10);
    const stored = [];
    for (const name of ['mails', 'invitations', 'password_resets', 'users']) {
      stored.push(...(await identity.collection(name).find({}).toArray()));
    }
    const logged = identity.logs.text();
    const kept = JSON.stringify(stored);
    expect(tokens.filter((token) => logged.includes(token.slice(-20)) || kept.includes(token.slice(-20)))).toEqual([]);
    expect(logged).not.toContain('@people.example.com');
  }

  return {
    identity,
    forOwners,
    forgot,
    reset,
    nothingWaits,
    mailTo,
    userOf,
    inviteByMail,
    letThousandWait,
    outage,
    operatorLink,
    newPerson,
    expectNoTokenKept,
    server: () => server,
  };
}
