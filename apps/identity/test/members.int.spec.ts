import { describe, expect, it } from '@jest/globals';
import type { Role } from '@tollkeeper/kernel';
import { useMongo } from '@tollkeeper/testing';
import { cookieOf, foreignCaller, type TestOwner, useIdentity } from './identity.stack.ts';

const PATH = '/api/v1/members';

describe('members', () => {
  const identity = useIdentity(useMongo());

  const add = (owner: TestOwner, body: unknown) => identity.call('post', PATH, { as: owner.caller, body });
  const setRole = (owner: TestOwner, userId: string, role: string) =>
    identity.call('patch', `${PATH}/${userId}`, { as: owner.caller, body: { role } });
  const remove = (owner: TestOwner, userId: string) =>
    identity.call('delete', `${PATH}/${userId}`, { as: owner.caller });

  async function rolesOf(owner: TestOwner): Promise<Record<string, string>> {
    const { body } = await identity.call('get', PATH, { as: owner.caller });
    const items = (body as { items: { user_id: string; role: string }[] }).items;
    return Object.fromEntries(items.map(({ user_id, role }) => [user_id, role]));
  }

  it('are listed by e-mail, those of the workspace alone', async () => {
    const owner = await identity.newOwner();
    const first = await identity.addMember(owner, 'member', `0-${owner.email}`);
    await identity.addMember(await identity.newOwner(), 'member');
    const { body } = await identity.call('get', PATH, { as: owner.caller });
    expect(body.items).toEqual([
      expect.objectContaining({ user_id: first.user_id, role: 'member', joined_at: '2026-11-21T18:00:00.000Z' }),
      expect.objectContaining({ user_id: owner.userId, role: 'owner', email: owner.email }),
    ]);
  });

  it('are invited by e-mail and not added: nobody joins without their own consent', async () => {
    const [owner, other] = [await identity.newOwner(), await identity.newOwner()];
    const answers = [
      await add(owner, { email: `new-${owner.email}`, role: 'admin', name: 'Grace' }),
      await add(owner, { email: other.email.toUpperCase(), role: 'admin', name: 'Grace' }),
    ];
    // The same answer for an e-mail with an account and for one without.
    for (const [index, email] of [`new-${owner.email}`, other.email].entries()) {
      const { status, body } = answers[index]!;
      const { id, url } = body.invitation as { id: string; url: string };
      expect(status).toBe(201);
      const times = { created_at: '2026-11-21T18:00:00.000Z', expires_at: '2026-11-28T18:00:00.000Z' };
      expect(body).toEqual({
        ...{ user_id: id, login_name: '', email, email_verified: false, name: 'Grace', role: 'admin' },
        ...{ source: 'invitation', joined_at: times.created_at, status: 'invited' },
        invitation: { id, email, role: 'admin', ...times, url, mailed: false },
      });
      expect(url).toMatch(/^https:\/\/tollkeeper\.test\/invitation#tk_invite_[\w-]{43}$/);
    }
    expect(await rolesOf(owner)).toEqual({ [owner.userId]: 'owner' });
    expect((await identity.login(other.email)).body.workspaces).toHaveLength(1);
    expect(await identity.collection('users').countDocuments({ email: `new-${owner.email}` })).toBe(0);
  });

  it('whose ownership has just ended change nothing, whatever their gateway still believes', async () => {
    const owner = await identity.newOwner();
    const { user_id: otherId } = await identity.addMember(owner, 'owner');
    const other = { caller: { ...owner.caller, userId: otherId } };
    expect((await setRole(owner, otherId, 'member')).status).toBe(200);
    const attempts = [
      identity.call('patch', `${PATH}/${otherId}`, { as: other.caller, body: { role: 'owner' } }),
      identity.call('delete', `${PATH}/${owner.userId}`, { as: other.caller }),
      identity.call('post', PATH, { as: other.caller, body: { email: `friend-${owner.email}`, role: 'owner' } }),
    ];
    expect((await Promise.all(attempts)).map(({ status }) => status)).toEqual([403, 403, 403]);
    expect(await rolesOf(owner)).toEqual({ [owner.userId]: 'owner', [otherId]: 'member' });
  });

  it('cannot be invited again', async () => {
    const owner = await identity.newOwner();
    const { email } = await identity.addMember(owner, 'member');
    for (const known of [email, owner.email]) {
      const response = await add(owner, { email: known, role: 'owner' });
      expect(response.status).toBe(409);
      expect(response.body).toMatchObject({ code: 'conflict', details: [{ path: 'email' }] });
    }
    expect(Object.values(await rolesOf(owner)).sort()).toEqual(['member', 'owner']);
  });

  it('get another role, which their sessions have from then on', async () => {
    const owner = await identity.newOwner();
    const { user_id: userId, login_name } = await identity.addMember(owner, 'member');
    const cookie = cookieOf(await identity.login(login_name));
    const response = await setRole(owner, userId, 'admin');
    expect(response.body).toMatchObject({ user_id: userId, role: 'admin' });
    expect((await identity.resolve(cookie))?.memberships).toMatchObject([{ role: 'WORKSPACE_ROLE_ADMIN' }]);
  });

  it('that are removed keep their session and lose the workspace', async () => {
    const owner = await identity.newOwner();
    const { user_id: userId, login_name } = await identity.addMember(owner, 'admin');
    const cookie = cookieOf(await identity.login(login_name));
    expect((await remove(owner, userId)).status).toBe(204);
    const left = { userId, userName: 'Ada', memberships: [] };
    expect(await identity.resolve(cookie)).toEqual(left);
    expect((await remove(owner, userId)).status).toBe(404);
  });

  it('always have an owner among them: the last one can be neither demoted nor removed', async () => {
    const owner = await identity.newOwner();
    await identity.addMember(owner, 'admin');
    for (const response of [await setRole(owner, owner.userId, 'admin'), await remove(owner, owner.userId)]) {
      expect(response.status).toBe(409);
      expect(response.body).toMatchObject({ code: 'conflict', error: expect.stringContaining('last owner') });
    }
    expect((await setRole(owner, owner.userId, 'owner')).status).toBe(200);
    expect((await rolesOf(owner))[owner.userId]).toBe('owner');
  });

  it('let an owner go once there is another', async () => {
    const owner = await identity.newOwner();
    const { user_id: second } = await identity.addMember(owner, 'owner');
    expect((await remove(owner, owner.userId)).status).toBe(204);
    expect(await rolesOf(owner)).toEqual({ [second]: 'owner' });
  });

  it('leave of their own accord, whatever their role, and the last owner cannot', async () => {
    const owner = await identity.newOwner();
    const leave = (userId: string, role: Role) =>
      identity.call('delete', `${PATH}/me`, { as: { ...owner.caller, userId, role } });
    const { user_id: member } = await identity.addMember(owner, 'member');
    expect((await leave(member, 'member')).status).toBe(204);
    expect((await leave(member, 'member')).status).toBe(404);
    const refused = await leave(owner.userId, 'owner');
    expect([refused.status, refused.body.error]).toEqual([409, expect.stringContaining('last owner')]);
    const { user_id: second } = await identity.addMember(owner, 'owner');
    expect((await leave(owner.userId, 'owner')).status).toBe(204);
    expect(await rolesOf({ ...owner, caller: { ...owner.caller, userId: second } })).toEqual({ [second]: 'owner' });
  });

  it('keep an owner though all owners leave at the same moment', async () => {
    for (let round = 0; round < 5; round += 1) {
      const owner = await identity.newOwner();
      const others = await Promise.all([identity.addMember(owner, 'owner'), identity.addMember(owner, 'owner')]);
      const ids = [owner.userId, ...others.map(({ user_id }) => user_id)];
      const responses = await Promise.all(
        ids.map((id, index) => {
          const self = { ...owner, caller: { ...owner.caller, userId: id } };
          if (index === 2) return identity.call('delete', `${PATH}/me`, { as: self.caller });
          return index === 0 ? remove(self, id) : setRole(self, id, 'member');
        }),
      );
      expect(responses.filter(({ status }) => status === 409)).toHaveLength(1);
      const roles = Object.values(await rolesOf(owner));
      expect(roles.filter((role) => role === 'owner')).toHaveLength(1);
    }
  });

  it('of another workspace are not found, and stay as they are', async () => {
    const [owner, other] = [await identity.newOwner(), await identity.newOwner()];
    expect((await setRole(owner, other.userId, 'member')).status).toBe(404);
    expect((await remove(owner, other.userId)).status).toBe(404);
    expect(await rolesOf(other)).toEqual({ [other.userId]: 'owner' });
  });

  it.each([
    ['an empty body', {}, ['email', 'role']],
    ['an unknown role', { email: 'a@example.com', role: 'root' }, ['role']],
    ['operator objects', { email: { $gt: '' }, role: { $ne: 1 } }, ['email', 'role']],
    ['an unknown field', { email: 'a@example.com', role: 'member', tenant_id: 'x' }, ['tenant_id']],
    ['a control character in the name', { email: 'a@example.com', role: 'member', name: 'a\u0000' }, ['name']],
  ])('are refused with %s, which names the fields', async (_case, body, paths) => {
    const response = await add(await identity.newOwner(), body);
    expect(response.status).toBe(400);
    expect((response.body.details as { path: string }[]).map(({ path }) => path)).toEqual(paths);
  });

  it.each(['%00', 'a%20b', '%7B%22%24gt%22:%22%22%7D', 'x'.repeat(129)])('are 4xx by the id %s', async (id) => {
    const response = await identity.call('delete', `${PATH}/${id}`, { as: foreignCaller() });
    expect(response.status).toBe(400);
  });

  it.each([
    ['get', PATH],
    ['post', PATH],
    ['patch', `${PATH}/user_1`],
    ['delete', `${PATH}/user_1`],
    ['get', '/api/v1/invitations'],
    ['post', '/api/v1/invitations'],
    ['delete', '/api/v1/invitations/inv_1'],
  ] as const)('are for owners: %s %s is 401 for nobody and 403 for an admin', async (method, path) => {
    expect((await identity.call(method, path)).status).toBe(401);
    expect((await identity.call(method, path, { as: foreignCaller('admin') })).status).toBe(403);
  });
});
