import { expect, it } from '@jest/globals';
import type { Api } from '@tollkeeper/client';
import { patchOf, problemsOf, toForm, toRule } from '../web/src/pages/rules/rule-form.ts';

const WORKSPACE = 'ws_1';
const SCOPE_IDS: Record<Api.AlertRule['scope_type'], string> = {
  workspace: WORKSPACE,
  tenant: WORKSPACE,
  agent: 'planner',
};
const SCOPES = Object.entries(SCOPE_IDS) as [Api.AlertRule['scope_type'], string][];
const RULE: Omit<Api.AlertRule, 'scope_type' | 'scope_id'> = {
  id: 'rule_1',
  tenant_id: WORKSPACE,
  name: 'Often',
  description: '',
  enabled: true,
  severity: 'high',
  rule_kind: 'event_count_gte',
  rule_config: {
    window_seconds: 60,
    threshold: 3,
    threshold_micros: 0,
    filters: { event_types: ['budget.blocked'], percents: [], labels: {} },
  },
  cooldown_seconds: 0,
  channel_config_ids: [],
  created_at: '2026-11-22T00:00:00.000Z',
  updated_at: '2026-11-22T00:00:00.000Z',
  last_fired_at: null,
};

it.each(SCOPES)('a rule of the scope %s keeps it when it is edited', (scope_type, scope_id) => {
  expect(toRule(toForm({ ...RULE, scope_type, scope_id }), WORKSPACE)).toMatchObject({ scope_type, scope_id });
});

const ofLabels = (labels: Record<string, string>): Api.AlertRule => {
  const { rule_config: config } = RULE;
  return {
    ...{ ...RULE, scope_type: 'workspace', scope_id: WORKSPACE },
    rule_config: { ...config, filters: { ...config.filters, labels } },
  };
};

it('a rule keeps its labels when it is edited, and loses those that are taken out', () => {
  const rule = ofLabels({ team: 'gr*', env: 'prod' });
  const form = toForm(rule);
  expect(form.labels).toBe('env=prod\nteam=gr*');
  expect(toRule(form, WORKSPACE).rule_config.filters).toMatchObject({ labels: { team: 'gr*', env: 'prod' } });
  const edited = patchOf(rule, toRule({ ...form, labels: 'team=growth' }, WORKSPACE));
  expect(edited.rule_config?.filters).toMatchObject({ labels: { env: null, team: 'growth' } });
});

it('labels that are not written as name=value are a problem of their field', () => {
  expect(problemsOf({ ...toForm(ofLabels({})), labels: 'team growth' })).toEqual({ labels: expect.any(String) });
});

it('a deviation rule keeps its thresholds and its window when it is edited, and gives both up for another kind', () => {
  const config = { times: 5, min_micros: 2_500_000, window_seconds: 3600 };
  const plain = ofLabels({});
  const rule: Api.AlertRule = {
    ...{ ...plain, rule_kind: 'deviation_gte' },
    rule_config: { ...plain.rule_config, threshold: 0, ...config },
  };
  const form = toForm(rule);
  expect(problemsOf(form)).toEqual({});
  expect(toRule(form, WORKSPACE).rule_config).toMatchObject({ ...config, threshold: 0, threshold_micros: 0 });
  expect(problemsOf({ ...form, times: '1.5', amount: '0' })).toEqual({
    ...{ times: expect.any(String), amount: expect.any(String) },
  });
  const spend = toRule({ ...form, kind: 'spend_gte', windowMinutes: '10' }, WORKSPACE).rule_config;
  expect(spend).toMatchObject({ window_seconds: 600, threshold_micros: 2_500_000, times: 0, min_micros: 0 });
});

it('a rule about a burn rate keeps its budget and its windows when it is edited, and refuses windows that do not fit', () => {
  const plain = ofLabels({});
  const config = { budget_id: 'bud_1', fraction: 0.125, long_seconds: 3600, short_seconds: 300, window_seconds: 3600 };
  const rule: Api.AlertRule = {
    ...{ ...plain, rule_kind: 'burn_rate_gte' },
    rule_config: { ...plain.rule_config, threshold: 0, ...config },
  };
  const form = toForm(rule);
  expect(problemsOf(form)).toEqual({});
  expect(toRule(form, WORKSPACE).rule_config).toMatchObject(config);
  expect(toRule({ ...form, budget: '' }, WORKSPACE).rule_config).toMatchObject({ budget_id: null });
  const bad = { ...form, agentId: 'planner', share: '0.05', long: '1.5', short: '60' };
  expect(Object.keys(problemsOf(bad))).toEqual(['budget', 'share', 'long', 'short']);
});

it('a forecast rule keeps its budget and its percentage when it is edited, and refuses a percentage that cannot be', () => {
  const plain = ofLabels({});
  const config = { budget_id: 'bud_1', percent: 80, window_seconds: 86_400 };
  const rule: Api.AlertRule = {
    ...{ ...plain, rule_kind: 'forecast_gte' },
    rule_config: { ...plain.rule_config, threshold: 0, ...config },
  };
  const form = toForm(rule);
  expect(problemsOf(form)).toEqual({});
  expect(toRule(form, WORKSPACE).rule_config).toMatchObject(config);
  expect(toRule({ ...form, kind: 'burn_rate_gte' }, WORKSPACE).rule_config).toMatchObject({ percent: 0 });
  expect(Object.keys(problemsOf({ ...form, agentId: 'planner', forecast: '201' }))).toEqual(['budget', 'forecast']);
});

it('a rule keeps how long it groups alerts when it is edited, and refuses more than an hour', () => {
  const form = toForm({ ...ofLabels({}), group_seconds: 90 });
  expect(toRule(form, WORKSPACE)).toMatchObject({ group_seconds: 90 });
  expect(toRule(toForm(ofLabels({})), WORKSPACE)).toMatchObject({ group_seconds: 0 });
  for (const groupMinutes of ['61', '-1', '']) {
    expect(problemsOf({ ...form, groupMinutes })).toEqual({ groupMinutes: expect.any(String) });
  }
});

it('a rule for requests for raises fires for each of them, whatever was typed for another kind', () => {
  const typed = {
    ...toForm(ofLabels({})),
    agentId: 'planner',
    labels: 'no label',
    groupMinutes: 'x',
    pauseMinutes: 'x',
  };
  const form = { ...typed, kind: 'raise_requested', scopeType: 'agent', threshold: '3' } as const;
  expect(problemsOf(form)).toEqual({});
  const rule = toRule(form, WORKSPACE);
  expect(rule).toMatchObject({
    ...{ rule_kind: 'event_count_gte', scope_type: 'workspace', scope_id: WORKSPACE },
    ...{ cooldown_seconds: 0, group_seconds: 0 },
    rule_config: { threshold: 1, window_seconds: 3600, filters: { event_types: ['raise.requested'], labels: {} } },
  });
  const { rule_config: config } = rule;
  const stored = ofLabels({});
  const filters = { ...stored.rule_config.filters, ...config.filters };
  expect(toForm({ ...stored, rule_config: { ...stored.rule_config, threshold: 1, filters } }).kind).toBe(
    'raise_requested',
  );
});
