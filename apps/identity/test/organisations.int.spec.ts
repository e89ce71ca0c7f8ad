import { describe, expect, it } from '@jest/globals';
import { type Caller, newId } from '@tollkeeper/kernel';
import { useMongo } from '@tollkeeper/testing';
import { cookieOf, type Method, type TestOwner, useIdentity } from './identity.stack.ts';

const PATH = '/api/v1/organisations';

describe('organisations', () => {
  const identity = useIdentity(useMongo());
  const personOf = ({ userId }: { userId: string }): Caller => ({ userId, tenantId: null, role: null });
  const as = (person: { userId: string }, method: Method, path: string, body?: unknown) =>
    identity.call(method, path, { as: personOf(person), ...(body !== undefined && { body }) });

  async function newOrganisation(owner: TestOwner, ...workspaces: TestOwner[]): Promise<string> {
    const { body } = await as(owner, 'post', PATH, { name: 'Acme' });
    const { id } = body as { id: string };
    for (const { slug } of [owner, ...workspaces]) {
      expect((await as(owner, 'put', `${PATH}/${id}/workspaces/${slug}`)).status).toBe(204);
    }
    return id;
  }

  /** Another workspace, of which `owner` is an owner too. */
  async function shared(owner: TestOwner): Promise<TestOwner> {
    const other = await identity.newOwner();
    await identity.accept(await identity.invite(other, 'owner', owner.email), { as: personOf(owner) });
    return other;
  }

  /** A member of the owner's workspace, with this role in the organisation. */
  async function newPerson(owner: TestOwner, organisation: string, role: string) {
    const { user_id: userId, login_name: login } = await identity.addMember(owner, 'member');
    const given = await as(owner, 'put', `${PATH}/${organisation}/members/${userId}`, { role });
    expect(given.body).toMatchObject({ user_id: userId, role });
    return { userId, login };
  }

  async function rolesOf({ userId }: { userId: string }): Promise<Record<string, string>> {
    const { body } = await as({ userId }, 'get', '/api/v1/workspaces');
    const items = body.items as { slug: string; role: string }[];
    return Object.fromEntries(items.map(({ slug, role }) => [slug, role]));
  }

  it('give their members the same role in each workspace, from the next question of a gateway on', async () => {
    const owner = await identity.newOwner();
    const other = await shared(owner);
    const id = await newOrganisation(owner, other);
    const { userId, login } = await newPerson(owner, id, 'finance');
    const cookie = cookieOf(await identity.login(login));
    const roles = async () =>
      (await identity.resolve(cookie))?.memberships.map(({ slug, role }) => [slug, role]).sort();
    const finance = 'WORKSPACE_ROLE_FINANCE';
    expect(await roles()).toEqual(
      [
        [other.slug, finance],
        [owner.slug, finance],
      ].sort(),
    );

    expect((await as(owner, 'delete', `${PATH}/${id}/workspaces/${other.slug}`)).status).toBe(204);
    expect(await roles()).toEqual([[owner.slug, finance]]);
    expect((await as(owner, 'delete', `${PATH}/${id}/members/${userId}`)).status).toBe(204);
    expect(await roles()).toEqual([[owner.slug, 'WORKSPACE_ROLE_MEMBER']]);
  });

  it('leave a higher role that a person has in a workspace', async () => {
    const owner = await identity.newOwner();
    const other = await shared(owner);
    const id = await newOrganisation(owner, other);
    expect((await as(owner, 'put', `${PATH}/${id}/members/${other.userId}`, { role: 'finance' })).status).toBe(200);
    expect(await rolesOf(other)).toEqual({ [other.slug]: 'owner', [owner.slug]: 'finance' });
  });

  it('let their owners, and not finance, change members of each workspace, and end invitations of former ones', async () => {
    const owner = await identity.newOwner();
    const other = await shared(owner);
    const id = await newOrganisation(owner, other);
    const second = await newPerson(owner, id, 'owner');
    const finance = await newPerson(owner, id, 'finance');
    const inOther = (userId: string): Caller => ({ userId, tenantId: other.tenantId, role: 'owner' });
    const body = { email: `new-${owner.email}`, role: 'owner' };
    const invited = await identity.call('post', '/api/v1/invitations', { as: inOther(second.userId), body });
    expect(invited.status).toBe(201);
    // Whatever a gateway says of the role.
    const refused = await identity.call('post', '/api/v1/invitations', { as: inOther(finance.userId), body });
    expect(refused.status).toBe(403);

    expect((await as(owner, 'put', `${PATH}/${id}/members/${second.userId}`, { role: 'finance' })).status).toBe(200);
    const token = new URL((invited.body as { url: string }).url).hash.slice(1);
    expect((await identity.accept(token, { body: { name: 'Eve', password: 'correct horse battery' } })).status).toBe(
      404,
    );
    const again = await identity.call('post', '/api/v1/invitations', { as: inOther(second.userId), body });
    expect(again.status).toBe(403);
  });

  it('are shown with their people to whoever reads the members of a workspace', async () => {
    const owner = await identity.newOwner();
    const id = await newOrganisation(owner);
    const { userId } = await newPerson(owner, id, 'finance');
    const { body } = await identity.call('get', '/api/v1/members', { as: owner.caller });
    expect(body.organisation).toMatchObject({ id, name: 'Acme' });
    const people = (body.organisation as { members: { user_id: string; role: string }[] }).members;
    expect(people.map((each) => [each.user_id, each.role]).sort()).toEqual(
      [
        [owner.userId, 'owner'],
        [userId, 'finance'],
      ].sort(),
    );
    const alone = await identity.newOwner();
    expect((await identity.call('get', '/api/v1/members', { as: alone.caller })).body).not.toHaveProperty(
      'organisation',
    );
  });

  it('exist for their members alone: everybody else gets the 404 of an unknown one', async () => {
    const owner = await identity.newOwner();
    const id = await newOrganisation(owner);
    const stranger = await identity.newOwner();
    const calls: [Method, string, unknown?][] = [
      ['get', ''],
      ['delete', ''],
      ['put', `/workspaces/${stranger.slug}`],
      ['delete', `/workspaces/${owner.slug}`],
      ['put', `/members/${stranger.userId}`, { role: 'owner' }],
      ['delete', `/members/${owner.userId}`],
      ['delete', `/members/${stranger.userId}`],
    ];
    for (const [method, below, body] of calls) {
      const answers = [
        await as(stranger, method, `${PATH}/${id}${below}`, body),
        await as(stranger, method, `${PATH}/${newId('org')}${below}`, body),
      ].map((answer) => ({ status: answer.status, error: answer.body.error as string }));
      expect(answers[0]).toMatchObject({ status: 404 });
      expect(answers[0]).toEqual(answers[1]);
    }
    expect((await as(stranger, 'get', PATH)).body).toEqual({ items: [] });
    expect((await identity.call('get', PATH)).status).toBe(401);
  });

  it('take no workspace of somebody else, and none of another organisation', async () => {
    const [owner, other] = [await identity.newOwner(), await identity.newOwner()];
    const id = await newOrganisation(owner);
    const add = (slug: string) => as(owner, 'put', `${PATH}/${id}/workspaces/${slug}`);
    expect([(await add(other.slug)).status, (await add('no-such-one')).status]).toEqual([404, 404]);
    // An admin there is no owner.
    await identity.accept(await identity.invite(other, 'admin', owner.email), { as: personOf(owner) });
    expect((await add(other.slug)).status).toBe(404);
    const taken = await shared(owner);
    await newOrganisation(taken);
    expect((await add(taken.slug)).status).toBe(409);
    expect((await add(owner.slug)).status).toBe(204);
  });

  it('let the owner of a workspace take it out, whoever owns the organisation', async () => {
    const owner = await identity.newOwner();
    const other = await shared(owner);
    const id = await newOrganisation(owner, other);
    expect((await as(other, 'delete', `${PATH}/${id}/workspaces/${other.slug}`)).status).toBe(204);
    expect((await as(other, 'delete', `${PATH}/${id}/workspaces/${owner.slug}`)).status).toBe(404);
    const { body } = await as(owner, 'get', `${PATH}/${id}`);
    expect((body.workspaces as { slug: string }[]).map(({ slug }) => slug)).toEqual([owner.slug]);
  });

  it('take only people of their workspaces, so that nobody learns who has an account', async () => {
    const [owner, stranger] = [await identity.newOwner(), await identity.newOwner()];
    const id = await newOrganisation(owner);
    const set = (userId: string) => as(owner, 'put', `${PATH}/${id}/members/${userId}`, { role: 'finance' });
    const answers = [await set(stranger.userId), await set(newId('user'))];
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    expect(answers[0]?.body.error).toBe(answers[1]?.body.error);
  });

  it('are read, and not changed, by finance, who can leave', async () => {
    const owner = await identity.newOwner();
    const id = await newOrganisation(owner);
    const finance = await newPerson(owner, id, 'finance');
    expect((await as(finance, 'get', `${PATH}/${id}`)).body).toMatchObject({ role: 'finance', name: 'Acme' });
    const changes = [
      await as(finance, 'delete', `${PATH}/${id}`),
      await as(finance, 'delete', `${PATH}/${id}/workspaces/${owner.slug}`),
      await as(finance, 'put', `${PATH}/${id}/members/${finance.userId}`, { role: 'owner' }),
      await as(finance, 'delete', `${PATH}/${id}/members/${owner.userId}`),
    ];
    expect(changes.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    expect((await as(finance, 'delete', `${PATH}/${id}/members/${finance.userId}`)).status).toBe(204);
    expect(await rolesOf(finance)).toEqual({ [owner.slug]: 'member' });
  });

  it('always have an owner, also if two leave at the same time', async () => {
    const owner = await identity.newOwner();
    const id = await newOrganisation(owner);
    const set = (role: string) => as(owner, 'put', `${PATH}/${id}/members/${owner.userId}`, { role });
    const leave = (person: { userId: string }) => as(person, 'delete', `${PATH}/${id}/members/${person.userId}`);
    expect([(await set('finance')).status, (await leave(owner)).status]).toEqual([409, 409]);
    const second = await newPerson(owner, id, 'owner');
    const left = await Promise.all([leave(owner), leave(second)]);
    expect(left.map(({ status }) => status).sort()).toEqual([204, 409]);
  });

  it('are at most five for a person, at the same time too, and are deleted once they are empty', async () => {
    const owner = await identity.newOwner();
    const made = await Promise.all(Array.from({ length: 7 }, () => as(owner, 'post', PATH, { name: 'Acme' })));
    expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 201, 201, 201, 409, 409]);
    const { id } = made.find(({ status }) => status === 201)!.body as { id: string };
    await as(owner, 'put', `${PATH}/${id}/workspaces/${owner.slug}`);
    expect((await as(owner, 'delete', `${PATH}/${id}`)).status).toBe(409);
    await as(owner, 'delete', `${PATH}/${id}/workspaces/${owner.slug}`);
    expect((await as(owner, 'delete', `${PATH}/${id}`)).status).toBe(204);
    expect((await as(owner, 'post', PATH, { name: 'Acme' })).status).toBe(201);
  });

  it('write who gets and loses access to the audit log of each workspace', async () => {
    const owner = await identity.newOwner();
    const other = await shared(owner);
    const id = await newOrganisation(owner, other);
    const { userId } = await newPerson(owner, id, 'finance');
    await as(owner, 'delete', `${PATH}/${id}/members/${userId}`);
    await as(owner, 'delete', `${PATH}/${id}/workspaces/${other.slug}`);
    const records = (await identity.audited(other.tenantId, 8)).filter(({ action }) =>
      action.startsWith('organisation.'),
    );
    expect(records.map(({ action, changes }) => [action, changes])).toEqual([
      ['organisation.create', [{ field: 'organisation', from: null, to: 'Acme' }]],
      ['organisation.workspace.add', [{ field: 'workspace', from: null, to: other.slug }]],
      ['organisation.member.set', [{ field: 'role', from: null, to: 'finance' }]],
      ['organisation.member.remove', [{ field: 'role', from: 'finance', to: null }]],
      ['organisation.workspace.remove', [{ field: 'workspace', from: other.slug, to: null }]],
    ]);
    expect(records[1]).toMatchObject({
      actor: { id: owner.userId },
      target: { type: 'organisation', id, name: 'Acme' },
    });
  });
});
