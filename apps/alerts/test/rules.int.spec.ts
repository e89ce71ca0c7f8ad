import { describe, expect, it } from '@jest/globals';
import { useMongo } from '@tollkeeper/testing';
import { MAX_RULE_CHANNELS, MAX_NOTIFIED_CHANNELS, MAX_RULES, MAX_WINDOW_BYTES } from '../src/domain/rule.ts';
import { type Body, newTenant, ruleBody, useAlerts } from './alerts.stack.ts';

const mongo = useMongo();
const stack = useAlerts(mongo);
const { call, createRule, createChannel, expecting } = stack;

const detailsOf = (body: unknown) => (body as { details: { path: string; message: string }[] }).details;
const pathsOf = (body: unknown) => detailsOf(body).map(({ path }) => path);

/** Stores copies of a rule, bypassing all limits. */
async function storeMore(id: string, count: number, changes: object = {}): Promise<void> {
  const collection = mongo.connection.useDb(stack.database).collection<{ _id: string }>('rules');
  const stored = (await collection.findOne({ _id: id }))!;
  const copies = Array.from({ length: count }, (_, index) => ({
    ...stored,
    _id: `${id}${index}`,
    ...changes,
  }));
  await collection.insertMany(copies);
}

describe('creating a rule', () => {
  it('answers 201 with the record and its defaults', async () => {
    const tenantId = newTenant();

    const rule = await createRule(tenantId);

    const now = new Date(stack.clock.now).toISOString();
    expect(rule).toEqual({
      id: expect.stringMatching(/^rule_[0-9A-Za-z]{20}$/),
      tenant_id: tenantId,
      ...ruleBody(tenantId),
      rule_config: {
        window_seconds: 60,
        threshold: 3,
        threshold_micros: 0,
        filters: { event_types: ['budget.blocked'], percents: [], labels: {} },
      },
      description: '',
      enabled: true,
      cooldown_seconds: 0,
      channel_config_ids: [],
      created_at: now,
      updated_at: now,
      last_fired_at: null,
    });
    expect(await expecting(200, 'get', tenantId, `/rules/${rule.id}`)).toEqual(rule);
    expect(await expecting(200, 'get', tenantId, '/rules')).toEqual({ items: [rule] });
  });

  it('takes a first_occurrence without a threshold or with 0, and counts every type without filters', async () => {
    const tenantId = newTenant();
    for (const config of [{ window_seconds: 1 }, { window_seconds: 1, threshold: 0, filters: {} }]) {
      const rule = await createRule(tenantId, { rule_kind: 'first_occurrence', rule_config: config });
      expect(rule['rule_config']).toEqual({
        window_seconds: 1,
        threshold: 0,
        threshold_micros: 0,
        filters: { event_types: [], percents: [], labels: {} },
      });
    }
  });

  const ofThreshold = (filters: Body): Body => ({
    rule_config: {
      ...{ window_seconds: 60, threshold: 1 },
      filters: { event_types: ['budget.threshold_reached'], ...filters },
    },
  });

  it('takes up to three percents of a budget to count', async () => {
    const tenantId = newTenant();
    const rule = await createRule(tenantId, ofThreshold({ percents: [80, 100, 50] }));
    expect(rule['rule_config']).toMatchObject({ filters: { percents: [80, 100, 50] } });
  });

  it('says which events have a percent where a filter of percents goes with others', async () => {
    const tenantId = newTenant();
    for (const types of [undefined, [], ['budget.blocked'], ['budget.threshold_reached', 'budget.blocked']]) {
      const body = ruleBody(tenantId, ofThreshold({ event_types: types, percents: [80] }));
      const response = await call('post', tenantId, '/rules', { body });
      expect([response.status, detailsOf(response.body)]).toEqual([
        400,
        [
          {
            path: 'rule_config.filters.percents',
            message: expect.stringContaining('unless event_types lists only budget.threshold_reached'),
          },
        ],
      ]);
    }
  });

  it('takes an agent of the workspace as scope, and tenant as another word for the workspace', async () => {
    const tenantId = newTenant();
    stack.peers.register(tenantId, 'agent-1');
    await createRule(tenantId, { scope_type: 'agent', scope_id: 'agent-1' });
    await createRule(tenantId, { scope_type: 'tenant', scope_id: tenantId });
  });

  it('refuses a scope that is not in the workspace', async () => {
    const tenantId = newTenant();
    stack.peers.register(newTenant(), 'agent-1');
    for (const scope of [
      { scope_type: 'agent', scope_id: 'agent-1' },
      { scope_type: 'workspace', scope_id: newTenant() },
      { scope_type: 'tenant', scope_id: 'agent-1' },
    ]) {
      const response = await call('post', tenantId, '/rules', { body: ruleBody(tenantId, scope) });
      expect([response.status, pathsOf(response.body)]).toEqual([400, ['scope_id']]);
    }
  });

  it('refuses a channel that is not in the workspace, and names it by its place', async () => {
    const tenantId = newTenant();
    const [mine, other] = [await createChannel(tenantId), await createChannel(newTenant())];
    const body = ruleBody(tenantId, { channel_config_ids: [mine.id, other.id] });
    const response = await call('post', tenantId, '/rules', { body });
    expect([response.status, pathsOf(response.body)]).toEqual([400, ['channel_config_ids[1]']]);
  });

  const config = (changes: Body) => ({ rule_config: { window_seconds: 60, threshold: 3, ...changes } });
  it.each<[string, Body, string[]]>([
    ['an empty name', { name: ' ' }, ['name']],
    ['an unknown severity', { severity: 'fatal' }, ['severity']],
    ['an unknown kind', { rule_kind: 'rate' }, ['rule_kind']],
    ['a window of 0', config({ window_seconds: 0 }), ['rule_config.window_seconds']],
    ['a window over 30 days', config({ window_seconds: 2_592_001 }), ['rule_config.window_seconds']],
    ['a window that is not whole', config({ window_seconds: 1.5 }), ['rule_config.window_seconds']],
    ['no window', { rule_config: { threshold: 3 } }, ['rule_config.window_seconds']],
    ['a count without a threshold', { rule_config: { window_seconds: 60 } }, ['rule_config.threshold']],
    ['a threshold of 0', config({ threshold: 0 }), ['rule_config.threshold']],
    ['a negative threshold', config({ threshold: -1 }), ['rule_config.threshold']],
    ['a threshold over 100 000', config({ threshold: 100_001 }), ['rule_config.threshold']],
    [
      'a spend without a threshold',
      { rule_kind: 'spend_gte', rule_config: { window_seconds: 60 } },
      ['rule_config.threshold_micros'],
    ],
    [
      'a spend with a threshold of events',
      { rule_kind: 'spend_gte', rule_config: { window_seconds: 60, threshold: 1, threshold_micros: 1 } },
      ['rule_config.threshold'],
    ],
    [
      'a spend of another type',
      {
        rule_kind: 'spend_gte',
        rule_config: { window_seconds: 60, threshold_micros: 1, filters: { event_types: ['budget.blocked'] } },
      },
      ['rule_config.filters.event_types'],
    ],
    [
      'a spend of half a micro',
      { rule_kind: 'spend_gte', rule_config: { window_seconds: 60, threshold_micros: 0.5 } },
      ['rule_config.threshold_micros'],
    ],
    ['a first_occurrence with a threshold', { rule_kind: 'first_occurrence' }, ['rule_config.threshold']],
    [
      'a type that is none and no threshold',
      { rule_config: { window_seconds: 60, filters: { event_types: ['Budget'] } } },
      ['rule_config.filters.event_types[0]', 'rule_config.threshold'],
    ],
    ['a type that is none', config({ filters: { event_types: ['Budget'] } }), ['rule_config.filters.event_types[0]']],
    [
      'an operator for a type',
      config({ filters: { event_types: [{ $ne: 1 }] } }),
      ['rule_config.filters.event_types[0]'],
    ],
    ['four percents', ofThreshold({ percents: [1, 2, 3, 4] }), ['rule_config.filters.percents']],
    ['a percent named twice', ofThreshold({ percents: [80, 80] }), ['rule_config.filters.percents']],
    ...[0, 201, 79.5, '80', null].map((percent): [string, Body, string[]] => [
      `${JSON.stringify(percent)} for a percent`,
      ofThreshold({ percents: [80, percent] }),
      ['rule_config.filters.percents[1]'],
    ]),
    ['a negative cooldown', { cooldown_seconds: -1 }, ['cooldown_seconds']],
    ['a negative time of grouping', { group_seconds: -1 }, ['group_seconds']],
    ['a time of grouping over an hour', { group_seconds: 3601 }, ['group_seconds']],
    ['a cooldown over 30 days', { cooldown_seconds: 2_592_001 }, ['cooldown_seconds']],
    ['a channel named twice', { channel_config_ids: ['c', 'c'] }, ['channel_config_ids']],
    ['an unknown field', { window: 3 }, ['window']],
    ['an unknown field inside', config({ treshold: 3 }), ['rule_config.treshold']],
    ['several problems at once', { name: 7, enabled: 'yes' }, ['name', 'enabled']],
    [
      'a threshold that does not go with the kind, beside another problem',
      { name: 7, ...config({ threshold: 0 }) },
      ['name', 'rule_config.threshold'],
    ],
    [
      'a scope and channels that the workspace does not have',
      { scope_id: 'ws_other', channel_config_ids: ['chan_1', 'chan_2'] },
      ['scope_id', 'channel_config_ids[0]', 'channel_config_ids[1]'],
    ],
  ])('refuses %s', async (_case, changes, paths) => {
    const tenantId = newTenant();
    const response = await call('post', tenantId, '/rules', { body: ruleBody(tenantId, changes) });
    expect(response.status).toBe(400);
    expect(pathsOf(response.body).toSorted()).toEqual(paths.toSorted());
  });

  it('refuses one rule more than a workspace may have', async () => {
    const tenantId = newTenant();
    const { id, ...rule } = await createRule(tenantId);
    await storeMore(id, MAX_RULES - 1);
    const response = await call('post', tenantId, '/rules', { body: ruleBody(tenantId, { name: rule['name'] }) });
    expect(response.status).toBe(409);
  });

  it('refuses channels beyond what one event may notify, until some are removed', async () => {
    const tenantId = newTenant();
    const channels: string[] = [];
    for (let n = 0; n < MAX_RULE_CHANNELS; n += 1) channels.push((await createChannel(tenantId)).id);
    const { id, ...rule } = await createRule(tenantId, { channel_config_ids: channels });
    await storeMore(id, MAX_NOTIFIED_CHANNELS / MAX_RULE_CHANNELS - 1);
    await createRule(tenantId);
    const body = ruleBody(tenantId, { name: rule['name'], channel_config_ids: channels.slice(0, 1) });
    expect((await call('post', tenantId, '/rules', { body })).status).toBe(409);
    await expecting(200, 'patch', tenantId, `/rules/${id}`, { body: { channel_config_ids: channels.slice(1) } });
    await expecting(201, 'post', tenantId, '/rules', { body });
  });

  it('refuses rules about spend beyond what the evaluator keeps in memory for a workspace, and says what takes less', async () => {
    const tenantId = newTenant();
    const spend = { rule_kind: 'spend_gte', rule_config: { window_seconds: 60, threshold_micros: 1_000_000 } };
    const { id } = await createRule(tenantId, spend);
    await storeMore(id, MAX_WINDOW_BYTES / 128_000 - 1);
    const refused = await call('post', tenantId, '/rules', { body: ruleBody(tenantId, spend) });
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([409, expect.stringMatching(/Set rule_kind to/)]);
  });

  it('refuses windows beyond what the evaluator keeps in memory for a workspace, until one is given back', async () => {
    const tenantId = newTenant();
    const threshold = 100_000;
    const large = { rule_config: { window_seconds: 60, threshold } };
    const { id, ...rule } = await createRule(tenantId, large);
    await storeMore(id, MAX_WINDOW_BYTES / (16 * threshold) - 1);
    const body = ruleBody(tenantId, { name: rule['name'] });
    const refused = await call('post', tenantId, '/rules', { body });
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      409,
      expect.stringMatching(/rule_config\.threshold/),
    ]);
    const disabled = await createRule(tenantId, { enabled: false });
    const enable = { body: { enabled: true } };
    expect((await call('patch', tenantId, `/rules/${disabled.id}`, enable)).status).toBe(409);
    await expecting(200, 'patch', tenantId, `/rules/${id}`, { body: { enabled: false } });
    await expecting(201, 'post', tenantId, '/rules', { body });
    await expecting(200, 'patch', tenantId, `/rules/${disabled.id}`, enable);
  });

  it('lets a rule be changed that takes no more memory, even where the stored rules take too much', async () => {
    const tenantId = newTenant();
    const { id } = await createRule(tenantId, { rule_config: { window_seconds: 60, threshold: 100_000 } });
    await storeMore(id, MAX_WINDOW_BYTES / 1_600_000);
    await expecting(200, 'patch', tenantId, `/rules/${id}`, { body: { name: 'Renamed' } });
    await expecting(200, 'patch', tenantId, `/rules/${id}`, { body: { rule_config: { threshold: 99_999 } } });
    const more = { body: { rule_config: { threshold: 100_000 } } };
    expect((await call('patch', tenantId, `/rules/${id}`, more)).status).toBe(409);
  });
});

describe.each([
  ['kind', { condition: { kind: 'a_newer_kind' } }],
  ['scope', { scopeType: 'a_newer_scope' }],
])('a rule of a %s that only a newer release knows', (_what, newer) => {
  it('rests, and keeps no other rule from being read or changed', async () => {
    const tenantId = newTenant();
    const { id } = await createRule(tenantId);
    await storeMore(id, 1, newer);
    expect(await expecting(200, 'get', tenantId, '/rules')).toEqual({ items: [expect.objectContaining({ id })] });
    expect((await call('get', tenantId, `/rules/${id}0`)).status).toBe(404);
    await expecting(200, 'patch', tenantId, `/rules/${id}`, { body: { name: 'Renamed' } });
  });
});

describe('changing a rule', () => {
  it.each(['application/json', 'application/merge-patch+json'])('merges a patch sent as %s', async (contentType) => {
    const tenantId = newTenant();
    const rule = await createRule(tenantId, { description: 'old', cooldown_seconds: 60 });
    stack.clock.now += 1000;

    const body = { description: null, severity: 'low', rule_config: { threshold: 5, filters: null } };
    const edited = await expecting(200, 'patch', tenantId, `/rules/${rule.id}`, { body, contentType });

    expect(edited).toEqual({
      ...rule,
      description: '',
      severity: 'low',
      rule_config: {
        window_seconds: 60,
        threshold: 5,
        threshold_micros: 0,
        filters: { event_types: [], percents: [], labels: {} },
      },
      updated_at: new Date(stack.clock.now).toISOString(),
    });
    expect(await expecting(200, 'get', tenantId, `/rules/${rule.id}`)).toEqual(edited);
  });

  it.each<[string, Body, string[]]>([
    ['removes what is required', { name: null }, ['name']],
    ['makes a kind that does not fit its threshold', { rule_kind: 'first_occurrence' }, ['rule_config.threshold']],
    ['names an unknown field', { nmae: 'x' }, ['nmae']],
    ['removes an unknown field', { nmae: null }, ['nmae']],
    ['writes what is Tollkeeper’s', { id: 'rule_1' }, ['id']],
    ['writes the workspace of a rule', { tenant_id: 'ws_1' }, ['tenant_id']],
    ['has a value of another type', { rule_config: { threshold: '5' } }, ['rule_config.threshold']],
    ['moves the scope out of the workspace', { scope_id: 'ws_other' }, ['scope_id']],
    ['names a channel that is not there', { channel_config_ids: ['chan_x'] }, ['channel_config_ids[0]']],
  ])('refuses a patch that %s, and changes nothing', async (_case, body, paths) => {
    const tenantId = newTenant();
    const rule = await createRule(tenantId);
    const response = await call('patch', tenantId, `/rules/${rule.id}`, { body });
    expect([response.status, pathsOf(response.body)]).toEqual([400, paths]);
    expect(await expecting(200, 'get', tenantId, `/rules/${rule.id}`)).toEqual(rule);
  });

  it('changes the percents that a rule counts, and takes them out with their types', async () => {
    const tenantId = newTenant();
    const filters = { event_types: ['budget.threshold_reached'], percents: [80] };
    const { id } = await createRule(tenantId, { rule_config: { window_seconds: 60, threshold: 1, filters } });
    const patched = async (changes: Body | null) => {
      const body = { rule_config: { filters: changes } };
      const rule = await expecting(200, 'patch', tenantId, `/rules/${id}`, { body });
      return (rule['rule_config'] as Body)['filters'];
    };
    expect(await patched({ percents: [100] })).toEqual({ ...filters, percents: [100], labels: {} });
    const body = { rule_config: { filters: { event_types: ['budget.blocked'] } } };
    const refused = await call('patch', tenantId, `/rules/${id}`, { body });
    expect([refused.status, pathsOf(refused.body)]).toEqual([400, ['rule_config.filters.percents']]);
    expect(await patched({ percents: null })).toEqual({ ...filters, percents: [], labels: {} });
    expect(await patched({ percents: [50] })).toEqual({ ...filters, percents: [50], labels: {} });
    expect(await patched(null)).toEqual({ event_types: [], percents: [], labels: {} });
  });

  it('needs identity only where the scope changes', async () => {
    const tenantId = newTenant();
    stack.peers.register(tenantId, 'agent-1');
    const rule = await createRule(tenantId, { scope_type: 'agent', scope_id: 'agent-1' });
    stack.peers.register(tenantId);
    await expecting(200, 'patch', tenantId, `/rules/${rule.id}`, { body: { name: 'Renamed' } });
  });

  it('keeps every one of many edits at the same moment', async () => {
    const tenantId = newTenant();
    const rule = await createRule(tenantId);
    const edits = [
      { name: 'New' },
      { description: 'new' },
      { severity: 'low' },
      { cooldown_seconds: 9 },
      { group_seconds: 60 },
      { enabled: false },
    ];
    await Promise.all(edits.map((body) => expecting(200, 'patch', tenantId, `/rules/${rule.id}`, { body })));
    expect(await expecting(200, 'get', tenantId, `/rules/${rule.id}`)).toMatchObject(Object.assign({}, ...edits));
  });
});

describe('rules', () => {
  it('are gone once deleted', async () => {
    const tenantId = newTenant();
    const { id } = await createRule(tenantId);
    await expecting(204, 'delete', tenantId, `/rules/${id}`);
    for (const method of ['get', 'delete'] as const) await expecting(404, method, tenantId, `/rules/${id}`);
    expect(await expecting(200, 'get', tenantId, '/rules')).toEqual({ items: [] });
  });

  it('of another workspace do not exist', async () => {
    const { id } = await createRule(newTenant());
    const tenantId = newTenant();
    await expecting(404, 'get', tenantId, `/rules/${id}`);
    await expecting(404, 'get', tenantId, `/rules/${id}/evaluations`);
    await expecting(404, 'patch', tenantId, `/rules/${id}`, { body: { name: 'Mine' } });
    await expecting(404, 'delete', tenantId, `/rules/${id}`);
  });

  it('are for admins', async () => {
    const tenantId = newTenant();
    await expecting(403, 'get', tenantId, '/rules', { role: 'member' });
    await expecting(403, 'post', tenantId, '/rules', { role: 'member', body: {} });
    await expecting(401, 'get', tenantId, '/rules', { token: null });
    await expecting(200, 'get', tenantId, '/rules', { role: 'owner' });
  });
});
