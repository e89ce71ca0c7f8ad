import { describe, expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import { tokenIn } from '@tollkeeper/testing/mail-server';
import { PASSWORD, type TestOwner, useIdentity } from './identity.stack.ts';
import { FORGOT, MINUTE_MS, newEmail, useMail } from './mail.stack.ts';

const LOGIN_WAYS = '/api/v1/auth/oidc';

const mongo = useMongo();
const mail = useMail(mongo);
const {
  identity,
  forgot,
  reset,
  nothingWaits,
  mailTo,
  userOf,
  inviteByMail,
  letThousandWait,
  outage,
  newPerson,
  server,
} = mail;

describe('where no mail server is configured', () => {
  const identity = useIdentity(useMongo());

  it('no mail is sent: asking for a link says so, and an invitation has its link alone', async () => {
    expect((await identity.call('get', LOGIN_WAYS)).body).toMatchObject({ mails_links: false });
    const { status, body } = await identity.call('post', FORGOT, { body: { email: newEmail() } });
    expect([status, body.code, body.error]).toEqual([409, 'conflict', expect.stringContaining('sends no e-mail')]);
    const owner = await identity.newOwner();
    const invitation = { email: newEmail(), role: 'member' };
    const made = await identity.call('post', '/api/v1/invitations', { as: owner.caller, body: invitation });
    expect(made.body).toMatchObject({ mailed: false });
    expect(await identity.collection('mails').countDocuments({})).toBe(0);
  });
});

it('the page of the log-in may offer a link', async () => {
  expect((await identity.call('get', LOGIN_WAYS)).body).toMatchObject({ mails_links: true });
});

describe('an invitation', () => {
  it('that no mail could wait for is none of the 5 mails an hour of its e-mail', async () => {
    const owner = await identity.newOwner();
    const email = newEmail();
    await letThousandWait('invitation');
    for (let index = 0; index < 5; index += 1) await identity.invite(owner, 'member', email);
    await identity.collection('mails').deleteMany({});
    await inviteByMail(owner, 'member', email);
  });

  it('is mailed with a link of its own, in words of ours alone, and the shown link keeps working', async () => {
    const owner = await identity.newOwner();
    const email = newEmail();
    const shown = await identity.invite(owner, 'admin', email);
    const mail = await mailTo(email);
    expect(mail).toMatchObject({ from: 'tollkeeper@example.com', to: [email] });
    expect(mail.headers).toMatch(/^Subject: Invitation to Tollkeeper$/m);
    expect(mail.text).toContain(`the Tollkeeper workspace ${owner.slug} as admin`);
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

  it('records in the audit log the e-mail that it has verified, and nothing for the shown link', async () => {
    const owner = await identity.newOwner();
    await newPerson(owner);
    const shown = await identity.invite(owner, 'member', newEmail());
    await identity.accept(shown, { body: { name: 'Bob', password: PASSWORD } });
    const accepted = (await identity.audited(owner.tenantId, 7)).filter(({ action }) => action === 'invitation.accept');
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
    expect(server().to(email)).toHaveLength(1);
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

  it('is mailed 5 times in an hour at most to one e-mail, which does not reveal whether others invite it', async () => {
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
    expect(server().to(email)).toHaveLength(5);
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

describe('a mail server', () => {
  it('that hangs blocks no one: people log in and ask, and are mailed once it answers', async () => {
    const { email } = await newPerson(await identity.newOwner());
    await outage('hangs', async () => {
      expect((await forgot(email)).status).toBe(204);
      expect((await identity.login(email)).status).toBe(200);
      expect((await forgot(newEmail())).status).toBe(204);
      await identity.newOwner();
      expect(server().to(email)).toHaveLength(1);
    });
    expect((await reset(tokenIn(await mailTo(email, 2)))).status).toBe(200);
  });

  it('that is down is reported, and tried again; a restart loses no mail', async () => {
    const { email } = await newPerson(await identity.newOwner());
    await outage('is busy', () => forgot(email));
    await expect(identity.impaired()).rejects.toThrow('mail server is not accepting mail: EENVELOPE 451');
    await identity.restart();
    expect((await reset(tokenIn(await mailTo(email, 2)))).status).toBe(200);
    await identity.impaired();
  });

  it('is not reported as down by a replica whose mails another one has sent', async () => {
    const { email } = await newPerson(await identity.newOwner());
    await outage('is busy', () => forgot(email));
    await expect(identity.impaired()).rejects.toThrow('mail server is not accepting mail');
    await identity.collection('mails').deleteMany({});
    await eventually(() => identity.impaired());
  });

  it('that hangs is left at a stop, and the mail is sent after it', async () => {
    const { email } = await newPerson(await identity.newOwner());
    server().behave('hangs');
    await forgot(email);
    await eventually(() => expect(server().open()).toBe(1));
    await identity.restart();
    server().behave('takes');
    identity.clock.now += 10_000;
    expect((await reset(tokenIn(await mailTo(email, 2)))).status).toBe(200);
  });

  it('that refuses a receiver is not asked again, and is no longer reported as down', async () => {
    const { email } = await newPerson(await identity.newOwner());
    server().behave('is busy');
    await forgot(email);
    await eventually(() => expect(identity.impaired()).rejects.toThrow('EENVELOPE 451'));
    server().behave('refuses');
    identity.clock.now += 10_000;
    await nothingWaits();
    server().behave('takes');
    await identity.impaired();
    expect(server().to(email)).toHaveLength(1);
  });
});

it('no step gives somebody else’s e-mail, or what it is trusted with, to who squats on it', async () => {
  const [attacker, trusting] = [await identity.newOwner(), await identity.newOwner()];
  const victim = newEmail();
  // The attacker has a workspace, and an account with the victim's e-mail by the link that the owner was shown.
  const squatter = await identity.accept(await inviteByMail(attacker, 'owner', victim), {
    body: { name: 'Victim', password: PASSWORD },
  });
  const squatterId = squatter.body.user.id as string;
  expect(squatter.body.user).toMatchObject({ email: victim, email_verified: false });
  expect((await identity.accept(tokenIn(await mailTo(victim)), { as: attacker.caller })).status).toBe(404);
  // A request for a link mails nobody, since nobody has proved the e-mail.
  await forgot(victim);
  await nothingWaits();
  expect(server().to(victim)).toHaveLength(1);
  // Another workspace trusts the e-mail. Neither the squatter nor anybody else who cannot read the mail gains anything.
  await identity.invite(trusting, 'owner', victim);
  const mailed = tokenIn(await mailTo(victim, 2));
  expect(await identity.collection('members').countDocuments({ userId: squatterId })).toBe(1);
  const joined = await identity.accept(mailed, { body: { name: 'Ada', password: PASSWORD } });
  expect(joined.body.user).toMatchObject({ email: victim, email_verified: true });
  expect(joined.body.workspaces).toMatchObject([{ slug: trusting.slug, role: 'owner' }]);
  // Now the e-mail belongs to the victim alone, and the squatter cannot take it back.
  expect((await identity.login(victim)).body.user).toMatchObject({ id: joined.body.user.id });
  expect(await userOf(squatterId)).toMatchObject({ email: null, emailVerified: false });
  await identity.accept(await inviteByMail(attacker, 'member', victim, 3), {
    body: { name: 'Victim', password: PASSWORD },
  });
  expect(await userOf(joined.body.user.id as string)).toMatchObject({ email: victim, emailVerified: true });
  await forgot(victim);
  expect((await reset(tokenIn(await mailTo(victim, 4)))).body.login_name).toBe(joined.body.user.login_name);
});

it('no token is stored or logged, and no log has an e-mail', () => mail.expectNoTokenKept());
