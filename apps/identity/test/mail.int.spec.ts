import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId, type Role } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { startMailServer, tokenIn } from '@tollkeeper/testing/mail-server';
import { runUserCommand } from '../src/index.ts';
import { cookieOf, PASSWORD, type TestOwner, useIdentity } from './identity.stack.ts';

const FORGOT = '/api/v1/auth/forgot';
const RESET = '/api/v1/auth/reset';
const LOGIN_WAYS = '/api/v1/auth/oidc';
const NEW_PASSWORD = 'another long password';
const MINUTE_MS = 60_000;

const newEmail = () => `${newId('user').slice(5).toLowerCase()}@people.example.com`;

describe('where no mail server is configured', () => {
  const identity = useIdentity(useMongo());

  it('nobody is mailed: asking for a link says so, and an invitation has its link alone', async () => {
    expect((await identity.call('get', LOGIN_WAYS)).body).toMatchObject({ mails_links: false });
    const { status, body } = await identity.call('post', FORGOT, { body: { email: newEmail() } });
    expect([status, body.code, body.error]).toEqual([409, 'conflict', expect.stringContaining('sends no mail')]);
    const owner = await identity.newOwner();
    const invitation = { email: newEmail(), role: 'member' };
    const made = await identity.call('post', '/api/v1/invitations', { as: owner.caller, body: invitation });
    expect(made.body).toMatchObject({ mailed: false });
    expect(await identity.collection('mails').countDocuments({})).toBe(0);
  });
});

describe('where a mail server is configured', () => {
  const settings: Record<string, string> = { MAIL_FROM: 'tollkeeper@example.com' };
  let server: Awaited<ReturnType<typeof startMailServer>>;
  beforeAll(async () => {
    server = await startMailServer();
    settings['SMTP_URL'] = `smtp://127.0.0.1:${server.port}?tls=none`;
  });
  const mongo = useMongo();
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
  const userOf = (userId: string) => identity.collection('users').findOne({ _id: userId as never });

  /** The shown token of an invitation that is mailed. `count` is the number of mails to the e-mail with this one. */
  async function inviteByMail(owner: TestOwner, role: Role, email: string, count = 1): Promise<string> {
    const shown = await identity.invite(owner, role, email);
    await mailTo(email, count);
    return shown;
  }

  /** Has the mail server behave so until it has failed to take a mail, and lets the time to the next attempt pass. */
  async function outage(how: 'hangs' | 'is busy', during: () => Promise<unknown>): Promise<void> {
    const failures = () =>
      identity.logs.lines().filter(({ msg }) => msg === 'a mail could not be sent; it is tried again');
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

  async function operatorLink(email: string): Promise<string> {
    const link = await runUserCommand(['reset-link', '--email', email], {
      config: { MONGODB_URI: mongo.uri, MONGODB_DATABASE: identity.database, PUBLIC_URL: 'https://tollkeeper.test' },
      logger: identity.logs.logger,
      clock: () => identity.clock.now,
    });
    return /#(\S+)/.exec(link)![1]!;
  }

  /** Somebody who has joined with the link that was mailed to them. */
  async function newPerson(owner: TestOwner, email = newEmail()) {
    await identity.invite(owner, 'member', email);
    const body = { name: 'Ada', password: PASSWORD };
    const joined = await identity.accept(tokenIn(await mailTo(email)), { body });
    return { email, userId: joined.body.user.id as string, login: joined.body.user.login_name as string, joined };
  }

  it('the page of the log-in may offer a link', async () => {
    expect((await identity.call('get', LOGIN_WAYS)).body).toMatchObject({ mails_links: true });
  });

  describe('an invitation', () => {
    it('is mailed with a link of its own, in words of ours alone, and the shown link goes on working', async () => {
      const owner = await identity.newOwner();
      const email = newEmail();
      const shown = await identity.invite(owner, 'admin', email);
      const mail = await mailTo(email);
      expect(mail).toMatchObject({ from: 'tollkeeper@example.com', to: [email] });
      expect(mail.headers).toMatch(/^Subject: Invitation to Tollkeeper$/m);
      expect(mail.text).toContain(`the workspace ${owner.slug} of Tollkeeper, as admin`);
      expect(mail.text).toContain(`https://tollkeeper.test/invitation#${tokenIn(mail)}\n`);
      expect(tokenIn(mail)).not.toBe(shown);
      const offers = [shown, tokenIn(mail)].map((token) => identity.call('get', `/api/v1/invitations/${token}`));
      expect((await Promise.all(offers)).map(({ status }) => status)).toEqual([200, 200]);
      await nothingWaits();
    });

    it('gives the e-mail to who joins with the mailed link; who held it keeps account and memberships, without it', async () => {
      const [one, other] = [await identity.newOwner(), await identity.newOwner()];
      const email = newEmail();
      const squatter = await identity.accept(await inviteByMail(one, 'member', email), {
        body: { name: 'Eve', password: PASSWORD },
      });
      await identity.invite(other, 'member', email);
      const body = { name: 'Ada', password: PASSWORD };
      const joined = await identity.accept(tokenIn(await mailTo(email, 2)), { body });
      expect(joined.body.user).toMatchObject({ email, email_verified: true });
      const kept = await identity.login(squatter.body.user.login_name as string);
      expect(kept.body.user).toMatchObject({ email: '', email_verified: false });
      expect(kept.body.workspaces).toMatchObject([{ slug: one.slug }]);
    });

    it('tells the audit log of the e-mail that it has verified, and nothing of it by the shown link', async () => {
      const owner = await identity.newOwner();
      await newPerson(owner);
      const shown = await identity.invite(owner, 'member', newEmail());
      await identity.accept(shown, { body: { name: 'Bob', password: PASSWORD } });
      const accepted = (await identity.audited(owner.tenantId, 7)).filter(
        ({ action }) => action === 'invitation.accept',
      );
      const joined = { field: 'role', from: null, to: 'member' };
      expect(accepted.map(({ changes }) => changes)).toEqual([
        [joined, { field: 'email_verified', from: false, to: true }],
        [joined],
      ]);
    });

    it('proves nothing by the link that its owner was shown', async () => {
      const owner = await identity.newOwner();
      const email = newEmail();
      const shown = await identity.invite(owner, 'member', email);
      await mailTo(email);
      const { body } = await identity.accept(shown, { body: { name: 'Eve', password: PASSWORD } });
      expect(body.user).toMatchObject({ email, email_verified: false });
    });

    it('whose mail was passed on gives its e-mail to nobody who has an account with another one', async () => {
      const [owner, victim] = [await identity.newOwner(), await identity.newOwner()];
      const email = newEmail();
      await identity.invite(owner, 'member', email);
      const { body } = await identity.accept(tokenIn(await mailTo(email)), { as: victim.caller });
      expect(body.user).toMatchObject({ email: victim.email, email_verified: false });
      await forgot(email);
      await nothingWaits();
      expect(server.to(email)).toHaveLength(1);
    });

    it('verifies the e-mail of who has said before that it is theirs', async () => {
      const [owner, other] = [await identity.newOwner(), await identity.newOwner()];
      const email = newEmail();
      const member = await identity.accept(await inviteByMail(owner, 'member', email), {
        body: { name: 'Ada', password: PASSWORD },
      });
      const { id: userId } = member.body.user as { id: string };
      expect(member.body.user).toMatchObject({ email, email_verified: false });
      await inviteByMail(other, 'member', email, 2);
      const as = { userId, tenantId: null, role: null };
      const { body } = await identity.accept(tokenIn(await mailTo(email, 2)), { as });
      expect(body.user).toMatchObject({ id: userId, email, email_verified: true });
    });

    it('lets one in, of 20 who use the shown and the mailed link at the same moment', async () => {
      const owner = await identity.newOwner();
      const email = newEmail();
      const shown = await identity.invite(owner, 'member', email);
      const mailed = tokenIn(await mailTo(email));
      const name = `Ada of ${owner.slug}`;
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          identity.accept(index % 2 === 0 ? shown : mailed, { body: { name, password: PASSWORD } }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(404)]);
      expect(await identity.collection('users').countDocuments({ name })).toBe(1);
    });

    it.each(['revoked', 'replaced', 'expired'])('that is %s lets nobody in by its mail either', async (how) => {
      const owner = await identity.newOwner();
      const email = newEmail();
      await identity.invite(owner, 'member', email);
      const mailed = tokenIn(await mailTo(email));
      const { _id } = (await identity.collection('invitations').findOne({ email }))!;
      if (how === 'revoked') await identity.call('delete', `/api/v1/invitations/${String(_id)}`, { as: owner.caller });
      if (how === 'replaced') await identity.invite(owner, 'member', email);
      if (how === 'expired') identity.clock.now += 7 * 24 * 60 * MINUTE_MS;
      expect((await identity.accept(mailed, { body: { name: 'Ada', password: PASSWORD } })).status).toBe(404);
    });

    it('is mailed 5 times in an hour at most to one e-mail, which does not tell whether others invite it', async () => {
      const [owner, other] = [await identity.newOwner(), await identity.newOwner()];
      const email = newEmail();
      const invite = ({ caller }: TestOwner) =>
        identity.call('post', '/api/v1/invitations', { as: caller, body: { email, role: 'member' } });
      for (let count = 1; count <= 5; count += 1) {
        await invite(owner);
        await mailTo(email, count);
      }
      expect((await invite(other)).body.mailed).toBe(true);
      await nothingWaits();
      expect(server.to(email)).toHaveLength(5);
    });

    it('is made without a mail once its owner has caused 60 within an hour', async () => {
      const owner = await identity.newOwner();
      const mailed = [];
      for (let index = 0; index < 61; index += 1) {
        const body = { email: newEmail(), role: 'member' };
        const made = await identity.call('post', '/api/v1/invitations', { as: owner.caller, body });
        mailed.push(made.body.mailed);
      }
      expect(mailed).toEqual([...Array<boolean>(60).fill(true), false]);
      await nothingWaits();
    });
  });

  describe('a forgotten password', () => {
    it('is set anew with a mailed link, once, within 30 minutes, and ends all sessions', async () => {
      const { email, userId, login } = await newPerson(await identity.newOwner());
      const cookie = cookieOf(await identity.login(email));
      expect((await forgot(email.toUpperCase())).status).toBe(204);
      const mail = await mailTo(email, 2);
      expect(mail.headers).toMatch(/^Subject: Reset your Tollkeeper password$/m);
      expect(mail.text).toContain(`You log in as ${login}.`);
      expect(mail.text).toContain(`https://tollkeeper.test/reset#${tokenIn(mail)}\n`);
      identity.clock.now += 30 * MINUTE_MS - 1;
      for (const status of [200, 404]) expect((await reset(tokenIn(mail))).status).toBe(status);
      expect(await identity.resolve(cookie)).toBeNull();
      expect((await identity.login(email)).status).toBe(401);
      expect((await identity.login(email, NEW_PASSWORD)).body.user).toMatchObject({ id: userId });
    });

    it('can be forgotten again: a mailed link leaves the e-mail verified, and one of an operator does not', async () => {
      const { email, userId } = await newPerson(await identity.newOwner());
      for (const count of [2, 3]) {
        await forgot(email);
        expect((await reset(tokenIn(await mailTo(email, count)))).status).toBe(200);
      }
      expect(await userOf(userId)).toMatchObject({ contactEmail: email, emailVerified: true });
      expect((await reset(await operatorLink(email))).status).toBe(200);
      expect(await userOf(userId)).toMatchObject({ contactEmail: email, emailVerified: false });
    });

    it('set anew by a link that went to another e-mail leaves the present one as unverified', async () => {
      const { email, userId } = await newPerson(await identity.newOwner());
      await forgot(email);
      const token = tokenIn(await mailTo(email, 2));
      await identity.collection('users').updateOne({ _id: userId as never }, { $set: { contactEmail: newEmail() } });
      expect((await reset(token)).status).toBe(200);
      expect(await userOf(userId)).toMatchObject({ emailVerified: false });
    });

    it('stands in the audit log with where the link was asked for from, and not for who has proved no e-mail', async () => {
      const owner = await identity.newOwner();
      const { email, userId } = await newPerson(owner);
      const address = '198.51.100.7';
      for (const asked of [owner.email, email]) await forgot(asked, address);
      await reset(tokenIn(await mailTo(email, 2)));
      const told = (await identity.audited(owner.tenantId, 6)).slice(-2);
      const target = { type: 'user', id: userId, name: 'Ada' };
      expect(told).toMatchObject([
        { action: 'user.password.link', actor: { type: 'system', id: 'mail' }, address, target, changes: [] },
        { action: 'user.password.reset', actor: target, target },
      ]);
      expect(told[0]!.requestId).not.toBeNull();
    });

    it('is the same to ask for, whoever has the e-mail: nobody, somebody unproven, or an account', async () => {
      const owner = await identity.newOwner();
      const { email } = await newPerson(owner);
      const unproven = newEmail();
      const accepted = { body: { name: 'Ada', password: PASSWORD } };
      await identity.accept(await inviteByMail(owner, 'member', unproven), accepted);
      // The look-up of the person is no part of the request: nothing is mailed before all have been answered.
      const answers: unknown[] = [];
      await outage('hangs', async () => {
        for (const asked of [email, unproven, owner.email, newEmail()]) {
          const { status, body, headers } = await forgot(asked);
          const { date, 'x-request-id': id, ...others } = headers as Record<string, string>;
          answers.push({ status, body, others, names: [typeof date, typeof id] });
        }
      });
      expect(answers).toEqual(Array(4).fill(answers[0]));
      await nothingWaits();
      await mailTo(email, 2);
      // The first owner, and who joined by the link that was handed over, have proved no e-mail.
      expect([owner.email, unproven].map((each) => server.to(each).length)).toEqual([0, 1]);
    });

    it('is asked for 5 times in an hour at most for one e-mail, known or not, and that stops no log-in', async () => {
      const { email } = await newPerson(await identity.newOwner());
      for (const asked of [email, newEmail()]) {
        const statuses = [];
        for (let index = 0; index < 6; index += 1) statuses.push((await forgot(asked)).status);
        expect(statuses).toEqual([204, 204, 204, 204, 204, 429]);
      }
      expect(Number((await forgot(email)).get('retry-after'))).toBeGreaterThan(0);
      expect((await identity.login(email)).status).toBe(200);
    });

    it('is asked for 60 times in an hour at most from one address', async () => {
      const address = '198.51.100.60';
      const statuses = [];
      for (let index = 0; index < 61; index += 1) statuses.push((await forgot(newEmail(), address)).status);
      expect(statuses).toEqual([...Array<number>(60).fill(204), 429]);
      expect((await forgot(newEmail(), '198.51.100.61')).status).toBe(204);
    });

    it('is not asked for while a thousand mails wait, for any e-mail', async () => {
      const later = new Date(identity.clock.now + MINUTE_MS);
      const order = { kind: 'reset', email: 'x@example.com' };
      const many = Array.from({ length: 1_000 }, (_, index) => ({
        ...{ _id: `w${index}` as never, order, attempts: 0, dueAt: later, expiresAt: later },
      }));
      await identity.collection('mails').insertMany(many);
      const { status, body } = await forgot(newEmail());
      expect([status, body.code]).toEqual([503, 'service_unavailable']);
      const owner = await identity.newOwner();
      const invitation = { email: newEmail(), role: 'member' };
      const made = await identity.call('post', '/api/v1/invitations', { as: owner.caller, body: invitation });
      expect([made.status, made.body.mailed]).toEqual([201, false]);
      await identity.collection('mails').deleteMany({});
    });

    it('needs an address and nothing else', async () => {
      for (const body of [
        {},
        { email: 'no address' },
        { email: 'a@b.example\r\nBcc: c@d.example' },
        { email: ['a@b.example'] },
      ]) {
        expect((await identity.call('post', FORGOT, { body })).status).toBe(400);
      }
    });
  });

  describe('a mail server', () => {
    it('that hangs stops nobody: people log in and ask, and are mailed once it answers', async () => {
      const { email } = await newPerson(await identity.newOwner());
      await outage('hangs', async () => {
        expect((await forgot(email)).status).toBe(204);
        expect((await identity.login(email)).status).toBe(200);
        expect((await forgot(newEmail())).status).toBe(204);
        await identity.newOwner();
        expect(server.to(email)).toHaveLength(1);
      });
      expect((await reset(tokenIn(await mailTo(email, 2)))).status).toBe(200);
    });

    it('that is away is told, and tried again; a restart forgets no mail', async () => {
      const { email } = await newPerson(await identity.newOwner());
      await outage('is busy', () => forgot(email));
      await expect(identity.impaired()).rejects.toThrow('mail server does not take mail: EENVELOPE 451');
      await identity.restart();
      expect((await reset(tokenIn(await mailTo(email, 2)))).status).toBe(200);
      await identity.impaired();
    });

    it('that refuses a receiver is not asked again, and is not told to be away any more', async () => {
      const { email } = await newPerson(await identity.newOwner());
      server.behave('is busy');
      await forgot(email);
      await eventually(() => expect(identity.impaired()).rejects.toThrow('EENVELOPE 451'));
      server.behave('refuses');
      identity.clock.now += 10_000;
      await nothingWaits();
      server.behave('takes');
      await identity.impaired();
      expect(server.to(email)).toHaveLength(1);
    });
  });

  it('no step gives somebody else’s e-mail, or what it is trusted with, to who squats on it', async () => {
    const [attacker, trusting] = [await identity.newOwner(), await identity.newOwner()];
    const victim = newEmail();
    // A workspace, an account under the victim's e-mail by the link that the owner was shown, and patience.
    const squatter = await identity.accept(await inviteByMail(attacker, 'owner', victim), {
      body: { name: 'Victim', password: PASSWORD },
    });
    const squatterId = squatter.body.user.id as string;
    expect(squatter.body.user).toMatchObject({ email: victim, email_verified: false });
    expect((await identity.accept(tokenIn(await mailTo(victim)), { as: attacker.caller })).status).toBe(404);
    // Asking for a link mails nobody, since nobody has proved the e-mail.
    await forgot(victim);
    await nothingWaits();
    expect(server.to(victim)).toHaveLength(1);
    // Another workspace trusts the e-mail: the squatter gets nothing, and neither does who does not read the mail.
    await identity.invite(trusting, 'owner', victim);
    const mailed = tokenIn(await mailTo(victim, 2));
    expect(await identity.collection('members').countDocuments({ userId: squatterId })).toBe(1);
    const joined = await identity.accept(mailed, { body: { name: 'Ada', password: PASSWORD } });
    expect(joined.body.user).toMatchObject({ email: victim, email_verified: true });
    expect(joined.body.workspaces).toMatchObject([{ slug: trusting.slug, role: 'owner' }]);
    // Now the e-mail leads to the victim alone, and the squatter cannot take it back.
    expect((await identity.login(victim)).body.user).toMatchObject({ id: joined.body.user.id });
    expect(await userOf(squatterId)).toMatchObject({ contactEmail: null, emailVerified: false });
    await identity.accept(await inviteByMail(attacker, 'member', victim, 3), {
      body: { name: 'Victim', password: PASSWORD },
    });
    expect(await userOf(joined.body.user.id as string)).toMatchObject({ contactEmail: victim, emailVerified: true });
    await forgot(victim);
    expect((await reset(tokenIn(await mailTo(victim, 4)))).body.login_name).toBe(joined.body.user.login_name);
  });

  it('no token is stored or logged, and no log has an e-mail', async () => {
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
  });
});
