import { describe, expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import { tokenIn } from '@tollkeeper/testing/mail-server';
import { cookieOf, PASSWORD, useIdentity } from './identity.stack.ts';
import { FORGOT, MINUTE_MS, NEW_PASSWORD, newEmail, useMail } from './mail.stack.ts';

const mongo = useMongo();
const mail = useMail(mongo);
const {
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
  server,
} = mail;

describe('a forgotten password', () => {
  it('is set anew with a mailed link, once, within 30 minutes, and ends all sessions', async () => {
    const { email, userId, login } = await newPerson(await identity.newOwner());
    const cookie = cookieOf(await identity.login(email));
    expect((await forgot(email.toUpperCase())).status).toBe(204);
    const mail = await mailTo(email, 2);
    expect(mail.headers).toMatch(/^Subject: Reset your Tollkeeper password$/m);
    expect(mail.text).toContain(`Your login name is ${login}.`);
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
    expect(await userOf(userId)).toMatchObject({ email, emailVerified: true });
    expect((await reset(await operatorLink(email))).status).toBe(200);
    expect(await userOf(userId)).toMatchObject({ email, emailVerified: false });
  });

  it('is set anew with the link of an operator though one is mailed after it, and then with no other', async () => {
    const { email } = await newPerson(await identity.newOwner());
    const handedOver = await operatorLink(email);
    await forgot(email);
    const mailed = tokenIn(await mailTo(email, 2));
    expect((await reset(handedOver)).status).toBe(200);
    expect((await reset(mailed)).status).toBe(404);
    await forgot(email);
    await nothingWaits();
    expect(server().to(email)).toHaveLength(2);
  });

  it('ends a link that was mailed when an operator makes one', async () => {
    const { email } = await newPerson(await identity.newOwner());
    await forgot(email);
    const mailed = tokenIn(await mailTo(email, 2));
    await operatorLink(email);
    expect((await reset(mailed)).status).toBe(404);
  });

  it('set anew by a link that went to another e-mail leaves the present one as unverified', async () => {
    const { email, userId } = await newPerson(await identity.newOwner());
    await forgot(email);
    const token = tokenIn(await mailTo(email, 2));
    await identity.collection('users').updateOne({ _id: userId }, { $set: { email: newEmail() } });
    expect((await reset(token)).status).toBe(200);
    expect(await userOf(userId)).toMatchObject({ emailVerified: false });
  });

  it('stands in the audit log with where the link was asked for from, and not for who has proved no e-mail', async () => {
    const owner = await identity.newOwner();
    const { email, userId } = await newPerson(owner);
    const address = '198.51.100.7';
    for (const asked of [owner.email, email]) await forgot(asked, address);
    await reset(tokenIn(await mailTo(email, 2)));
    const newest = (await identity.audited(owner.tenantId, 6)).slice(-2);
    const target = { type: 'user', id: userId, name: 'Ada' };
    expect(newest).toMatchObject([
      { action: 'user.password.link', actor: { type: 'system', id: 'mail' }, address, target, changes: [] },
      { action: 'user.password.reset', actor: target, target },
    ]);
    expect(newest[0]!.requestId).not.toBeNull();
  });

  it('is the same to ask for, whoever has the e-mail: nobody, somebody unproven, or an account', async () => {
    const owner = await identity.newOwner();
    const { email } = await newPerson(owner);
    const unproven = newEmail();
    const accepted = { body: { name: 'Ada', password: PASSWORD } };
    await identity.accept(await inviteByMail(owner, 'member', unproven), accepted);
    // The user is not looked up during the request: nothing is mailed before all requests are answered.
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
    // The first owner, and a user who joined by the shared link, have not proved their e-mail.
    expect([owner.email, unproven].map((each) => server().to(each).length)).toEqual([0, 1]);
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

  it('is not counted for its e-mail while no more mails may wait, and is for who asks', async () => {
    const address = '198.51.100.62';
    const email = newEmail();
    await letThousandWait('reset');
    const statuses = [];
    for (let index = 0; index < 61; index += 1) statuses.push((await forgot(email, address)).status);
    expect(statuses).toEqual([...Array<number>(60).fill(503), 429]);
    await identity.collection('mails').deleteMany({});
    const later = [];
    for (let index = 0; index < 6; index += 1) later.push((await forgot(email)).status);
    expect(later).toEqual([204, 204, 204, 204, 204, 429]);
  });

  it.each(['reset', 'invitation'])('waits for no thousand mails of the other kind: %s', async (kind) => {
    await letThousandWait(kind);
    const { status, body } = await forgot(newEmail());
    const owner = await identity.newOwner();
    const invitation = { email: newEmail(), role: 'member' };
    const made = await identity.call('post', '/api/v1/invitations', { as: owner.caller, body: invitation });
    await identity.collection('mails').deleteMany({});
    if (kind === 'reset') expect([status, body.code]).toEqual([503, 'service_unavailable']);
    else expect(status).toBe(204);
    expect([made.status, made.body.mailed]).toEqual([201, kind === 'reset']);
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

describe('where passwords are for owners alone', () => {
  const strict = useIdentity(mongo, forOwners);

  it('a link is mailed to an owner, and to nobody who could not log in with the password', async () => {
    const owner = await strict.newOwner();
    const email = newEmail();
    await strict.invite(owner, 'owner', email);
    const token = tokenIn(await mailTo(email));
    const { body } = await strict.accept(token, { body: { name: 'Ada', password: PASSWORD } });
    const ask = () => strict.call('post', FORGOT, { body: { email } });
    await ask();
    await mailTo(email, 2);
    await strict.collection('members').updateOne({ userId: body.user.id }, { $set: { role: 'admin' } });
    expect((await ask()).status).toBe(204);
    await eventually(async () => expect(await strict.collection('mails').countDocuments({})).toBe(0));
    expect(server().to(email)).toHaveLength(2);
  });
});

it('no token is stored or logged, and no log has an e-mail', () => mail.expectNoTokenKept());
