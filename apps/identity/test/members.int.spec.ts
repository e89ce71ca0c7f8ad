import { describe, expect, it } from '@jest/globals';
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

  it('without a user yet get one, whose password is answered once and works', async () => {
    const owner = await identity.newOwner();
    const email = `new-${owner.email}`;
    const response = await add(owner, { email, role: 'admin', name: 'Ada' });
    expect(response.status).toBe(201);
    expect(response.body).toMatchObject({ email, name: 'Ada', role: 'admin' });
    const password = response.body.initial_password as string;
    // Nobody guesses 119 random bits.
    expect(password).toMatch(/^[0-9A-Za-z]{20}$/);
    expect((await identity.login(email, password)).body.workspaces).toMatchObject([{ role: 'admin' }]);
    const list = await identity.call('get', PATH, { as: owner.caller });
    expect(JSON.stringify(list.body)).not.toContain(password);
    expect(identity.logs.text()).not.toContain(password);
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

  it('with a user keep their name and their password', async () => {
    const [owner, other] = [await identity.newOwner(), await identity.newOwner()];
    const response = await add(owner, { email: other.email.toUpperCase(), role: 'member', name: 'Another' });
    expect(response.status).toBe(201);
    expect(response.body).toEqual({
      user_id: other.userId,
      login_name: other.email,
      email: other.email,
      email_verified: false,
      name: other.email.split('@')[0],
      role: 'member',
      source: 'manual',
      joined_at: '2026-11-21T18:00:00.000Z',
    });
    expect((await identity.login(other.email)).body.workspaces).toHaveLength(2);
  });

  it('cannot be added twice', async () => {
    const owner = await identity.newOwner();
    const { email } = await identity.addMember(owner, 'member');
    const response = await add(owner, { email, role: 'owner' });
    expect(response.status).toBe(409);
    expect(response.body).toMatchObject({ code: 'conflict', details: [{ path: 'email' }] });
    expect(Object.values(await rolesOf(owner)).sort()).toEqual(['member', 'owner']);
  });

  it('added by several owners at the same time become one user and one member', async () => {
    const owners = await Promise.all(Array.from({ length: 4 }, () => identity.newOwner()));
    const email = `shared-${owners[0]?.email}`;
    const responses = await Promise.all([...owners, ...owners].map((owner) => add(owner, { email, role: 'member' })));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 201, 201, 201, 409, 409, 409, 409]);
    const made = responses.filter(({ status }) => status === 201).map(({ body }) => body);
    expect(new Set(made.map(({ user_id }) => user_id)).size).toBe(1);
    expect(made.filter(({ initial_password }) => initial_password !== undefined)).toHaveLength(1);
    expect(await identity.collection('users').countDocuments({ email })).toBe(1);
  });

  it('get another role, which their sessions have from then on', async () => {
    const owner = await identity.newOwner();
    const { user_id: userId, email, initial_password: password } = await identity.addMember(owner, 'member');
    const cookie = cookieOf(await identity.login(email, password));
    const response = await setRole(owner, userId, 'admin');
    expect(response.body).toMatchObject({ user_id: userId, role: 'admin' });
    expect((await identity.resolve(cookie))?.memberships).toMatchObject([{ role: 'WORKSPACE_ROLE_ADMIN' }]);
  });

  it('that are removed keep their session and lose the workspace', async () => {
    const owner = await identity.newOwner();
    const { user_id: userId, email, initial_password: password } = await identity.addMember(owner, 'admin');
    const cookie = cookieOf(await identity.login(email, password));
    expect((await remove(owner, userId)).status).toBe(204);
    expect(await identity.resolve(cookie)).toEqual({ userId, memberships: [] });
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

  it('keep an owner though all owners leave at the same moment', async () => {
    for (let round = 0; round < 5; round += 1) {
      const owner = await identity.newOwner();
      const others = await Promise.all([identity.addMember(owner, 'owner'), identity.addMember(owner, 'owner')]);
      const ids = [owner.userId, ...others.map(({ user_id }) => user_id)];
      const responses = await Promise.all(
        ids.map((id, index) => {
          const self = { ...owner, caller: { ...owner.caller, userId: id } };
          return index % 2 === 0 ? remove(self, id) : setRole(self, id, 'member');
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
  ] as const)('are for owners: %s %s is 401 for nobody and 403 for an admin', async (method, path) => {
    expect((await identity.call(method, path)).status).toBe(401);
    expect((await identity.call(method, path, { as: foreignCaller('admin') })).status).toBe(403);
  });
});
