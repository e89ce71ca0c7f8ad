import { describe, expect, it } from '@jest/globals';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { eventually, testLogger, useMongo } from '@tollkeeper/testing';
import { runUserCommand } from '../src/index.ts';
import { PASSWORD, useIdentity } from './identity.stack.ts';

const mongo = useMongo();
const identity = useIdentity(mongo);
const { call } = identity;

const cookieOf = (response: { headers: Record<string, unknown> }) =>
  /gw_session=([^;]+)/.exec(String(response.headers['set-cookie']))?.[1];

/** The records of the workspace after that of its creation, without the common fields. */
async function records(tenantId: TenantId, count: number) {
  const [, ...found] = await identity.audited(tenantId, count + 1);
  return found.map(({ action, actor, target, changes }) => ({ action, actor: actor.id, target, changes }));
}

describe('the audit log of a workspace has records', () => {
  it('of each log-in of a member, also of one that failed, and of no other', async () => {
    const { tenantId, userId, email, caller } = await identity.newOwner();
    const address = '203.0.113.7';
    const cookie = cookieOf(await identity.login(email, PASSWORD, { address }));
    await identity.login(email, 'a wrong password');
    await identity.login('nobody@example.com', 'a wrong password');
    await call('post', '/api/v1/auth/logout', { as: caller, cookie });
    await call('post', '/api/v1/auth/logout', { as: caller, cookie });
    await identity.login(email);

    const all = await records(tenantId, 4);
    const target = { type: 'user', id: userId, name: email.split('@')[0] };
    expect(all.map(({ action }) => action).sort()).toEqual([
      'session.create',
      'session.create',
      'session.delete',
      'session.refuse',
    ]);
    for (const record of all) expect(record).toMatchObject({ actor: userId, target, changes: [] });
    const [, first] = await identity.audited(tenantId, 2);
    expect(first).toMatchObject({ action: 'session.create', address });
    expect(JSON.stringify(await identity.audited(tenantId, 5))).not.toContain(cookie);
  });

  it('of ten failed log-ins at most for an account, however many are tried at a time', async () => {
    const owner = await identity.newOwner();
    const member = await identity.addMember(owner, 'member');
    await Promise.all(Array.from({ length: 40 }, () => identity.login(owner.email, 'a wrong password')));
    expect((await identity.login(member.login_name)).status).toBe(200);
    const all = await records(owner.tenantId, 14);
    expect(all.filter(({ action }) => action === 'session.refuse')).toHaveLength(10);
    // All of them have left the outbox.
    await eventually(async () =>
      expect(await identity.collection('audit_outbox').countDocuments({ key: owner.tenantId })).toBe(0),
    );
    expect(await records(owner.tenantId, 14)).toHaveLength(14);
  });

  it('of log-ins in each workspace of the account', async () => {
    const { tenantId, email, caller } = await identity.newOwner();
    const made = await call('post', '/api/v1/workspaces', {
      as: { ...caller, tenantId: null, role: null },
      body: { slug: `second-${tenantId.slice(3, 12).toLowerCase()}`, name: 'Second' },
    });
    const second = provenTenantId((made.body as { id: string }).id);
    await identity.login(email);
    for (const each of [tenantId, second]) expect((await records(each, 1))[0]?.action).toBe('session.create');
  });

  it('of a changed password, and nothing of either', async () => {
    const { tenantId, userId, caller } = await identity.newOwner();
    const change = (current_password: string, new_password: string) =>
      call('post', '/api/v1/auth/password', { as: caller, body: { current_password, new_password } });
    expect((await change('not the password', 'another long password')).status).toBe(400);
    expect((await change(PASSWORD, 'another long password')).status).toBe(204);
    const [record] = await records(tenantId, 1);
    expect(record).toMatchObject({
      action: 'user.password.change',
      target: { type: 'user', id: userId },
      changes: [{ field: 'password', from: null, to: 'changed' }],
    });
  });

  it('of sessions that their user ends, once for all others', async () => {
    const { tenantId, email, caller } = await identity.newOwner();
    const cookie = cookieOf(await identity.login(email));
    for (let session = 0; session < 2; session += 1) await identity.login(email);
    const { body } = await call('get', '/api/v1/auth/sessions', { as: caller, cookie });
    const { id } = (body as { items: { id: string; current: boolean }[] }).items.find(({ current }) => !current)!;
    for (let again = 0; again < 2; again += 1) {
      await call('delete', `/api/v1/auth/sessions/${id}`, { as: caller, cookie });
      await call('delete', '/api/v1/auth/sessions', { as: caller, cookie });
    }
    await identity.login(email);
    const all = await records(tenantId, 6);
    expect(all.map(({ action, changes }) => [action, changes]).slice(3)).toEqual([
      ['session.delete', []],
      ['session.delete', [{ field: 'sessions_ended', from: null, to: 1 }]],
      ['session.create', []],
    ]);
  });

  it('of a link to reset a password, by the operator, and of its use', async () => {
    const { tenantId, userId, email } = await identity.newOwner();
    const link = await runUserCommand(['reset-link', '--email', email], {
      config: { MONGODB_URI: mongo.uri, MONGODB_DATABASE: identity.database, PUBLIC_URL: 'https://tollkeeper.test' },
      logger: testLogger().logger,
      clock: () => identity.clock.now,
    });
    const token = /#(\S+)/.exec(link)?.[1] ?? '';
    const body = { token, new_password: 'another long password' };
    expect((await call('post', '/api/v1/auth/reset', { body })).status).toBe(200);
    expect((await call('post', '/api/v1/auth/reset', { body })).status).toBe(404);
    // Two processes have written them, while the clock stood still.
    const all = (await identity.audited(tenantId, 3)).toSorted((a, b) => (a.action < b.action ? -1 : 1));
    expect(all).toMatchObject([
      { action: 'user.password.link', actor: { type: 'system', id: 'operator' }, target: { id: userId } },
      {
        action: 'user.password.reset',
        actor: { type: 'user', id: userId },
        changes: [{ field: 'password', from: null, to: 'changed' }],
      },
      { action: 'workspace.create' },
    ]);
    expect(JSON.stringify(all)).not.toContain(token);
  });

  it('of the workspace, its agents, its invitations and its members, each change once', async () => {
    const owner = await identity.newOwner();
    const { tenantId, userId, caller, slug } = owner;
    const as = { as: caller };
    for (const name of ['New name', 'New name']) await call('patch', '/api/v1/workspace', { ...as, body: { name } });
    const agent = { agent_id: 'planner', display_name: 'Planner' };
    for (let again = 0; again < 2; again += 1) await call('post', '/api/v1/agents', { ...as, body: agent });
    for (const display_name of ['Plans', 'Plans']) {
      await call('patch', '/api/v1/agents/planner', { ...as, body: { display_name } });
    }
    const revoked = await call('post', '/api/v1/invitations', { ...as, body: { email: 'a@b.example', role: 'admin' } });
    const { id } = revoked.body as { id: string };
    for (let again = 0; again < 2; again += 1) await call('delete', `/api/v1/invitations/${id}`, as);
    const token = await identity.invite(owner, 'member', 'grace@example.com');
    const joined = await identity.accept(token, { body: { name: 'Grace', password: 'correct horse battery' } });
    const grace = (joined.body as { user: { id: string } }).user.id;
    for (const role of ['admin', 'admin']) {
      await call('patch', `/api/v1/members/${grace}`, { ...as, body: { role } });
    }
    await call('patch', `/api/v1/members/${userId}`, { ...as, body: { role: 'member' } });
    for (let again = 0; again < 2; again += 1) await call('delete', `/api/v1/members/${grace}`, as);

    const [created] = await identity.audited(tenantId, 1);
    expect(created).toMatchObject({ action: 'workspace.create', actor: { type: 'system' }, target: { id: tenantId } });
    expect(created!.changes).toContainEqual({ field: 'slug', from: null, to: slug });
    const all = await records(tenantId, 10);
    const member = { type: 'member', id: grace, name: 'Grace' };
    const role = (from: string | null, to: string | null) => [{ field: 'role', from, to }];
    const name = (from: string | null, to: string) => [{ field: 'display_name', from, to }];
    expect(all.map(({ action, actor, changes }) => [action, actor, changes])).toEqual([
      ['workspace.update', userId, [{ field: 'name', from: 'Research', to: 'New name' }]],
      ['agent.create', userId, name(null, 'Planner')],
      ['agent.update', userId, name('Planner', 'Plans')],
      ['invitation.create', userId, [{ field: 'email', from: null, to: 'a@b.example' }, ...role(null, 'admin')]],
      ['invitation.delete', userId, [{ field: 'email', from: 'a@b.example', to: null }, ...role('admin', null)]],
      ['invitation.create', userId, [{ field: 'email', from: null, to: 'grace@example.com' }, ...role(null, 'member')]],
      ['invitation.accept', grace, role(null, 'member')],
      ['session.create', grace, []],
      ['member.role.change', userId, role('member', 'admin')],
      ['member.remove', userId, role('admin', null)],
    ]);
    expect(all.at(-1)?.target).toEqual(member);
    expect(JSON.stringify(await identity.audited(tenantId, 11))).not.toContain(token);
  });

  it('of the labels of an agent, as a list', async () => {
    const { tenantId, userId, caller: as } = await identity.newOwner();
    const agent = { agent_id: 'planner', display_name: 'Planner', labels: { team: 'growth', env: 'prod' } };
    await call('post', '/api/v1/agents', { as, body: agent });
    const change = (body: object) => call('patch', '/api/v1/agents/planner', { as, body });
    await change({ labels: { env: 'prod', team: 'growth' } });
    await change({ labels: { Team: 'growth' } });
    await change({ labels: { env: 'prod, team=growth' } });
    await change({ display_name: 'Plans', labels: { env: 'dev' } });
    await change({ labels: {} });

    const listed = ['env=prod, team=growth'];
    const [created, ...changed] = await records(tenantId, 4);
    expect(created).toMatchObject({
      action: 'agent.create',
      changes: [{ field: 'display_name' }, { field: 'labels', from: null, to: ['env=prod', 'team=growth'] }],
    });
    const target = { type: 'agent', id: 'planner', name: 'Planner' };
    const updated = { action: 'agent.update', actor: userId };
    expect(changed).toEqual([
      { ...updated, target, changes: [{ field: 'labels', from: ['env=prod', 'team=growth'], to: listed }] },
      {
        ...{ ...updated, target: { ...target, name: 'Plans' } },
        changes: [
          { field: 'display_name', from: 'Planner', to: 'Plans' },
          { field: 'labels', from: listed, to: ['env=dev'] },
        ],
      },
      {
        ...{ ...updated, target: { ...target, name: 'Plans' } },
        changes: [{ field: 'labels', from: ['env=dev'], to: null }],
      },
    ]);
  });

  it('of the invitations that go with the role of the owner who made them', async () => {
    const owner = await identity.newOwner();
    const { user_id: id } = await identity.addMember(owner, 'owner');
    const as = { userId: id, tenantId: owner.tenantId, role: 'owner' as const };
    for (const email of ['a@b.example', 'c@d.example']) {
      expect((await call('post', '/api/v1/invitations', { as, body: { email, role: 'member' } })).status).toBe(201);
    }
    await call('patch', `/api/v1/members/${id}`, { as: owner.caller, body: { role: 'member' } });
    const all = await records(owner.tenantId, 6);
    expect(all.at(-1)).toMatchObject({
      action: 'member.role.change',
      target: { id },
      changes: [
        { field: 'role', from: 'owner', to: 'member' },
        { field: 'invitations_withdrawn', from: null, to: 2 },
      ],
    });
  });

  it('of an owner whom Tollkeeper makes in a workspace that is there', async () => {
    const { tenantId, slug } = await identity.newOwner();
    const workspace = { slug, name: 'Research' };
    const another = { email: `another-${slug}@example.com`, password: PASSWORD, workspace };
    const { userId } = await identity.ensureOwner(another);
    await identity.ensureOwner(another);
    await identity.login(another.email);
    const all = await records(tenantId, 3);
    expect(all.map(({ action, actor, changes }) => [action, actor, changes])).toEqual([
      ['member.role.change', 'first-owner', [{ field: 'role', from: null, to: 'owner' }]],
      ['user.password.change', 'first-owner', [{ field: 'password', from: null, to: 'changed' }]],
      ['session.create', userId, []],
    ]);
  });

  it('of a member who leaves, automatically', async () => {
    const owner = await identity.newOwner();
    const guest = await identity.newOwner();
    const token = await identity.invite(owner, 'member', 'guest@example.com');
    const as = { userId: guest.userId, name: 'Guest', tenantId: null, role: null };
    expect((await identity.accept(token, { as, body: {} })).status).toBe(200);
    const leaving = { ...as, tenantId: owner.tenantId, role: 'member' as const };
    expect((await call('delete', '/api/v1/members/me', { as: leaving })).status).toBe(204);

    const all = await identity.audited(owner.tenantId, 4);
    expect(all.map(({ action, actor }) => [action, actor.id]).slice(2)).toEqual([
      ['invitation.accept', guest.userId],
      ['member.leave', guest.userId],
    ]);
    expect(all[2]!.actor).toEqual({ type: 'user', id: guest.userId, name: 'Guest' });
  });
});
