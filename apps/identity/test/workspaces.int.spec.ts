import { describe, expect, it } from '@jest/globals';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { useMongo } from '@tollkeeper/testing';
import { foreignCaller, PASSWORD, type TestOwner, useIdentity } from './identity.stack.ts';

const PATH = '/api/v1/workspaces';

describe('workspaces', () => {
  const identity = useIdentity(useMongo());
  const create = (owner: TestOwner, body: object) =>
    identity.call('post', PATH, { as: { ...owner.caller, tenantId: null, role: null }, body });
  const update = (owner: TestOwner, body: object) =>
    identity.call('patch', '/api/v1/workspace', { as: owner.caller, body });

  /** Adds another owner to one of the owner's workspaces. */
  async function addOwnerTo(owner: TestOwner, slug: string): Promise<{ tenantId: TenantId }> {
    const { body } = await identity.call('get', PATH, { as: owner.caller });
    const { id } = (body.items as { id: string; slug: string }[]).find((each) => each.slug === slug)!;
    const tenantId = provenTenantId(id);
    await identity.addMember({ ...owner, tenantId, caller: { ...owner.caller, tenantId } }, 'owner');
    return { tenantId };
  }

  it('are listed for their members alone, by slug', async () => {
    const [owner, other] = [await identity.newOwner(), await identity.newOwner()];
    await create(owner, { slug: `a-${owner.slug}`, name: 'First' });
    await identity.accept(await identity.invite(other, 'admin', owner.email), { as: owner.caller });
    const { body } = await identity.call('get', PATH, { as: owner.caller });
    const items = body.items as { slug: string; role: string }[];
    expect(items.map(({ slug }) => slug)).toEqual([`a-${owner.slug}`, ...[owner.slug, other.slug].sort()]);
    expect(items.find(({ slug }) => slug === other.slug)?.role).toBe('admin');
  });

  it('belong to whoever creates them, in UTC unless said otherwise', async () => {
    const owner = await identity.newOwner();
    const response = await create(owner, { slug: `n-${owner.slug}`, name: ' New ' });
    expect(response.status).toBe(201);
    const { id } = response.body as { id: string };
    const named = { id, slug: `n-${owner.slug}`, name: 'New', timezone: 'UTC' };
    expect(response.body).toEqual({ ...named, role: 'owner', tracked_labels: [] });
    expect(await identity.client().getWorkspace({ tenantId: id })).toEqual({
      workspace: { ...named, trackedLabels: [] },
    });
  });

  it('have a slug of their own: of several at the same time one gets it, the others 409', async () => {
    const owners = await Promise.all(Array.from({ length: 4 }, () => identity.newOwner()));
    const slug = `race-${owners[0]?.slug}`;
    const responses = await Promise.all(owners.map((owner) => create(owner, { slug, name: 'Race' })));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    const refused = responses.find(({ status }) => status === 409);
    expect(refused?.body).toMatchObject({ code: 'conflict', details: [{ path: 'slug' }] });
    const stored = await identity.collection('workspaces').find({ slug }).toArray();
    const members = await identity
      .collection('members')
      .find({ tenantId: String(stored[0]?._id) })
      .toArray();
    expect([stored.length, members.length]).toEqual([1, 1]);
  });

  it.each(['', 'a', '-a', 'a-', 'a--b', 'A1', 'a_b', 'a b', 'ä1', 'x'.repeat(41), '../x', 7, { $gt: '' }])(
    'have no slug such as %j',
    async (slug) => {
      const response = await create(await identity.newOwner(), { slug, name: 'Name' });
      expect(response.status).toBe(400);
      expect(response.body.details).toMatchObject([{ path: 'slug' }]);
    },
  );

  it('change name and time zone, each alone or together', async () => {
    const owner = await identity.newOwner();
    expect((await update(owner, { name: 'Renamed' })).body).toMatchObject({ name: 'Renamed', timezone: 'UTC' });
    expect((await update(owner, { timezone: 'Asia/Kathmandu' })).body).toEqual({
      id: owner.tenantId,
      slug: owner.slug,
      name: 'Renamed',
      role: 'owner',
      timezone: 'Asia/Kathmandu',
      tracked_labels: [],
    });
  });

  it('change the labels that they track, and other services and the audit log see it', async () => {
    const owner = await identity.newOwner();
    const { tenantId } = owner;
    const tracked = ['team', 'cost.center'];
    expect((await update(owner, { tracked_labels: tracked })).body).toMatchObject({ tracked_labels: tracked });
    expect((await update(owner, { name: 'Renamed' })).body).toMatchObject({ tracked_labels: tracked });
    expect((await identity.client().getWorkspace({ tenantId })).workspace?.trackedLabels).toEqual(tracked);
    expect((await update(owner, { tracked_labels: [] })).body).toMatchObject({ tracked_labels: [] });
    const [, first, , last] = await identity.audited(tenantId, 4);
    expect(first?.changes).toEqual([{ field: 'tracked_labels', from: null, to: tracked }]);
    expect(last?.changes).toEqual([{ field: 'tracked_labels', from: tracked, to: null }]);
  });

  it('that an earlier release stored track no labels', async () => {
    const { tenantId, slug, caller } = await identity.newOwner();
    await identity.collection('workspaces').updateOne({ slug }, { $unset: { trackedLabels: '' } });
    const { body } = await identity.call('get', PATH, { as: caller });
    expect(body.items).toMatchObject([{ id: tenantId, tracked_labels: [] }]);
    expect((await identity.client().getWorkspace({ tenantId })).workspace?.trackedLabels).toEqual([]);
  });

  it('have their time zone in the spelling of IANA', async () => {
    const owner = await identity.newOwner();
    expect((await update(owner, { timezone: 'europe/berlin' })).body.timezone).toBe('Europe/Berlin');
    const created = await create(owner, { slug: `z-${owner.slug}`, name: 'New', timezone: 'utc' });
    expect(created.body.timezone).toBe('UTC');
  });

  it.each([
    ['nothing', {}, ''],
    ['an unknown time zone', { timezone: 'Mars/Base' }, 'timezone'],
    ['an offset for a time zone', { timezone: '+01:00' }, 'timezone'],
    ['a blank name', { name: '  ' }, 'name'],
    ['another slug', { slug: 'other' }, 'slug'],
    ['a sixth tracked label', { tracked_labels: ['a', 'b', 'c', 'd', 'e', 'f'] }, 'tracked_labels'],
    ['a label that is tracked twice', { tracked_labels: ['team', 'team'] }, 'tracked_labels'],
    ['a tracked label that no label can be', { tracked_labels: ['team', 'Team'] }, 'tracked_labels[1]'],
  ])('are not changed by %s', async (_case, body, path) => {
    const response = await update(await identity.newOwner(), body);
    expect(response.status).toBe(400);
    expect((response.body.details as { path: string }[]).map((detail) => detail.path)).toContain(path);
  });

  it('can be created by any user, up to a hundred, and changed by owners alone', async () => {
    expect((await identity.call('get', PATH)).status).toBe(401);
    expect((await identity.call('post', PATH)).status).toBe(401);
    const admin = foreignCaller('admin');
    expect((await identity.call('patch', '/api/v1/workspace', { as: admin, body: { name: 'x' } })).status).toBe(403);
    const owner = await identity.newOwner();
    for (let index = 1; index < 100; index += 1) {
      expect((await create(owner, { slug: `${owner.slug}-${index}`, name: 'x' })).status).toBe(201);
    }
    const refused = await create(owner, { slug: `${owner.slug}-100`, name: 'x' });
    expect([refused.status, refused.body.error]).toEqual([409, expect.stringContaining('100 workspaces')]);
    // Concurrent requests do not get past the limit, and neither does an invitation.
    expect((await identity.call('delete', '/api/v1/members/me', { as: owner.caller })).status).toBe(409);
    const { tenantId } = await addOwnerTo(owner, `${owner.slug}-99`);
    expect((await identity.call('delete', '/api/v1/members/me', { as: { ...owner.caller, tenantId } })).status).toBe(
      204,
    );
    const racing = ['a', 'b', 'c'].map((name) => create(owner, { slug: `${owner.slug}-${name}`, name }));
    expect((await Promise.all(racing)).map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    const token = await identity.invite(await identity.newOwner(), 'member', `x-${owner.email}`);
    expect((await identity.accept(token, { as: owner.caller })).status).toBe(409);
  });

  it('that do not exist are NOT_FOUND over gRPC, and a malformed id is refused by name', async () => {
    const { getWorkspace } = identity.client();
    await expect(getWorkspace({ tenantId: 'ws_none' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(getWorkspace({ tenantId: '' })).rejects.toMatchObject({ details: [{ path: 'tenant_id' }] });
  });
});

describe('the first owner', () => {
  const identity = useIdentity(useMongo());
  const workspace = { slug: 'demo', name: 'Demo' };
  const owner = { email: 'Owner@example.com', name: 'Owner', password: PASSWORD, workspace };

  it('is made once, however often it is asked for, at the same time too', async () => {
    const results = await Promise.all(Array.from({ length: 5 }, () => identity.ensureOwner(owner)));
    expect(new Set(results.map(({ userId, tenantId }) => `${userId} ${tenantId}`)).size).toBe(1);
    for (const collection of ['users', 'workspaces', 'members']) {
      expect(await identity.collection(collection).countDocuments()).toBe(1);
    }
    const { body } = await identity.login('owner@example.com');
    expect(body).toMatchObject({ user: { name: 'Owner' }, workspaces: [{ slug: 'demo', role: 'owner' }] });
  });

  it('has the password of the last time, and no session from before', async () => {
    await identity.ensureOwner({ ...owner, password: 'first long password' });
    await identity.login(owner.email, 'first long password');
    await identity.ensureOwner({ ...owner, password: 'second long password' });
    expect(await identity.collection('sessions').countDocuments()).toBe(0);
    expect((await identity.login(owner.email, 'first long password')).status).toBe(401);
    expect((await identity.login(owner.email, 'second long password')).status).toBe(200);
  });
});
