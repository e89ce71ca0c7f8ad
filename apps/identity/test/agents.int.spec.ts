import { describe, expect, it } from '@jest/globals';
import { GATEWAY_EVENTS_TOPIC } from '@tollkeeper/contracts';
import { eventually, useMongo } from '@tollkeeper/testing';
import { agentCalls, eventOf, PATH } from './agent.calls.ts';
import { foreignCaller, type TestOwner, useIdentity } from './identity.stack.ts';

describe('agents', () => {
  const identity = useIdentity(useMongo());
  const { create, list, report, idsOf } = agentCalls(identity);

  describe('made by hand', () => {
    it('are listed by id in pages, those of the workspace alone', async () => {
      const [owner, other] = [await identity.newOwner(), await identity.newOwner()];
      for (const id of ['b', 'c', 'a']) await create(owner, id, `Agent ${id}`);
      await create(other, 'd');
      const at = '2026-11-21T18:00:00.000Z';
      expect(await list(owner)).toEqual({
        items: ['a', 'b', 'c'].map((id) => ({ agent_id: id, display_name: `Agent ${id}`, labels: {}, created_at: at })),
        next_cursor: null,
      });
      expect(await list(owner, '?limit=2')).toMatchObject({ items: [{}, { agent_id: 'b' }], next_cursor: 'b' });
      expect(await list(owner, '?limit=2&cursor=b')).toMatchObject({ items: [{ agent_id: 'c' }], next_cursor: null });
      // The last page may be full.
      expect(await list(owner, '?limit=2&cursor=a')).toMatchObject({ items: [{}, {}], next_cursor: null });
    });

    it('are 409 when the workspace has them, one of several at the same time', async () => {
      const [owner, other] = [await identity.newOwner(), await identity.newOwner()];
      const responses = await Promise.all(Array.from({ length: 4 }, () => create(owner, 'same')));
      expect(responses.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
      expect((await create(other, 'same')).status).toBe(201);
    });

    it('are read by members of their workspace alone', async () => {
      const [owner, other] = [await identity.newOwner(), await identity.newOwner()];
      const { body } = await create(owner, 'a', 'Name');
      const read = ({ caller }: TestOwner, id: string) =>
        identity.call('get', `${PATH}/${id}`, { as: { ...caller, role: 'member' } });
      expect(await read(owner, 'a')).toMatchObject({ status: 200, body });
      for (const answer of [await read(owner, 'b'), await read(other, 'a')]) {
        expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
      }
    });

    it('get another name, in their workspace alone', async () => {
      const [owner, other] = [await identity.newOwner(), await identity.newOwner()];
      await create(owner, 'a.b:c-d_1', 'Old');
      const rename = (as: TestOwner) =>
        identity.call('patch', `${PATH}/a.b:c-d_1`, { as: as.caller, body: { display_name: 'New' } });
      expect((await rename(other)).status).toBe(404);
      expect((await rename(owner)).body).toMatchObject({ agent_id: 'a.b:c-d_1', display_name: 'New' });
    });

    it.each([
      [{}, ['agent_id', 'display_name']],
      [{ agent_id: 'a b', display_name: '' }, ['agent_id', 'display_name']],
      [{ agent_id: { $gt: '' }, display_name: 'x' }, ['agent_id']],
      [{ agent_id: 'x'.repeat(129), display_name: 'x', budget: 1 }, ['agent_id', 'budget']],
    ])('are refused as %j, which names the fields', async (body, paths) => {
      const response = await identity.call('post', PATH, { as: foreignCaller(), body });
      expect(response.status).toBe(400);
      expect((response.body.details as { path: string }[]).map(({ path }) => path)).toEqual(paths);
    });

    it.each(['?limit=0', '?limit=1001', '?limit=x', '?cursor=a%20b', '?limit=1&limit=2'])(
      'are not listed with %s',
      async (query) => {
        expect((await identity.call('get', PATH + query, { as: foreignCaller() })).status).toBe(400);
      },
    );

    it('are for members to read and for owners to make', async () => {
      const body = { agent_id: 'a', display_name: 'A' };
      expect((await identity.call('get', PATH)).status).toBe(401);
      expect((await identity.call('get', PATH, { as: foreignCaller('member') })).status).toBe(200);
      expect((await identity.call('post', PATH, { as: foreignCaller('admin'), body })).status).toBe(403);
      for (const role of ['member', 'admin'] as const) {
        const asked = { as: foreignCaller(role), body: { labels: {} } };
        expect((await identity.call('patch', `${PATH}/a`, asked)).status).toBe(403);
      }
    });

    it('are answered over gRPC by id, all of them or those asked for', async () => {
      const owner = await identity.newOwner();
      const { tenantId } = owner;
      for (const id of ['b', 'a']) await create(owner, id, `Agent ${id}`);
      const { getAgents } = identity.client();
      const [a, b] = ['a', 'b'].map((agentId) => ({ agentId, displayName: `Agent ${agentId}`, labels: {} }));
      expect(await getAgents({ tenantId })).toEqual({ agents: [a, b] });
      expect(await getAgents({ tenantId, agentIds: ['b', 'none'] })).toEqual({ agents: [b] });
    });

    it.each([
      ['no tenant', '', ['a'], 'tenant_id'],
      ['an id that is too long', 'ws_1', ['a', 'a'.repeat(129)], 'agent_ids[1]'],
      ['more than 1000 ids', 'ws_1', Array<string>(1001).fill('a'), 'agent_ids'],
    ])('are refused over gRPC for %s, by the name of the field', async (_case, tenantId, agentIds, path) => {
      const asked = identity.client().getAgents({ tenantId, agentIds });
      await expect(asked).rejects.toMatchObject({ code: 'invalid_request', details: [{ path }] });
    });
  });

  describe('registered over gRPC', () => {
    const register = (tenantId: string, ...agentIds: string[]) =>
      identity.client().registerAgents({ tenantId, agentIds });

    it('are there under their ids from the answer on, in their workspace alone', async () => {
      const [owner, other] = [await identity.newOwner(), await identity.newOwner()];
      await register(owner.tenantId, 'b', 'a', 'b');
      const at = '2026-11-21T18:00:00.000Z';
      expect(await list(owner)).toMatchObject({
        items: ['a', 'b'].map((id) => ({ agent_id: id, display_name: id, created_at: at })),
      });
      expect(await idsOf(other)).toEqual([]);
    });

    it('stay as they are when the workspace has them', async () => {
      const owner = await identity.newOwner();
      await create(owner, 'named', 'A good name');
      for (let times = 0; times < 2; times += 1) await register(owner.tenantId, 'named', 'new');
      expect(await list(owner)).toMatchObject({
        items: [{ display_name: 'A good name' }, { display_name: 'new' }],
      });
    });

    it('are made once by calls and an event at the same time', async () => {
      const owner = await identity.newOwner();
      const ids = Array.from({ length: 50 }, (_, index) => `agent-${index}`).sort();
      await Promise.all([
        report(
          owner.tenantId,
          ids.map((id) => eventOf({ agent_id: id })),
        ),
        ...Array.from({ length: 8 }, () => register(owner.tenantId, ...ids)),
      ]);
      await report(owner.tenantId, [eventOf({ agent_id: 'last' })]);
      await eventually(async () => expect(await idsOf(owner)).toEqual([...ids, 'last']));
    });

    it('are made in a workspace that identity does not have, as those of events are', async () => {
      const tenantId = foreignCaller().tenantId!;
      await register(tenantId, 'a');
      expect((await identity.client().getAgents({ tenantId })).agents).toHaveLength(1);
    });

    it('may be 1000 with the longest ids', async () => {
      const owner = await identity.newOwner();
      const ids = Array.from({ length: 1000 }, (_, index) => `${index}`.padStart(128, '0'));
      await register(owner.tenantId, ...ids);
      expect((await identity.client().getAgents({ tenantId: owner.tenantId })).agents).toHaveLength(1000);
    });

    it.each([
      ['no tenant', '', ['a'], 'tenant_id'],
      ['no agent', 'ws_1', [], 'agent_ids'],
      ['an id that is too long', 'ws_1', ['a', 'a'.repeat(129)], 'agent_ids[1]'],
      ['more than 1000 ids', 'ws_1', Array<string>(1001).fill('a'), 'agent_ids'],
    ])('are refused for %s, by the name of the field', async (_case, tenantId, agentIds, path) => {
      const details = [{ path }];
      await expect(register(tenantId, ...agentIds)).rejects.toMatchObject({ code: 'invalid_request', details });
    });
  });

  describe('seen in events', () => {
    it('register themselves once, under their id, in the workspace of the event', async () => {
      const [owner, other] = [await identity.newOwner(), await identity.newOwner()];
      await report(owner.tenantId, [
        eventOf({ agent_id: 'seen' }),
        eventOf({ agent_id: 'seen' }, 'guard.custom'),
        eventOf({ run_id: 'r' }),
      ]);
      await report(other.tenantId, [eventOf({ agent_id: 'elsewhere' })]);
      await report(owner.tenantId, [eventOf({ agent_id: 'seen' }), eventOf({ agent_id: 'seen-too' })]);
      await eventually(async () => expect(await idsOf(owner)).toEqual(['seen', 'seen-too']));
      await eventually(async () => expect(await idsOf(other)).toEqual(['elsewhere']));
      expect(await list(owner)).toMatchObject({
        items: [{ display_name: 'seen', created_at: '2026-11-21T17:00:01.000Z' }, {}],
      });
    });

    it('keep the name that somebody gave them', async () => {
      const owner = await identity.newOwner();
      await create(owner, 'named', 'A good name');
      await report(owner.tenantId, [eventOf({ agent_id: 'named' }), eventOf({ agent_id: 'later' })]);
      await eventually(async () => expect(await idsOf(owner)).toEqual(['later', 'named']));
      expect(await list(owner)).toMatchObject({ items: [{}, { display_name: 'A good name' }] });
    });

    it('register though the service was down, and are not read again after a restart', async () => {
      const owner = await identity.newOwner();
      await identity.stopService();
      await report(owner.tenantId, [eventOf({ agent_id: 'while-away' })]);
      await identity.startService();
      await eventually(async () => expect(await idsOf(owner)).toEqual(['while-away']));
      // If the offset were lost, the restart would bring the agent back.
      await identity.collection('agents').deleteMany({ tenantId: owner.tenantId });
      await identity.restart();
      await report(owner.tenantId, [eventOf({ agent_id: 'after' })]);
      await eventually(async () => expect(await idsOf(owner)).toEqual(['after']));
    });

    it('register from behind a record that cannot be read, which goes to the dead letters', async () => {
      const owner = await identity.newOwner();
      const unreadable = { key: owner.tenantId, value: Buffer.from('{"v":1,"tenant_id":{"$gt":""}}') };
      await identity.eventLog().append(GATEWAY_EVENTS_TOPIC, [unreadable]);
      await report(owner.tenantId, [eventOf({ agent_id: 'behind' })]);
      await eventually(async () => expect(await idsOf(owner)).toEqual(['behind']));
      const dead: string[] = [];
      const consumer = identity.eventLog().consumer({
        group: 'test',
        topic: `${GATEWAY_EVENTS_TOPIC}.dead`,
        maxRecords: 10,
        handler: {
          position: async () => null,
          handle: async ({ records }) => void dead.push(...records.map(({ value }) => value.toString())),
        },
      });
      await consumer.start();
      try {
        await eventually(() => expect(dead).toEqual([unreadable.value.toString()]));
      } finally {
        await consumer.stop();
      }
    });

    it('register in bulk', async () => {
      const owner = await identity.newOwner();
      const events = Array.from({ length: 3000 }, (_, index) => eventOf({ agent_id: `agent-${index % 300}` }));
      await report(owner.tenantId, events);
      await eventually(async () => expect(await idsOf(owner)).toHaveLength(300));
    });
  });
});
