import { describe, expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import { agentCalls, eventOf, PATH } from './agent.calls.ts';
import { type TestOwner, useIdentity } from './identity.stack.ts';

const namedLabels = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, nth) => [`label${nth}`, 'x']));
const BAD_LABELS: [string, unknown, string][] = [
  ['11 labels', namedLabels(11), 'labels'],
  ['a name with a capital', { Team: 'growth' }, 'labels.Team'],
  ['an empty value', { team: '' }, 'labels.team'],
  ['a control character', { team: 'a\u0007b' }, 'labels.team'],
  ['an operator object', { team: { $ne: null } }, 'labels.team'],
  ['null', null, 'labels'],
];

describe('agents with labels', () => {
  const identity = useIdentity(useMongo());
  const { create, list, report, idsOf } = agentCalls(identity);
  // Mongoose's own maps refuse names with a dot.
  const LABELS = { team: 'growth', 'cost.center': 'R&D, 7', constructor: 'x' };
  const change = (owner: TestOwner, agentId: string, body: object) =>
    identity.call('patch', `${PATH}/${agentId}`, { as: owner.caller, body });

  it('have them from the start, in every answer', async () => {
    const owner = await identity.newOwner();
    const body = { agent_id: 'a', display_name: 'A', labels: LABELS };
    const created = await identity.call('post', PATH, { as: owner.caller, body });
    expect(created).toMatchObject({ status: 201, body: { labels: LABELS } });
    const renamed = await change(owner, 'a', { display_name: 'A' });
    expect(renamed).toMatchObject({ status: 200, body: created.body });
    expect(await list(owner)).toEqual({ items: [created.body], next_cursor: null });
  });

  it('get others in place of all that they had, and keep their name', async () => {
    const owner = await identity.newOwner();
    for (const id of ['a', 'b']) await create(owner, id, `Agent ${id}`);
    for (const labels of [{ team: 'sales', env: 'dev' }, LABELS, {}, namedLabels(10)]) {
      const { status, body } = await change(owner, 'a', { labels });
      const agent = { agent_id: 'a', display_name: 'Agent a', labels, created_at: '2026-11-21T18:00:00.000Z' };
      expect([status, body]).toEqual([200, agent]);
      expect(await list(owner)).toEqual({
        items: [agent, { ...agent, agent_id: 'b', display_name: 'Agent b', labels: {} }],
        next_cursor: null,
      });
    }
  });

  it('keep them when they get another name, and get both in one call', async () => {
    const owner = await identity.newOwner();
    await create(owner, 'a', 'Old');
    await change(owner, 'a', { labels: LABELS });
    const renamed = await change(owner, 'a', { display_name: 'New' });
    expect(renamed.body).toMatchObject({ display_name: 'New', labels: LABELS });
    expect(await list(owner)).toEqual({ items: [renamed.body], next_cursor: null });
    const both = await change(owner, 'a', { display_name: 'Newer', labels: { env: 'prod' } });
    expect(both.body).toEqual({ ...(renamed.body as object), display_name: 'Newer', labels: { env: 'prod' } });
    expect(await list(owner)).toEqual({ items: [both.body], next_cursor: null });
  });

  it('get a name and labels from two calls at the same time', async () => {
    const owner = await identity.newOwner();
    await create(owner, 'a', 'Old');
    await Promise.all([change(owner, 'a', { display_name: 'New' }), change(owner, 'a', { labels: LABELS })]);
    expect(await list(owner)).toMatchObject({ items: [{ display_name: 'New', labels: LABELS }] });
  });

  it('are not changed by a call that has neither a name nor labels', async () => {
    const response = await change(await identity.newOwner(), 'a', {});
    const details = [{ path: '', message: 'must have display_name, labels or both' }];
    expect([response.status, response.body]).toMatchObject([400, { code: 'invalid_request', details }]);
  });

  it.each(BAD_LABELS)('are refused with %s, by the name of the field', async (_case, labels, path) => {
    const owner = await identity.newOwner();
    await create(owner, 'a');
    await change(owner, 'a', { labels: LABELS });
    const body = { agent_id: 'b', display_name: 'B', labels };
    for (const response of [
      await change(owner, 'a', { labels }),
      await identity.call('post', PATH, { as: owner.caller, body }),
    ]) {
      expect(response).toMatchObject({ status: 400, body: { details: [{ path }] } });
    }
    expect(((await list(owner)) as { items: unknown }).items).toMatchObject([{ agent_id: 'a', labels: LABELS }]);
  });

  it('get none from another workspace', async () => {
    const [owner, other] = [await identity.newOwner(), await identity.newOwner()];
    await create(owner, 'a');
    expect((await change(other, 'a', { labels: LABELS })).status).toBe(404);
    expect(await list(owner)).toMatchObject({ items: [{ labels: {} }] });
  });

  it('have none if release 0.1.0 stored them, until somebody gives them some', async () => {
    const owner = await identity.newOwner();
    const { tenantId } = owner;
    const stored = { tenantId, agentId: 'old', displayName: 'Old', createdAt: new Date(identity.clock.now) };
    await identity.collection('agents').insertOne(stored);
    const { getAgents } = identity.client();
    expect(await list(owner)).toMatchObject({ items: [{ agent_id: 'old', display_name: 'Old', labels: {} }] });
    const agent = { agentId: 'old', displayName: 'Old', labels: {} };
    expect(await getAgents({ tenantId, agentIds: ['old'], withLabels: true })).toEqual({ agents: [agent] });
    expect((await change(owner, 'old', { labels: LABELS })).status).toBe(200);
    expect(await getAgents({ tenantId, agentIds: ['old'], withLabels: true })).toEqual({
      agents: [{ ...agent, labels: LABELS }],
    });
  });

  it('are answered with them over gRPC, changed ones from then on', async () => {
    const owner = await identity.newOwner();
    const { tenantId } = owner;
    for (const id of ['a', 'b']) await create(owner, id);
    const labelsOf = async (agentIds: string[]) =>
      (await identity.client().getAgents({ tenantId, agentIds, withLabels: true })).agents.map(({ labels }) => labels);
    for (const labels of [LABELS, { env: 'prod' }, {}]) {
      await change(owner, 'a', { labels });
      expect(await labelsOf(['a', 'b'])).toEqual([labels, {}]);
    }
  });

  it('are answered over gRPC however long these are: all without them, up to 500 with them', async () => {
    const { tenantId } = await identity.newOwner();
    const labels = Object.fromEntries(Object.keys(namedLabels(10)).map((name) => [name, '€'.repeat(128)]));
    const common = { tenantId, displayName: '€'.repeat(120), labels, createdAt: new Date(identity.clock.now) };
    const agentIds = Array.from({ length: 2000 }, (_, index) => `agent-${index}`);
    await identity.collection('agents').insertMany(agentIds.map((agentId) => ({ ...common, agentId })));
    const { getAgents } = identity.client();
    const patient = { deadlineMs: 60_000 };
    const { agents } = await getAgents({ tenantId }, patient);
    expect([agents.length, agents[0]]).toEqual([2000, expect.objectContaining({ labels: {} })]);
    const labelled = await getAgents({ tenantId, agentIds: agentIds.slice(0, 500), withLabels: true }, patient);
    expect([labelled.agents.length, labelled.agents[0]]).toEqual([500, expect.objectContaining({ labels })]);
    for (const asked of [[], agentIds.slice(0, 501)]) {
      const problem = { code: 'invalid_request', details: [{ path: 'agent_ids' }] };
      await expect(getAgents({ tenantId, agentIds: asked, withLabels: true })).rejects.toMatchObject(problem);
    }
  });

  it('are read from the database only if they are asked for', async () => {
    const { tenantId } = await identity.newOwner();
    await identity.command({ profile: 2 });
    for (const withLabels of [false, true])
      await identity.client().getAgents({ tenantId, agentIds: ['old'], withLabels });
    await identity.command({ profile: 0 });
    const found = await identity.collection('system.profile').find({ 'command.filter.tenantId': tenantId }).toArray();
    expect(found.map(({ command }) => command.projection)).toEqual([
      { _id: 0, agentId: 1, displayName: 1 },
      { _id: 0, agentId: 1, displayName: 1, labels: 1 },
    ]);
  });

  it('keep them when an event or a call names them again', async () => {
    const owner = await identity.newOwner();
    await create(owner, 'a');
    await change(owner, 'a', { labels: LABELS });
    await identity.client().registerAgents({ tenantId: owner.tenantId, agentIds: ['a'] });
    await report(owner.tenantId, [eventOf({ agent_id: 'a' }), eventOf({ agent_id: 'later' })]);
    await eventually(async () => expect(await idsOf(owner)).toEqual(['a', 'later']));
    expect(await list(owner)).toMatchObject({ items: [{ labels: LABELS }, { labels: {} }] });
  });
});
