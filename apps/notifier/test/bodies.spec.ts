import { describe, expect, it } from '@jest/globals';
import type { AlertRecord, ShownAlert } from '@tollkeeper/contracts';
import { chatBody } from '../src/channels/chat/chat.body.ts';
import { type Message, testMessage } from '../src/domain/message.ts';
import { MAX_BODY_BYTES, webhookBody } from '../src/channels/webhook/webhook.body.ts';
import { alertRecord, newTenant, NOW } from './notification.builder.ts';

const LINKS = {
  url: 'https://tollkeeper.example.com/w/demo/api/v1/alerts/alrt_1',
  page: 'https://tollkeeper.example.com/w/demo/alerts?alert=alrt_1',
};
const message = (fields: Partial<Message> = {}): Message => ({
  id: 'ntf_1',
  type: 'alert.fired',
  timestamp: new Date(NOW).toISOString(),
  alert: alertRecord(),
  links: LINKS,
  ...fields,
});

const MANY_TYPES = Array.from({ length: 5000 }, (_, n) => `type.number_${n}`);
/** As many labels as a rule can have, with names and values of the greatest length. */
const LONG_LABELS = Object.fromEntries(
  Array.from({ length: 10 }, (_, n) => [`l${n}`.padEnd(32, '_'), '☂'.repeat(128)]),
);

const reached = { percent: 80, spent_micros: 8_000_000, daily_budget_usd_micros: 10_000_000 };
const october = { kind: 'month', start: '2026-10-01T00:00:00.000Z', end: '2026-11-01T00:00:00.000Z' };
const monthly: NonNullable<AlertRecord['budget']> = {
  ...{ scope: 'budget', scope_id: 'bud_1', budget_id: 'bud_1', budget_name: 'Growth team', period: october },
  ...{ limit_micros: 10_000_000, ...reached },
};

describe('the body for a webhook', () => {
  it('is type, timestamp and the alert with its url', () => {
    const sent = message();
    const { type, timestamp, alert, links } = sent;
    expect(JSON.parse(webhookBody(sent))).toEqual({ type, timestamp, data: { ...alert, url: links.url } });
  });

  it('has the labels of the rule, and without them the same bytes as in release 0.1.0', () => {
    const labels = { team: 'gr*', 'cost.center': '1200' };
    const ofTeam = JSON.parse(webhookBody(message({ alert: alertRecord({ labels }) }))) as { data: object };
    expect(ofTeam.data).toMatchObject({ event_types: ['budget.blocked'], labels });
    expect(webhookBody(message({ alert: alertRecord({ id: 'alrt_1' }) }))).toBe(
      '{"type":"alert.fired","timestamp":"2026-11-21T18:00:00.000Z","data":{"id":"alrt_1","tenant_id":"ws_1",' +
        '"rule_id":"rule_1","rule_name":"Budget blocks","rule_kind":"event_count_gte","severity":"high",' +
        '"status":"firing","scope_type":"workspace","scope_id":"ws_1","event_types":["budget.blocked"],' +
        '"window":{"start":"2026-11-21T17:50:00.000Z","end":"2026-11-21T18:00:00.000Z"},"threshold":3,' +
        '"event_count":3,"spend":null,"budget":null,"sample_event_ids":["e3","e2","e1"],' +
        '"first_event_at":"2026-11-21T18:00:00.000Z","last_event_at":"2026-11-21T18:00:00.000Z",' +
        '"triggered_at":"2026-11-21T18:00:00.000Z","acknowledged_at":null,"acknowledged_by":null,' +
        '"resolved_at":null,"url":"https://tollkeeper.example.com/w/demo/api/v1/alerts/alrt_1"}}',
    );
  });

  it('has the name, the value and the period of a budget', () => {
    const budget = { ...monthly, value: 'zoe' };
    expect(JSON.parse(webhookBody(message({ alert: alertRecord({ budget }) })))).toMatchObject({ data: { budget } });
  });

  it('shows a test the fields of a real alert', () => {
    const sample = testMessage(newTenant(), LINKS, NOW);
    const body = JSON.parse(webhookBody(sample)) as { type: string; data: object };
    expect(body.type).toBe('channel.test');
    expect(Object.keys(body.data)).toEqual([...Object.keys(alertRecord()), 'url']);
  });

  it.each([
    ['many event types', alertRecord({ event_types: MANY_TYPES })],
    ['many event types and ten long labels', alertRecord({ event_types: MANY_TYPES, labels: LONG_LABELS })],
    ['a long name', alertRecord({ rule_name: '☂'.repeat(50_000) })],
    [
      'a long name of a budget',
      alertRecord({ budget: { ...monthly, budget_name: '\0'.repeat(300), value: '\0'.repeat(128) } }),
    ],
    ['long ids', alertRecord({ sample_event_ids: Array.from({ length: 10 }, () => 'x'.repeat(3000)) })],
  ])('stays under 20 kB with %s', (_case, alert) => {
    const body = webhookBody(message({ alert }));
    expect(Buffer.byteLength(body)).toBeLessThan(MAX_BODY_BYTES);
    expect(JSON.parse(body)).toMatchObject({ data: { id: alert.id, event_count: 3 } });
  });
});

describe('the body for a chat', () => {
  const parse = (body: string) => JSON.parse(body) as { text: string; blocks: object[] };

  it('has a fallback text, and blocks with a link', () => {
    const { text, blocks } = parse(chatBody(message()));
    expect(text).toBe(
      'Alert (high): Budget blocks\n3 calls blocked by a budget within 10 minutes, any agent (threshold 3)',
    );
    expect(JSON.stringify(blocks)).toContain('<https://tollkeeper.example.com/w/demo/alerts?alert=alrt_1|Open');
    expect(blocks[0]).toMatchObject({ text: { text: text.replace(/^(.*)\n/, '*$1*\n') } });
  });

  it('names a resolution, and a test', () => {
    const resolved = alertRecord({ status: 'resolved', resolved_at: '2026-11-21T18:05:00.000Z' });
    expect(chatBody(message({ type: 'alert.resolved', alert: resolved }))).toContain('Resolved at');
    const { text } = parse(chatBody(testMessage(newTenant(), LINKS, NOW)));
    expect(text).toBe('Test (info): Test of this channel\n1 call blocked by a budget, any agent');
  });

  const day = { start: '2026-11-20T18:00:00.000Z', end: '2026-11-21T18:00:00.000Z' };
  const agent = { scope_type: 'agent', scope_id: 'crawler' } as const;
  const single = { threshold: 1, event_count: 1, event_types: ['budget.threshold_reached'] };
  const first = { rule_kind: 'first_occurrence', threshold: 0, event_count: 1, window: day } as const;
  const spending = { rule_kind: 'spend_gte', threshold: 0, event_count: 1 } as const;
  const budget = { percent: 80, spent_micros: 1_214_900, daily_budget_usd_micros: 1_500_000 };
  const burn = {
    ...{ budget_id: 'bud_1', budget_name: 'Growth team', limit_micros: 40_000_000, period: null },
    ...{ fraction: 0.25, long_seconds: 3600, short_seconds: 300, long_micros: 12_000_000, short_micros: 2_000_000 },
  };
  const forecast = {
    ...{ budget_id: 'bud_1', budget_name: 'Growth team', limit_micros: 40_000_000, percent: 80, weeks: 2 },
    period: { kind: 'day', start: '2026-11-20T23:00:00.000Z', end: '2026-11-21T23:00:00.000Z' },
    ...{ spent_micros: 12_000_000, spent_since: '2026-11-20T23:00:00.000Z', forecast_micros: 48_000_000 },
    ...{ pace_micros: 3_000_000, pace_since: '2026-11-21T15:00:00.000Z', used_up_at: '2026-11-21T22:15:30.000Z' },
  };
  const raise = {
    ...{ raise_id: 'rai_1', budget_id: 'bud_1', budget_name: 'Growth team', value: 'zoe', extra_micros: 10_000_000 },
    ...{ until: '2026-11-22T06:00:00.000Z', reason: 'Night run', asked_by: 'Mia' },
  };
  const deviation = {
    ...{ agent_id: 'research', hour: '2026-11-21T09:00:00.000Z', spent_micros: 12_000_000, weeks: 4 },
    ...{ median_micros: 2_500_000, times: 3, min_micros: 1_000_000 },
  };
  const ofAgent = { scope: 'agent', scope_id: 'research', ...budget } as const;
  const ofPlan = { scope: 'plan', scope_id: 'pro', ...budget } as const;
  const ofWorkspace = { scope: 'workspace', scope_id: 'ws_1', ...budget } as const;
  it.each<[string, Partial<ShownAlert>]>([
    [
      '12,000 calls blocked by a guard within 10 minutes, agent crawler (threshold 12000)',
      { ...agent, threshold: 12_000, event_count: 12_000, event_types: ['guard.blocked'] },
    ],
    ['1 call without usage, any agent', { ...single, event_types: ['call.unmetered'] }],
    [
      'Mia asks to raise Budget "Growth team" for zoe by $10.00 until Nov 22, 06:00 UTC: "Night run". Open the link to approve or decline it',
      { ...single, event_types: ['raise.requested'], raise },
    ],
    ['1 failed call, any agent', { ...single, event_types: ['call.failed'] }],
    ['First model without a price in 24 hours, any agent', { ...first, event_types: ['price.missing'] }],
    ['1 tool.failed event, any agent', { ...single, event_types: ['tool.failed'] }],
    ['Agent research reached 80% of its daily budget ($1.21 of $1.50)', { ...single, budget: ofAgent }],
    ['Plan pro reached 80% of its daily budget ($1.21 of $1.50)', { ...single, budget: ofPlan }],
    ['The workspace reached 80% of its daily budget ($1.21 of $1.50)', { ...single, budget: ofWorkspace }],
    [
      'Agent research reached 80% of its daily budget ($1.21 of $1.50), first in 24 hours',
      { ...first, budget: ofAgent },
    ],
    ['First call blocked by a budget in 24 hours, any agent', first],
    ['First event of any type in 24 hours, agent crawler', { ...first, ...agent, event_types: [] }],
    [
      '$12.35 spent within 10 minutes, agent crawler (threshold $10.00)',
      { ...spending, ...agent, spend: { threshold_micros: 10_000_000, settled_micros: 12_345_670 } },
    ],
    [
      '$1,000,000,000.00 spent within 10 minutes, any agent (threshold $0.000001)',
      { ...spending, spend: { threshold_micros: 1, settled_micros: 1_000_000_000_000_000 } },
    ],
    [
      'Budget "Growth team" for zoe has burned $12.00 of $40.00 within 1 hour, since 17:50 UTC ($2.00 of that within ' +
        '5 minutes; threshold 25% within 1 hour). Raise the budget until midnight, pause its calls, or look at them',
      { rule_kind: 'burn_rate_gte', burn: { ...burn, value: 'zoe' } },
    ],
    [
      'Budget "Growth team" for zoe has spent $12.00 of $40.00 since Nov 20, 23:00 UTC, and will reach $48.00 by Nov 21, ' +
        '23:00 UTC at the pace since Nov 21, 15:00 UTC (threshold 80%). Used up at about Nov 21, 22:15 UTC. Raise the ' +
        'budget until midnight, pause its calls, or look at them',
      { rule_kind: 'forecast_gte', forecast: { ...forecast, value: 'zoe' } },
    ],
    [
      'Budget "Growth team" for further values has spent $12.00 of $40.00 since Nov 20, 23:00 UTC, and will reach $48.00 ' +
        'at the pace since Nov 21, 15:00 UTC (threshold 80%). It is used up. Raise the budget until ' +
        'midnight, pause its calls, or look at them',
      {
        rule_kind: 'forecast_gte',
        forecast: {
          ...{ ...forecast, is_of_others: true, used_up_at: new Date(NOW).toISOString() },
          period: { ...forecast.period, kind: 'rolling' },
        },
      },
    ],
    [
      'Agent research has spent $12.00 since 09:00 UTC (usual in this hour: $2.50, median of 4 weeks; threshold 3 ' +
        'times that, and $1.00). Pause it, or look at its calls',
      { rule_kind: 'deviation_gte', deviation },
    ],
    [
      'Further agents have spent $12.00 since 09:00 UTC, with `team=red` (usual in this hour: $2.50, median of 1 ' +
        'week; threshold 3 times that, and $1.00). Pause them, or look at their calls',
      { rule_kind: 'deviation_gte', labels: { team: 'red' }, deviation: { ...deviation, agent_id: null, weeks: 1 } },
    ],
    ['3 calls blocked by a budget, team red', { rule_kind: 'newer', scope_type: 'team', scope_id: 'red' }],
    [
      'team red reached 80% of its limit ($1.21 of $1.50)',
      { ...single, budget: { ...budget, scope: 'team', scope_id: 'red' } },
    ],
    [
      'Budget "Growth team" for zoe reached 80% of its monthly limit ($8.00 of $10.00)',
      { ...single, budget: { ...monthly, value: 'zoe' } },
    ],
    [
      'Budget "Growth team" reached 120% of its monthly limit ($12.00 of $10.00), first in 24 hours',
      { ...first, budget: { ...monthly, percent: 100, reached_percent: 120, spent_micros: 12_000_000 } },
    ],
    [
      'Budget bud_1 reached 80% of its limit ($8.00 of $10.00)',
      { ...single, budget: { ...reached, scope: 'budget', scope_id: 'bud_1' } },
    ],
  ])('says who, how much and compared with what: %s', (sentence, fields) => {
    const { text } = parse(chatBody(message({ alert: { ...alertRecord(), ...fields } })));
    expect(text.split('\n')[1]).toBe(sentence);
  });

  it.each([
    ['budget', 'hour', 'hourly limit'],
    ['budget', 'day', 'daily limit'],
    ['budget', 'week', 'weekly limit'],
    ['budget', 'quarter', 'quarterly limit'],
    ['budget', 'year', 'yearly limit'],
    ['budget', 'once', 'one-time limit'],
    ['budget', 'rolling', 'rolling limit'],
    ['budget', 'constructor', 'limit'],
    ['agent', 'day', 'daily budget'],
    ['agent', 'month', 'monthly budget'],
    ['agent', 'fortnight', 'budget'],
  ])('names the period of a budget: that of scope %s and period %s is its %s', (scope, kind, its) => {
    const alert = { ...alertRecord(), ...single, budget: { ...monthly, scope, period: { ...october, kind } } };
    expect(parse(chatBody(message({ alert }))).text).toContain(` reached 80% of its ${its} ($8.00 of $10.00)`);
  });

  it('shows names and values of budgets on one line, escaped, and without characters that turn what follows', () => {
    const evil = '<!channel>\n\u202e\u0007&';
    const named = { ...monthly, budget_name: evil, value: evil };
    const { text } = parse(chatBody(message({ alert: alertRecord({ ...single, budget: named }) })));
    expect(text.split('\n')[1]).toBe(
      'Budget "&lt;!channel&gt; &amp;" for &lt;!channel&gt; &amp; reached 80% of its monthly limit ($8.00 of $10.00)',
    );
    const long = { ...monthly, budget_name: 'n'.repeat(300), value: 'v'.repeat(128) };
    const [, cut] = parse(chatBody(message({ alert: alertRecord({ ...single, budget: long }) }))).text.split('\n');
    expect(cut).toBe(
      `Budget "${'n'.repeat(59)}…" for ${'v'.repeat(59)}… reached 80% of its monthly limit ($8.00 of $10.00)`,
    );
  });

  it('lets nobody mention, link or break out with text of their own', () => {
    const evil = '<!channel> & <https://evil.example|click>\n\n*x*';
    const body = chatBody(message({ alert: alertRecord({ rule_name: evil, scope_id: evil, event_types: [evil] }) }));
    expect(body).not.toContain('<!channel');
    expect(body).not.toContain('<https://evil');
    expect(parse(body).text.split('\n')[0]).toBe(
      'Alert (high): &lt;!channel&gt; &amp; &lt;https://evil.example|click&gt; *x*',
    );
  });

  it('has Slack make no links of what people typed, in any of its formatted texts', () => {
    const alert = alertRecord({ rule_name: 'see evil.example', resolved_at: '2026-11-21T18:05:00.000Z' });
    const texts: object[] = [];
    JSON.parse(chatBody(message({ alert })), (_key, value: unknown) => {
      if (typeof value === 'object' && value !== null && 'type' in value && value.type === 'mrkdwn') texts.push(value);
      return value;
    });
    expect(texts.length).toBeGreaterThan(2);
    for (const each of texts) expect(each).toMatchObject({ verbatim: true });
  });

  it.each<[string, Partial<ShownAlert>]>([
    ['3 calls blocked by a budget within 10 minutes, any agent, with `team=gr*` (threshold 3)', {}],
    ['3 calls blocked by a budget within 10 minutes, agent crawler, with `team=gr*` (threshold 3)', agent],
    ['1 call blocked by a guard, any agent, with `team=gr*`', { ...single, event_types: ['guard.blocked'] }],
    ['First call blocked by a budget in 24 hours, any agent, with `team=gr*`', first],
    [
      '$2.00 spent within 10 minutes, any agent, with `team=gr*` (threshold $1.00)',
      { ...spending, spend: { threshold_micros: 1_000_000, settled_micros: 2_000_000 } },
    ],
    ['3 calls blocked by a budget, any agent, with `team=gr*`', { rule_kind: 'newer' }],
  ])('says which labels the calls of the rule have: %s', (sentence, fields) => {
    const { text } = parse(chatBody(message({ alert: { ...alertRecord(), labels: { team: 'gr*' }, ...fields } })));
    expect(text.split('\n')[1]).toBe(sentence);
  });

  it.each<[string, Record<string, string>, string]>([
    ['in the order of their names', { team: 'gr*', env: 'prod-*' }, '`env=prod-*, team=gr*`'],
    ['escaped', { team: '<!channel> & co' }, '`team=&lt;!channel&gt; &amp; co`'],
    ['as one piece of code, whatever the values', { team: '` *a*' }, "`team=' *a*`"],
    [
      'cut to 300 characters',
      { team: 'n'.repeat(128), user: 'z'.repeat(128), zone: 'eu-west-1, eu-west-2, eu-north' },
      `\`team=${'n'.repeat(128)}, user=${'z'.repeat(128)}, zone=eu-west-1, eu-west-2, eu…\``,
    ],
  ])('shows labels %s', (_case, labels, expected) => {
    const { text } = parse(chatBody(message({ alert: alertRecord({ labels }) })));
    expect(text.split('\n')[1]?.split(', any agent, ')[1]).toBe(`with ${expected} (threshold 3)`);
  });

  it("stays within Slack's limits with the longest labels, types and names of the API", () => {
    const types = Array.from({ length: 50 }, () => 'x'.repeat(128));
    const whose = { scope_type: 'agent', scope_id: 'x'.repeat(128) } as const;
    const labels = Object.fromEntries(Array.from('abcdefghij', (name) => [name, '&'.repeat(128)]));
    const alert = alertRecord({ ...whose, rule_name: '&'.repeat(120), event_types: types, labels });
    const { blocks } = parse(chatBody(message({ alert: { ...alert, severity: 'critical', threshold: 100_000 } })));
    const [{ text }] = blocks as [{ text: { text: string } }];
    expect(text.text).toContain('&amp;…` (threshold 100000)');
    expect(text.text.length).toBeLessThanOrEqual(3000);
  });

  it("stays within Slack's limits however long the text", () => {
    const long = '&'.repeat(100_000);
    const types = Array.from({ length: 1000 }, () => long);
    const alert = alertRecord({ rule_name: long, scope_id: long, event_types: types, triggered_at: long });
    const { text, blocks } = parse(chatBody(message({ alert })));
    expect(text.length).toBeLessThan(3000);
    const { fields = [] } = blocks[1] as { fields?: { text: string }[] };
    expect(fields.length).toBeLessThanOrEqual(10);
    for (const field of fields) expect(field.text.length).toBeLessThanOrEqual(2000);
  });
});
