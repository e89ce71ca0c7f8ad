import { describe, expect, it } from '@jest/globals';
import type { TenantId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { type Body, event, newTenant, ruleBody, useAlerts } from './alerts.stack.ts';

const mongo = useMongo();
const stack = useAlerts(mongo);
const { call, clock, createRule, expecting } = stack;

const SECOND = 1000;
const config = (labels: unknown, threshold = 1): Body => ({
  rule_config: { window_seconds: 600, threshold, filters: { labels } },
});
const labelsOf = (rule: Body) => (rule['rule_config'] as { filters: Body }).filters['labels'];
const edit = (tenantId: TenantId, id: string, body: Body) => call('patch', tenantId, `/rules/${id}`, { body });
/** An event of a call some seconds ago. */
const called = (ago: number, labels?: Record<string, string>, type = 'budget.blocked') =>
  event(clock.now - ago * SECOND, type, { labels });

describe('the filter of labels of a rule', () => {
  it('is kept as it was sent, whatever the names, and is empty without one', async () => {
    const tenantId = newTenant();
    const labels = { team: 'gr*', 'cost.center': '1200', constructor: '*' };
    const { id } = await createRule(tenantId, config(labels));
    expect(labelsOf(await expecting(200, 'get', tenantId, `/rules/${id}`))).toEqual(labels);
    expect(labelsOf(await createRule(tenantId))).toEqual({});
  });

  const many = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`l${index}`, 'x']));
  it.each<[string, unknown, string]>([
    ['a name with capitals', { Team: 'growth' }, 'labels.Team'],
    ['an empty value', { team: '' }, 'labels.team'],
    ['a value that no label can have', { team: ' growth' }, 'labels.team'],
    ['a value that is no text', { team: { $ne: 1 } }, 'labels.team'],
    ['eleven labels', many, 'labels'],
    ['a list', ['team'], 'labels'],
  ])('is 400 for %s, and names the field', async (_case, labels, path) => {
    const tenantId = newTenant();
    const { id } = await createRule(tenantId);
    const made = await call('post', tenantId, '/rules', { body: ruleBody(tenantId, config(labels)) });
    const edited = await edit(tenantId, id, { rule_config: { filters: { labels } } });
    for (const { status, body } of [made, edited]) {
      const { details } = body as { details: { path: string; message: string }[] };
      expect([status, details.map((each) => each.path)]).toEqual([400, [`rule_config.filters.${path}`]]);
    }
  });

  it('is 400 beside event types without labels, in a new rule and in a change, and fits beside others', async () => {
    const tenantId = newTenant();
    const filters = (event_types: string[]) => ({ event_types, labels: { team: 'growth' } });
    const configOf = (types: string[]) => ({
      rule_config: { window_seconds: 600, threshold: 1, filters: filters(types) },
    });
    const { id } = await createRule(tenantId, configOf(['tool.failed', 'budget.blocked']));
    const types = ['tool.failed', 'budget.threshold_reached'];
    const made = await call('post', tenantId, '/rules', { body: ruleBody(tenantId, configOf(types)) });
    const edited = await edit(tenantId, id, { rule_config: { filters: { event_types: types } } });
    for (const { status, body } of [made, edited]) {
      expect([status, body]).toMatchObject([400, { details: [{ path: 'rule_config.filters.labels' }] }]);
    }
  });

  it('is changed label by label, and the audit log has each change', async () => {
    const tenantId = newTenant();
    const { id } = await createRule(tenantId, config({ team: 'growth', env: 'prod' }));
    const patched = async (labels: unknown) => {
      const { status, body } = await edit(tenantId, id, { rule_config: { filters: { labels } } });
      return [status, labelsOf(body as Body)];
    };
    expect(await patched({ env: null, user: 'zoe' })).toEqual([200, { team: 'growth', user: 'zoe' }]);
    expect(await patched(null)).toEqual([200, {}]);

    const [, ...edits] = await stack.audited(tenantId, 3);
    expect(edits.map(({ changes }) => changes)).toEqual([
      [{ field: 'labels', from: ['env=prod', 'team=growth'], to: ['team=growth', 'user=zoe'] }],
      [{ field: 'labels', from: ['team=growth', 'user=zoe'], to: null }],
    ]);
  });
});

describe('a rule with a filter of labels', () => {
  it('fires for events whose labels match all of it, also after a restart, and for no event without labels', async () => {
    const tenantId = newTenant();
    await createRule(tenantId, { name: 'Growth', ...config({ team: 'growth', env: 'prod-*' }, 2) });
    const match = { team: 'growth', env: 'prod-1', user: 'zoe' };
    const own = event(clock.now - 9 * SECOND, 'tool.failed', { labels: match });
    await stack.append(tenantId, called(9), called(8, { team: 'growth' }), called(7, { ...match, env: 'prod' }), own);
    await stack.append(tenantId, called(6, match));
    await stack.settled();
    expect(await stack.alerts(tenantId)).toEqual([]);
    await stack.restart();
    await stack.append(tenantId, called(5, { ...match, team: 'sales' }), called(4, match));
    await stack.settled();
    expect(await stack.alerts(tenantId)).toEqual([expect.objectContaining({ rule_name: 'Growth', event_count: 2 })]);
  });

  it('gives its alerts and their notifications its labels as they were, whatever they become', async () => {
    const tenantId = newTenant();
    const { id: channelId } = await stack.createChannel(tenantId);
    const labels = { team: 'gr*', 'cost.center': '1200' };
    const { id } = await createRule(tenantId, { ...config(labels), channel_config_ids: [channelId] });
    await stack.append(tenantId, called(9, { team: 'growth', 'cost.center': '1200', env: 'prod' }));
    await stack.settled();
    await edit(tenantId, id, { rule_config: { filters: { labels: { team: 'sales' } } } });
    const [alert] = await stack.alerts(tenantId);
    expect(alert).toMatchObject({ labels, scope_type: 'workspace' });
    expect(await expecting(200, 'get', tenantId, `/${alert!.id}`)).toMatchObject({ labels });
    expect(await expecting(200, 'post', tenantId, `/${alert!.id}:acknowledge`)).toMatchObject({ labels });
    expect(await expecting(200, 'post', tenantId, `/${alert!.id}:resolve`)).toMatchObject({ labels });
    await eventually(() => {
      const sent = stack.notified.filter((each) => each.tenantId === tenantId);
      expect(sent.map((each) => [each.type, each.alert.labels])).toEqual([
        ['alert.fired', labels],
        ['alert.resolved', labels],
      ]);
    });
  });

  it('adds up the spend of its calls alone, beside rules about other labels and about all', async () => {
    const tenantId = newTenant();
    const spend = (team: string, amount_micros: number) =>
      event(clock.now - SECOND, 'spend.settled', { settlement_id: `s-${team}`, amount_micros, labels: { team } });
    for (const [name, labels] of Object.entries({ growth: { team: 'growth' }, sales: { team: 'sales' }, all: {} })) {
      const rule_config = { window_seconds: 600, threshold_micros: 10, filters: { labels } };
      await createRule(tenantId, { name, rule_kind: 'spend_gte', rule_config });
    }
    await stack.append(tenantId, spend('growth', 8), spend('sales', 11));
    await stack.settled();
    const fired = (await stack.alerts(tenantId)).map(({ rule_name, spend: of }) => [rule_name, of]);
    expect(fired.toSorted()).toEqual([
      ['all', { threshold_micros: 10, settled_micros: 19 }],
      ['sales', { threshold_micros: 10, settled_micros: 11 }],
    ]);
  });

  it('starts with an empty window when its labels change', async () => {
    const tenantId = newTenant();
    const { id } = await createRule(tenantId, config({ team: 'growth' }, 2));
    await stack.append(tenantId, called(9, { team: 'growth' }));
    await stack.settled();
    expect((await edit(tenantId, id, { rule_config: { filters: { labels: { team: 'g*' } } } })).status).toBe(200);
    clock.now += SECOND;
    await stack.append(tenantId, called(0, { team: 'growth' }));
    await stack.settled();
    expect(await stack.alerts(tenantId)).toEqual([]);
    await stack.append(tenantId, called(0, { team: 'grid' }));
    await stack.settled();
    expect(await stack.alerts(tenantId)).toHaveLength(1);
  });
});

describe('a replica of release 0.1.0', () => {
  /** What that release reads: rules of kinds and scopes that it knows. */
  const read = {
    'condition.kind': { $in: ['event_count_gte', 'first_occurrence', 'spend_gte'] },
    scopeType: { $in: ['tenant', 'workspace', 'agent'] },
  };
  const stored = (name = 'rules') => mongo.connection.useDb(stack.database).collection<{ _id: string }>(name);

  it('reads no rule with a filter of labels, so it fires none for all events, until the filter is removed', async () => {
    const tenantId = newTenant();
    stack.peers.register(tenantId, 'agent-1');
    const agent = { scope_type: 'agent', scope_id: 'agent-1' };
    const { id } = await createRule(tenantId, { ...agent, ...config({ team: 'growth' }) });
    const other = await createRule(tenantId);
    const readable = async () =>
      (
        await stored()
          .find({ tenantId, ...read })
          .toArray()
      ).map(({ _id }) => _id);
    expect(await readable()).toEqual([other.id]);
    expect(await expecting(200, 'get', tenantId, `/rules/${id}`)).toMatchObject(agent);

    await edit(tenantId, id, { rule_config: { filters: { labels: null } } });
    expect((await readable()).toSorted()).toEqual([id, other.id].toSorted());
  });

  it('leaves rules that have no filter of labels', async () => {
    const tenantId = newTenant();
    const { id } = await createRule(tenantId);
    expect(await stored().findOne({ _id: id })).not.toHaveProperty('labels');
    expect(labelsOf(await expecting(200, 'get', tenantId, `/rules/${id}`))).toEqual({});
  });

  it('leaves alerts that read as those of rules without the filter', async () => {
    const tenantId = newTenant();
    const { id: channelId } = await stack.createChannel(tenantId);
    await createRule(tenantId, { ...config({}), channel_config_ids: [channelId] });
    await stack.append(tenantId, called(9, { team: 'growth' }));
    await stack.settled();
    const [alert] = await stack.alerts(tenantId);
    expect(await stored('alerts').findOne({ _id: alert!.id })).not.toHaveProperty('labels');
    const shown = await expecting(200, 'get', tenantId, `/${alert!.id}`);
    const sent = await eventually(() => {
      const [fired] = stack.notified.filter((each) => each.tenantId === tenantId);
      if (fired === undefined) throw new Error('nobody was notified');
      return fired;
    });
    for (const each of [alert, shown, sent.alert]) expect(each).not.toHaveProperty('labels');
  });
});
