import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { newId } from '@tollkeeper/kernel';
import { useMongo } from '@tollkeeper/testing';
import { type CallOptions, cookieOf, PASSWORD, setCookieOf, type TestOwner, useIdentity } from './identity.stack.ts';

const PATH = '/api/v1/invitations';
const DAY_MS = 86_400_000;

describe('invitations', () => {
  const identity = useIdentity(useMongo());
  const { invite, accept } = identity;

  const newEmail = () => `${newId('inv').slice(4).toLowerCase()}@example.com`;
  const signUp = { body: { name: 'Ada', password: PASSWORD } };
  const post = (owner: TestOwner, email: string, role = 'member') =>
    identity.call('post', PATH, { as: owner.caller, body: { email, role } });
  const look = (token: string, options: CallOptions = {}) => identity.call('get', `${PATH}/${token}`, options);
  const membersOf = ({ tenantId }: TestOwner) => identity.collection('members').countDocuments({ tenantId });
  async function listOf(owner: TestOwner): Promise<{ id: string; email: string }[]> {
    return (await identity.call('get', PATH, { as: owner.caller })).body.items as { id: string; email: string }[];
  }

  it('are listed for owners, newest first, without their tokens', async () => {
    const owner = await identity.newOwner();
    const emails = [newEmail(), newEmail()];
    const made = [];
    for (const email of emails) {
      made.push((await post(owner, email, 'admin')).body as { id: string; url: string });
      identity.clock.now += 1000;
    }
    const items = await listOf(owner);
    expect(items.map(({ email }) => email)).toEqual(emails.toReversed());
    expect({ ...items[0], url: made[1]?.url, mailed: false }).toEqual(made[1]);
    expect(JSON.stringify(items)).not.toContain('tk_');
    expect(await listOf(await identity.newOwner())).toEqual([]);
  });

  it('say to whoever has the token what they are to', async () => {
    const owner = await identity.newOwner();
    const email = newEmail();
    const { status, body } = await look(await invite(owner, 'admin', email));
    expect(status).toBe(200);
    expect(body).toEqual({
      workspace: { slug: owner.slug, name: 'Research' },
      ...{ email, role: 'admin', invited_by: owner.email.split('@')[0] },
      expires_at: new Date(identity.clock.now + 7 * DAY_MS).toISOString(),
    });
  });

  it('make a user who is logged in a member, whatever their e-mail, with the role that the owner meant', async () => {
    const [owner, other] = [await identity.newOwner(), await identity.newOwner()];
    const token = await invite(owner, 'admin', newEmail());
    const { status, body } = await accept(token, { as: { ...other.caller, tenantId: null, role: null } });
    expect(status).toBe(200);
    const slugs = (body.workspaces as { slug: string; role: string }[]).map(({ slug, role }) => [slug, role]);
    expect(new Map(slugs as [string, string][])).toEqual(
      new Map([
        [other.slug, 'owner'],
        [owner.slug, 'admin'],
      ]),
    );
    const { items } = (await identity.call('get', '/api/v1/members', { as: owner.caller })).body;
    const joined = (items as { user_id: string }[]).find(({ user_id }) => user_id === other.userId);
    expect(joined).toMatchObject({ role: 'admin', source: 'invitation', email: other.email });
  });

  it('make an account for who has none, under the e-mail as unverified, and log it in', async () => {
    const owner = await identity.newOwner();
    const email = newEmail();
    const answer = await accept(await invite(owner, 'member', email), signUp);
    expect(answer.status).toBe(200);
    expect(answer.body.user).toEqual({
      ...{ id: expect.stringMatching(/^user_/), login_name: email.split('@')[0], name: 'Ada' },
      ...{ email, email_verified: false },
    });
    expect((await identity.resolve(cookieOf(answer)))?.userId).toBe(answer.body.user.id);
    expect((await identity.login(answer.body.user.login_name as string)).status).toBe(200);
  });

  it('give a login name that the person chooses, and say so when somebody has it', async () => {
    const owner = await identity.newOwner();
    const wished = `ada.${newId('inv').slice(4, 14).toLowerCase()}`;
    const body = { ...signUp.body, login_name: wished.toUpperCase() };
    const first = await accept(await invite(owner, 'member', newEmail()), { body });
    expect(first.body.user.login_name).toBe(wished);
    const token = await invite(owner, 'member', newEmail());
    const second = await accept(token, { body });
    expect([second.status, second.body.details]).toEqual([409, [expect.objectContaining({ path: 'login_name' })]]);
    // The refusal does not use up the token.
    expect((await accept(token, signUp)).status).toBe(200);
  });

  it('are answered alike whether the e-mail has an account or not, at every step', async () => {
    const [owner, victim] = [await identity.newOwner(), await identity.newOwner()];
    // Two e-mails with the same part before the @, from which login names are made.
    const local = victim.email.split('@')[0]!;
    const steps = async (email: string) => {
      const made = await post(owner, email);
      const token = new URL(made.body.url as string).hash.slice(1);
      const offer = await look(token);
      const joined = await accept(token, signUp);
      const known = ['id', 'url', 'login_name', 'request_id'];
      return [made, offer, joined].map(({ status, body }) => ({
        status,
        text: JSON.stringify(body, (key, value: unknown) => (known.includes(key) ? typeof value : value)).replaceAll(
          email,
          'EMAIL',
        ),
      }));
    };
    expect(await steps(victim.email)).toEqual(await steps(`${local}@elsewhere.example`));
  });

  describe('nobody gets into a workspace without their own consent and an owner’s', () => {
    it('an account for somebody else’s e-mail gets nothing when another workspace invites that e-mail', async () => {
      const [attacker, owner] = [await identity.newOwner(), await identity.newOwner()];
      const victim = newEmail();
      // The attacker creates a workspace, and an account for the e-mail of the victim.
      const squatter = await accept(await invite(attacker, 'member', victim), signUp);
      const squatterId = squatter.body.user.id as string;
      expect(squatter.body.user).toMatchObject({ email: victim, email_verified: false });
      // Another workspace invites the victim, in both ways.
      const asked = await identity.call('post', '/api/v1/members', {
        ...{ as: owner.caller, body: { email: victim, role: 'owner' } },
      });
      expect(asked.body.status).toBe('invited');
      const token = await invite(owner, 'owner', victim);
      const ofSquatter = await identity.login(squatter.body.user.login_name as string);
      expect(ofSquatter.body.workspaces).toHaveLength(1);
      expect(await identity.collection('members').countDocuments({ userId: squatterId })).toBe(1);
      // The victim joins with an account of their own, and the squatter still gains nothing.
      const joined = await accept(token, signUp);
      expect(joined.body.user).toMatchObject({ email: victim, email_verified: false });
      expect(joined.body.user.id).not.toBe(squatterId);
      expect(joined.body.user.login_name).not.toBe(squatter.body.user.login_name);
      expect(joined.body.workspaces).toMatchObject([{ slug: owner.slug, role: 'owner' }]);
      expect(await identity.collection('members').countDocuments({ userId: squatterId })).toBe(1);
    });

    it('an e-mail as login name of somebody else cannot be chosen', async () => {
      const owner = await identity.newOwner();
      const body = { ...signUp.body, login_name: 'victim@example.com' };
      const { status, body: error } = await accept(await invite(owner, 'member', newEmail()), { body });
      expect([status, error.details]).toEqual([400, [expect.objectContaining({ path: 'login_name' })]]);
    });

    it('an admin cannot invite, and neither can an owner of another workspace revoke', async () => {
      const [owner, other] = [await identity.newOwner(), await identity.newOwner()];
      const token = await invite(owner, 'member', newEmail());
      const [{ id } = { id: '' }] = await listOf(owner);
      expect((await identity.call('delete', `${PATH}/${id}`, { as: other.caller })).status).toBe(404);
      expect((await look(token)).status).toBe(200);
    });

    it.each(['removed', 'demoted', 'gone'])('an owner who was %s leaves no invitation behind', async (how) => {
      const owner = await identity.newOwner();
      const { user_id: userId } = await identity.addMember(owner, 'owner');
      const fallen = { ...owner, caller: { ...owner.caller, userId } };
      const token = await invite(fallen, 'owner', newEmail());
      const member = `/api/v1/members/${userId}`;
      if (how === 'removed') await identity.call('delete', member, { as: owner.caller });
      else if (how === 'demoted') await identity.call('patch', member, { as: owner.caller, body: { role: 'admin' } });
      else await identity.call('delete', '/api/v1/members/me', { as: fallen.caller });
      expect((await look(token)).status).toBe(404);
      expect((await accept(token, signUp)).status).toBe(404);
      expect((await post(fallen, newEmail())).status).toBe(403);
    });
  });

  describe('a token', () => {
    it('of 20 who use it at the same moment lets one in', async () => {
      const owner = await identity.newOwner();
      const token = await invite(owner, 'member', newEmail());
      const name = `Ada of ${owner.slug}`;
      const body = { ...signUp.body, name };
      const answers = await Promise.all(Array.from({ length: 20 }, () => accept(token, { body })));
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([200, ...Array<number>(19).fill(404)]);
      expect(await membersOf(owner)).toBe(2);
      // The late ones have left no account.
      expect(await identity.collection('users').countDocuments({ name })).toBe(1);
    });

    it.each(['used', 'expired', 'revoked', 'replaced', 'never there', 'not one'])(
      'that is %s is answered like any other that offers nothing, and lets nobody in',
      async (how) => {
        const owner = await identity.newOwner();
        const email = newEmail();
        let token = await invite(owner, 'member', email);
        if (how === 'used') await accept(token, { as: (await identity.newOwner()).caller });
        if (how === 'expired') identity.clock.now += 7 * DAY_MS;
        if (how === 'revoked') {
          const [{ id } = { id: '' }] = await listOf(owner);
          expect((await identity.call('delete', `${PATH}/${id}`, { as: owner.caller })).status).toBe(204);
          expect((await identity.call('delete', `${PATH}/${id}`, { as: owner.caller })).status).toBe(404);
        }
        if (how === 'replaced') await invite(owner, 'owner', email);
        if (how === 'never there') token = `tk_invite_${'A'.repeat(43)}`;
        if (how === 'not one') token = 'tk_invite_';
        const before = await membersOf(owner);
        const answers = [await look(token), await accept(token, signUp), await accept(token, { as: owner.caller })];
        for (const { status, body } of answers) {
          expect([status, body.error]).toEqual([404, expect.stringContaining('This invitation is not valid')]);
        }
        expect(await membersOf(owner)).toBe(before);
        expect(await listOf(owner)).toHaveLength(how === 'replaced' || how.startsWith('n') ? 1 : 0);
      },
    );

    it('is valid until the last moment of its 7 days', async () => {
      const owner = await identity.newOwner();
      const token = await invite(owner, 'member', newEmail());
      identity.clock.now += 7 * DAY_MS - 1;
      expect((await accept(token, signUp)).status).toBe(200);
    });

    it('cannot be guessed at: an address is stopped after ten failures, also at log-ins, and with the right one', async () => {
      const owner = await identity.newOwner();
      const token = await invite(owner, 'member', newEmail());
      const address = '203.0.113.77';
      for (let index = 0; index < 5; index += 1) {
        expect((await look(`tk_invite_${index}`, { address })).status).toBe(404);
        expect((await accept(`tk_invite_${index}`, { ...signUp, address })).status).toBe(404);
      }
      for (const stopped of [
        await look(token, { address }),
        await accept(token, { ...signUp, address }),
        await identity.login(owner.email, PASSWORD, { address }),
      ]) {
        expect([stopped.status, Number(stopped.get('retry-after')) > 0]).toEqual([429, true]);
      }
      expect((await look(token)).status).toBe(200);
    });

    it('is stored as its SHA-256 alone, and is in no log', async () => {
      const owner = await identity.newOwner();
      const token = await invite(owner, 'member', newEmail());
      await look(token);
      const stored = await identity.collection('invitations').findOne({ tenantId: owner.tenantId });
      expect(stored?.['tokenSha256']).toBe(createHash('sha256').update(token).digest('hex'));
      expect(JSON.stringify(stored)).not.toContain(token);
      await accept(token, signUp);
      expect(identity.logs.text()).not.toContain(token.slice(-20));
      expect(identity.logs.text()).not.toContain(stored?.['tokenSha256']);
    });
  });

  it('let a member in no second time, and are not used up by it', async () => {
    const owner = await identity.newOwner();
    const token = await invite(owner, 'admin', newEmail());
    const { status, body } = await accept(token, { as: owner.caller });
    expect([status, body.code]).toEqual([409, 'conflict']);
    expect((await accept(token, signUp)).status).toBe(200);
  });

  it('need a name and a password of who is not logged in, and refuse them of who is', async () => {
    const owner = await identity.newOwner();
    const token = await invite(owner, 'admin', newEmail());
    const paths = ({ body }: { body: { details?: { path: string }[] } }) => body.details?.map(({ path }) => path);
    expect(paths(await accept(token))).toEqual(['name', 'password']);
    expect(paths(await accept(token, { body: { name: 'Ada', password: 'short' } }))).toEqual(['password']);
    expect(paths(await accept(token, { as: owner.caller, ...signUp }))).toEqual(['name', 'password']);
    expect((await accept(token, signUp)).status).toBe(200);
  });

  it('open no session and set no cookie for who is logged in already', async () => {
    const [owner, other] = [await identity.newOwner(), await identity.newOwner()];
    const answer = await accept(await invite(owner, 'member', newEmail()), { as: other.caller });
    expect(setCookieOf(answer)).toEqual([]);
  });

  it('are at most 200 in a workspace, whose members are at most 1,000: 409 says how many', async () => {
    const owner = await identity.newOwner();
    const { tenantId, userId: invitedBy } = owner;
    const token = await invite(owner, 'member', newEmail());
    const [createdAt, expiresAt] = [new Date(identity.clock.now), new Date(identity.clock.now + DAY_MS)];
    const others = Array.from({ length: 199 }, (_, index) => ({
      ...{ _id: newId('inv'), tokenSha256: newId('inv'), tenantId, email: `${index}@example.com` },
      ...{ role: 'member', invitedBy, createdAt, expiresAt },
    }));
    await identity.collection('invitations').insertMany(others);
    const full = await post(owner, newEmail());
    expect([full.status, full.body.error]).toEqual([409, expect.stringContaining('200 open invitations')]);
    // An invitation that replaces another adds none.
    expect((await post(owner, '0@example.com')).status).toBe(201);

    const members = Array.from({ length: 999 }, () => ({
      tenantId,
      userId: newId('user'),
      role: 'member',
      joinedAt: createdAt,
    }));
    await identity.collection('members').insertMany(members);
    for (const refused of [await post(owner, '1@example.com'), await accept(token, signUp)]) {
      expect([refused.status, refused.body.error]).toEqual([409, expect.stringContaining('1000 members')]);
    }
    await identity.collection('members').deleteOne({ userId: members[0]!.userId });
    expect((await accept(token, signUp)).status).toBe(200);
  });
});
