import { describe, expect, it } from '@jest/globals';
import type { TenantId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { type Body, event, newTenant, ruleBody, useAlerts } from './alerts.stack.ts';

const mongo = useMongo();
const stack = useAlerts(mongo);
const { call, createRule, createChannel, expecting } = stack;

const pathsOf = (body: unknown) => (body as { details: { path: string }[] }).details.map(({ path }) => path);

const named = async (tenantId: TenantId) =>
  ((await expecting(200, 'get', tenantId, '/rules')).items as Body[]).map((rule) => rule['channel_config_ids']);

describe('a rule', () => {
  it('needs the notifier only where a channel is added, and says when to try again', async () => {
    const tenantId = newTenant();
    const [first, second] = [await createChannel(tenantId), await createChannel(tenantId)];
    const rule = await createRule(tenantId, { channel_config_ids: [first.id] });
    const notifyingBoth = await createRule(tenantId, { channel_config_ids: [first.id, second.id] });
    await stack.peers.stop();
    const both = { channel_config_ids: [first.id, second.id] };
    const refused = [
      await call('post', tenantId, '/rules', { body: ruleBody(tenantId, both) }),
      await call('patch', tenantId, `/rules/${rule.id}`, { body: both }),
    ];
    await expecting(200, 'patch', tenantId, `/rules/${rule.id}`, { body: { enabled: false } });
    await expecting(200, 'patch', tenantId, `/rules/${notifyingBoth.id}`, {
      body: { channel_config_ids: [second.id] },
    });
    await createRule(tenantId);
    await stack.peers.start();
    for (const { status, body, headers } of refused) {
      const unavailable = expect.objectContaining({ code: 'service_unavailable' });
      expect([status, body, headers['retry-after']]).toEqual([503, unavailable, '1']);
    }
    await expecting(200, 'patch', tenantId, `/rules/${rule.id}`, { body: both });
  });
});

describe('a channel that changes', () => {
  it('is known as it is now to a rule for which the notifier had answered before', async () => {
    const tenantId = newTenant();
    const [late, other] = [await createChannel(tenantId, { enabled: false }), await createChannel(tenantId)];
    await createRule(tenantId, { channel_config_ids: [other.id] });
    await stack.reportChange(tenantId, { ...late, enabled: true, revision: 2 });
    // Reports of a workspace are read in order, so this shows that the change was read.
    await stack.deleteChannel(tenantId, other.id);
    await eventually(async () => expect(await named(tenantId)).toEqual([[]]));

    // The stand-in of the notifier still returns the old channel.
    await createRule(tenantId, { channel_config_ids: [late.id] });
    const stored = mongo.connection.useDb(stack.database).collection<{ _id: string }>('channels');
    expect(await stored.findOne({ _id: late.id })).toMatchObject({ enabled: true, revision: 2 });
  });
});

describe('a channel that is deleted', () => {
  it('leaves the rules that named it as they are otherwise', async () => {
    const tenantId = newTenant();
    const [gone, kept] = [await createChannel(tenantId), await createChannel(tenantId)];
    const rule = await createRule(tenantId, { channel_config_ids: [gone.id, kept.id] });
    const foreign = await createRule(newTenant());
    await stack.deleteChannel(tenantId, gone.id);
    await eventually(async () => expect(await named(tenantId)).toEqual([[kept.id]]));
    expect(await expecting(200, 'get', tenantId, `/rules/${rule.id}`)).toEqual({
      ...rule,
      channel_config_ids: [kept.id],
    });
    expect(foreign['channel_config_ids']).toEqual([]);
  });

  it('is in no rule for which the notifier had found it before', async () => {
    const tenantId = newTenant();
    const { id } = await createChannel(tenantId);
    const rule = await createRule(tenantId);
    await stack.reportDeletion(tenantId, id);
    const known = () =>
      mongo.connection.useDb(stack.database).collection<{ _id: string }>('channels').findOne({ _id: id });
    await eventually(async () => expect(await known()).toHaveProperty('deletedAt'));

    // The stand-in of the notifier still finds it.
    const body = { channel_config_ids: [id] };
    const refused = [
      await call('post', tenantId, '/rules', { body: ruleBody(tenantId, body) }),
      await call('patch', tenantId, `/rules/${rule.id}`, { body }),
    ];
    for (const response of refused) {
      expect([response.status, pathsOf(response.body)]).toEqual([400, ['channel_config_ids[0]']]);
    }
    expect(await named(tenantId)).toEqual([[]]);
  });

  it('is in no rule in the end, though such rules are made at the same moment', async () => {
    const tenantId = newTenant();
    const channels: string[] = [];
    for (let n = 0; n < 10; n += 1) channels.push((await createChannel(tenantId)).id);
    const made = channels.map((id) =>
      call('post', tenantId, '/rules', { body: ruleBody(tenantId, { channel_config_ids: [id] }) }),
    );
    await Promise.all(channels.map((id) => stack.deleteChannel(tenantId, id)));
    for (const { status } of await Promise.all(made)) expect([201, 400]).toContain(status);
    await eventually(async () => expect((await named(tenantId)).flat()).toEqual([]));
  });

  it('stays deleted when a change of it is reported after its deletion', async () => {
    const tenantId = newTenant();
    const [gone, other] = [await createChannel(tenantId), await createChannel(tenantId)];
    const rule = await createRule(tenantId, { channel_config_ids: [gone.id, other.id] });
    await stack.deleteChannel(tenantId, gone.id);
    await stack.reportChange(tenantId, { id: gone.id, type: 'webhook', enabled: true, revision: 9 });
    // Reports of a workspace are read in order, so this shows that the change was read.
    await stack.deleteChannel(tenantId, other.id);
    await eventually(async () => expect(await named(tenantId)).toEqual([[]]));
    const refused = await call('patch', tenantId, `/rules/${rule.id}`, { body: { channel_config_ids: [gone.id] } });
    expect(refused.status).toBe(400);
    const stored = mongo.connection.useDb(stack.database).collection<{ _id: string }>('channels');
    expect(await stored.findOne({ _id: gone.id })).toMatchObject({ enabled: false });
  });
});

describe('the routes of a rule', () => {
  const routed = (label: string, value: string, ...channels: { id: string }[]) => ({
    ...{ label, value, channel_ids: channels.map(({ id }) => id) },
  });
  const config = { rule_config: { window_seconds: 600, threshold: 1 } };

  it('send an alert to the first whose label the event has, and any other alert to the channels of the rule', async () => {
    const tenantId = newTenant();
    const [all, growth, prod] = [
      await createChannel(tenantId),
      await createChannel(tenantId),
      await createChannel(tenantId),
    ];
    const routes = [routed('team', 'gr*', growth), routed('env', 'prod', prod)];
    const rule = await createRule(tenantId, { ...config, channel_config_ids: [all.id], routes });
    expect(rule).toMatchObject({ routes });
    const channelsOf = async (labels?: Record<string, string>) => {
      const known = (await stack.alerts(tenantId)).map(({ id }) => id);
      await stack.append(tenantId, event(stack.clock.now, 'budget.blocked', { labels }));
      await stack.settled();
      const alert = (await stack.alerts(tenantId)).find(({ id }) => !known.includes(id))!;
      await expecting(200, 'post', tenantId, `/${alert.id}:resolve`);
      stack.clock.now += 3_600_000;
      return alert.deliveries.map((delivery) => delivery['channel_id']);
    };
    expect(await channelsOf({ team: 'growth', env: 'prod' })).toEqual([growth.id]);
    expect(await channelsOf({ team: 'core', env: 'prod' })).toEqual([prod.id]);
    expect(await channelsOf({ team: 'core' })).toEqual([all.id]);
    expect(await channelsOf()).toEqual([all.id]);
  });

  it('lose a deleted channel, and are removed with their last one', async () => {
    const tenantId = newTenant();
    const [kept, gone] = [await createChannel(tenantId), await createChannel(tenantId)];
    const routes = [routed('team', 'a', kept, gone), routed('team', 'b', gone), routed('team', 'c', kept)];
    const { id } = await createRule(tenantId, { routes });
    const other = await createRule(tenantId, { routes: [routed('team', 'b', gone)] });
    await stack.deleteChannel(tenantId, gone.id);
    await eventually(async () =>
      expect(await expecting(200, 'get', tenantId, `/rules/${id}`)).toMatchObject({
        routes: [routed('team', 'a', kept), routed('team', 'c', kept)],
      }),
    );
    expect((await expecting(200, 'get', tenantId, `/rules/${other.id}`))['routes']).toBeUndefined();
    await expecting(200, 'patch', tenantId, `/rules/${id}`, { body: { enabled: false } });
  });

  it('are 400 with a channel of nobody, without channels, and as the 21st', async () => {
    const tenantId = newTenant();
    const channel = await createChannel(tenantId);
    const unknown = [routed('team', 'a', channel), routed('team', 'b', channel, { id: 'chan_unknown' })];
    const cases: [Body[], string][] = [
      [unknown, 'routes[1].channel_ids[1]'],
      [[routed('team', 'a')], 'routes[0].channel_ids'],
      [[routed('team', '', channel)], 'routes[0].value'],
      [Array.from({ length: 21 }, () => routed('team', 'a', channel)), 'routes'],
    ];
    for (const [routes, path] of cases) {
      const answer = await call('post', tenantId, '/rules', { body: ruleBody(tenantId, { routes }) });
      expect([answer.status, pathsOf(answer.body)]).toEqual([400, [path]]);
    }
  });
});
