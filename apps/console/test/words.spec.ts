import { describe, expect, it } from '@jest/globals';
import type { Api } from '@tollkeeper/client';
import { alertLine, evaluationLine } from '../web/src/text/alerts.ts';
import { blockerName, budgetBlocker, budgetName } from '../web/src/text/budget-words.ts';
import { pauses } from '../web/src/text/pauses.ts';
import { counted } from '../web/src/text/plurals.ts';
import { ruleLine } from '../web/src/text/rules.ts';
import { text } from '../web/src/text/index.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const NAMES: Record<string, string> = { research: 'Web research' };

function alert(change: Partial<Api.Alert>, windowMs = 10 * MINUTE_MS): string {
  const end = Date.parse('2026-11-24T12:00:00.000Z');
  const window = { start: new Date(end - windowMs).toISOString(), end: new Date(end).toISOString() };
  const scope = { scope_type: 'workspace', scope_id: 'ws', event_types: ['budget.blocked'] } as const;
  const counts = { rule_kind: 'event_count_gte', event_count: 10, threshold: 10, spend: null, budget: null } as const;
  return alertLine({ ...scope, ...counts, window, ...change } as Api.Alert, (id) => NAMES[id] ?? id);
}

function rule(
  rule_kind: Api.AlertRule['rule_kind'],
  config: Partial<Api.AlertRule['rule_config']>,
  event_types: string[],
  labels: Record<string, string> = {},
): string {
  const filters = { event_types, percents: [] as number[], labels };
  const rule_config = { window_seconds: 600, threshold: 0, threshold_micros: 0, filters, ...config };
  return ruleLine({ rule_kind, rule_config, scope_type: 'workspace', scope_id: 'ws' });
}

function period(kind: string): NonNullable<Api.BudgetBlocked['period']> {
  return { kind, start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' };
}

describe('a number with its noun', () => {
  it.each([
    [0, '0 calls'],
    [1, '1 call'],
    [2, '2 calls'],
    [1_906, '1,906 calls'],
  ])('of %d is %s', (value, expected) => {
    expect(counted(value, { one: 'call', other: 'calls' })).toBe(expected);
  });

  it('is right in every sentence with one of a thing', () => {
    expect(text.common.chart.others(1)).toBe('1 other');
    expect(text.overview.runs(1, 1)).toBe('1 run, 1 settlement');
    expect(text.overview.blockedMark(1)).toBe('budget reached, 1 call blocked');
    expect(text.blocked.total(1)).toBe('1 blocked call in this time range');
    expect(text.alerts.delivery.attempts(1)).toBe('1 attempt');
  });
});

describe('the sentence of an alert', () => {
  it('names the count, the time window and the threshold', () => {
    expect(alert({})).toBe('10 calls blocked by a budget within 10 min (threshold 10)');
    expect(alert({ event_count: 1, threshold: 1 })).toBe('1 call blocked by a budget');
    expect(alert({ scope_type: 'agent', scope_id: 'crawler', event_types: ['budget.blocked', 'guard.blocked'] })).toBe(
      'crawler: 10 budget blocks or guard blocks within 10 min (threshold 10)',
    );
  });

  it.each([
    [{ scope: 'agent', scope_id: 'research' }, 'Web research'],
    [{ scope: 'plan', scope_id: 'pro' }, 'Plan pro'],
    [{ scope: 'workspace', scope_id: 'ws' }, 'The workspace'],
  ] as const)('names whose budget reached how much of what: %j', (whose, who) => {
    const budget = { ...whose, percent: 80, spent_micros: 1_210_000, daily_budget_usd_micros: 1_500_000 };
    const reached = { event_types: ['budget.threshold_reached'], budget };
    const line = `${who} reached 80% of its daily budget ($1.21 of $1.50)`;
    expect(alert({ ...reached, event_count: 1, threshold: 1 })).toBe(line);
    expect(alert({ ...reached, rule_kind: 'first_occurrence' }, DAY_MS)).toBe(`${line}, first in 24 hours`);
    expect(alert({ ...reached })).toBe('10 budget thresholds reached within 10 min (threshold 10)');
  });

  it.each([
    [
      { budget_name: 'Growth team', value: 'zoe', period: period('month') },
      'Budget "Growth team" for zoe reached 120% of its monthly limit',
    ],
    [
      { budget_name: 'Spring launch', period: period('once') },
      'Budget "Spring launch" reached 120% of its one-time limit',
    ],
    [{ budget_name: 'Growth team', period: period('day') }, 'Budget "Growth team" reached 120% of its daily limit'],
    [{ budget_name: 'Growth team', period: period('decade') }, 'Budget "Growth team" reached 120% of its limit'],
    [{}, 'Budget bud_1 reached 120% of its limit'],
    [
      { scope: 'agent', scope_id: 'research', period: period('week') },
      'Web research reached 120% of its weekly budget',
    ],
    [{ scope: 'team', scope_id: 'red' }, 'The team red reached 120% of its limit'],
  ])('names the budget and its period, and says "daily" only of a day: %j', (named, line) => {
    const amounts = {
      percent: 100,
      reached_percent: 120,
      spent_micros: 12_000_000,
      daily_budget_usd_micros: 10_000_000,
    };
    const budget = { scope: 'budget', scope_id: 'bud_1', ...amounts, ...named } as Api.Alert['budget'];
    expect(alert({ budget, event_count: 1, threshold: 1 })).toBe(`${line} ($12.00 of $10.00)`);
  });

  it('names the quiet time before a first event', () => {
    const first: Partial<Api.Alert> = {
      ...{ rule_kind: 'first_occurrence', threshold: 0, event_count: 1, event_types: ['guard.blocked'] },
    };
    expect(alert(first, DAY_MS)).toBe('First guard block in 24 hours, any agent');
  });

  it.each<[Partial<Api.Alert>, string]>([
    [{}, '10 calls blocked by a budget within 10 min, with env=prod-*, team=growth (threshold 10)'],
    [{ event_count: 1, threshold: 1 }, '1 call blocked by a budget, with env=prod-*, team=growth'],
    [
      { scope_type: 'agent', scope_id: 'research', event_count: 1, threshold: 1 },
      'Web research: 1 call blocked by a budget, with env=prod-*, team=growth',
    ],
    [
      { rule_kind: 'first_occurrence', threshold: 0, event_count: 1 },
      'First budget block in 10 minutes, any agent, with env=prod-*, team=growth',
    ],
    [
      { rule_kind: 'spend_gte', threshold: 0, spend: { settled_micros: 12_400_000, threshold_micros: 10_000_000 } },
      '$12.40 spent within 10 min, with env=prod-*, team=growth (threshold $10.00)',
    ],
    [{ rule_kind: 'newer' as Api.Alert['rule_kind'] }, '10 calls blocked by a budget, with env=prod-*, team=growth'],
  ])('names the labels of the calls that the rule counts: %j', (change, line) => {
    expect(alert({ ...change, labels: { team: 'growth', env: 'prod-*' } })).toBe(line);
  });

  it('names the events of a rule kind that only a newer service knows', () => {
    const rule_kind = 'newer' as Api.Alert['rule_kind'];
    expect(alert({ rule_kind })).toBe('10 calls blocked by a budget');
  });

  it('names the spend and its threshold', () => {
    const spend = { settled_micros: 12_400_000, threshold_micros: 10_000_000 };
    expect(alert({ rule_kind: 'spend_gte', spend, threshold: 0 })).toBe(
      '$12.40 spent within 10 min (threshold $10.00)',
    );
  });
});

describe('a call that a budget blocked', () => {
  const call = (change: Partial<Api.BudgetBlocked>): Api.BudgetBlocked => ({
    ...{ event_id: 'e', run_id: 'r', agent_id: 'research', occurred_at: '2026-11-24T12:00:00.000Z', scope: 'agent' },
    ...{ requested_micros: 700, spent_micros: 9_800, daily_budget_usd_micros: 10_000, ...change },
  });
  const team = { scope: 'budget', budget_id: 'bud_1', budget_name: 'Growth team' };

  it.each([
    [{}, 'The agent had spent $0.0098 of its daily budget of $0.01.'],
    [{ scope: 'workspace', period: period('day') }, 'The workspace had spent $0.0098 of its daily budget of $0.01.'],
    [
      { ...team, value: 'zoe', period: period('month'), held_micros: 100 },
      'Budget "Growth team" for zoe had spent $0.0098 and held $0.0001 for open reservations of its monthly limit of $0.01.',
    ],
    [{ scope: 'budget' }, 'A budget had spent $0.0098 of its limit of $0.01.'],
  ])('says which budget had spent how much of what: %j', (change, why) => {
    expect(text.blocked.budgetWhy(call(change))).toBe(`The call requested $0.0007. ${why}`);
  });

  it.each([
    [{}, 'Raise the daily budget of the agent to $0.0105 or more, make a smaller call, or wait for the daily reset.'],
    [
      { ...team, value: 'zoe', period: period('month'), held_micros: 100 },
      'Raise the monthly limit of budget "Growth team" to $0.0106 or more, make a smaller call, or wait for the monthly reset.',
    ],
    [
      { ...team, period: period('rolling') },
      'Raise the rolling limit of budget "Growth team" to $0.0105 or more, make a smaller call, or wait until earlier spend leaves its period.',
    ],
    [
      { ...team, period: period('once') },
      'Raise the one-time limit of budget "Growth team" to $0.0105 or more, make a smaller call, or wait until its period ends.',
    ],
    [
      { scope: 'budget' },
      'Raise the limit of a budget to $0.0105 or more, make a smaller call, or wait until its period ends.',
    ],
  ])('says what would let it pass, and when: %j', (change, unblock) => {
    expect(text.blocked.budgetUnblock(call(change))).toBe(unblock);
  });

  it('has the name of the budget and the value where the scope does not say whose budget it is', () => {
    expect(budgetName(call({ ...team, value: 'zoe' }))).toBe('Growth team for zoe');
    expect(budgetName(call({ scope: 'budget', budget_id: 'bud_1' }))).toBe('bud_1');
    expect(budgetName(call({ budget_name: 'Agent research' }))).toBeUndefined();
    for (const scope of ['budget', 'constructor']) expect(budgetName(call({ scope }))).toBeUndefined();
    expect([budgetBlocker(call({})), budgetBlocker(call(team))]).toEqual(['agent budget', 'budget']);
  });
});

describe('a pause', () => {
  it.each([
    ['agent', 'planner', 'Agent planner'],
    ['key', 'abcdefghijklmnop', 'Workspace key abcdefghijklmnop'],
    ['label:team', 'growth', 'Label team: growth'],
    ['region', 'eu', 'region eu'],
  ])('of %s %s says what it is: %s', (scope, value, name) => {
    expect(pauses.nameOf({ scope, value })).toBe(name);
  });

  it('explains a blocked call instead of a budget', () => {
    const paused = { code: 'paused', pause_reason: 'Loops', scope: 'agent', requested_micros: 1, spent_micros: 0 };
    const call = { ...paused, daily_budget_usd_micros: 0 } as Api.BudgetBlocked;
    expect([budgetBlocker(call), blockerName(call)]).toEqual(['pause', 'Loops']);
    expect(text.blocked.budgetWhy(call)).toBe('The calls were paused: Loops');
    expect(text.blocked.budgetUnblock(call)).toMatch(/^Wait until the pause ends, or ask an owner or admin/);
  });
});

const DEVIATION: Api.Alert['deviation'] = {
  ...{ agent_id: 'research', hour: '2026-11-24T12:00:00.000Z', spent_micros: 12_000_000, weeks: 4 },
  ...{ median_micros: 2_500_000, times: 3, min_micros: 1_000_000 },
};

it('the line of a deviation names the agent, what it spent and what is usual', () => {
  const deviation = DEVIATION;
  expect(alert({ rule_kind: 'deviation_gte', deviation })).toBe(
    'Web research spent $12.00 within the hour (usually $2.50, median of 4 weeks; threshold 3×)',
  );
  const others = { ...deviation, agent_id: null, weeks: 1 };
  expect(alert({ rule_kind: 'deviation_gte', deviation: others, labels: { team: 'red' } })).toBe(
    'Further agents spent $12.00 within the hour, with team=red (usually $2.50, median of 1 week; threshold 3×)',
  );
});

const BURN: Api.Alert['burn'] = {
  ...{ budget_id: 'bud_1', budget_name: 'Growth team', limit_micros: 40_000_000, period: null },
  ...{ fraction: 0.25, long_seconds: 3600, short_seconds: 300, long_micros: 12_000_000, short_micros: 2_000_000 },
};

it('the line of a burn rate names the budget, its value, and what both windows have spent', () => {
  const line = '$12.00 of $40.00 spent within 1 hour ($2.00 within 5 minutes; threshold 25%)';
  expect(alert({ rule_kind: 'burn_rate_gte', burn: BURN })).toBe(`Growth team: ${line}`);
  const value = { ...BURN, value: 'zoe' };
  expect(alert({ rule_kind: 'burn_rate_gte', burn: value })).toBe(`Growth team for zoe: ${line}`);
  const others = { ...BURN, is_of_others: true };
  expect(alert({ rule_kind: 'burn_rate_gte', burn: others })).toBe(`Growth team for further values: ${line}`);
});

const FORECAST: Api.Alert['forecast'] = {
  ...{ budget_id: 'bud_1', budget_name: 'Growth team', limit_micros: 40_000_000, period: null, percent: 80 },
  ...{ spent_micros: 12_000_000, spent_since: '2026-11-24T00:00:00.000Z', weeks: 2, forecast_micros: 48_000_000 },
  ...{ pace_micros: 3_000_000, pace_since: '2026-11-24T09:00:00.000Z', used_up_at: '2026-11-24T20:30:00.000Z' },
};

it('the line of a forecast names the budget, its value, what is spent and forecast, and when the limit is reached', () => {
  const line = (forecast: Partial<typeof FORECAST>) =>
    alert({
      ...{ rule_kind: 'forecast_gte', triggered_at: '2026-11-24T12:00:00.000Z' },
      forecast: { ...FORECAST, ...forecast },
    });
  const amounts = '$12.00 of $40.00 spent, $48.00 forecast';
  expect(line({})).toBe(`Growth team: ${amounts}, used up in 8 h 30 min (threshold 80%)`);
  expect(line({ value: 'zoe', used_up_at: null })).toBe(`Growth team for zoe: ${amounts} (threshold 80%)`);
  expect(line({ used_up_at: '2026-11-24T12:00:00.000Z' })).toBe(`Growth team: ${amounts}, used up (threshold 80%)`);
});

describe('the line of an evaluation', () => {
  it.each([
    [{ rule_kind: 'event_count_gte', event_count: 3, threshold: 10, spend: null }, '3 of 10 events'],
    [{ rule_kind: 'first_occurrence', event_count: 1, threshold: 0, spend: null }, '1 event'],
    [
      { rule_kind: 'spend_gte', event_count: 2, spend: { settled_micros: 5_000_000, threshold_micros: 4_000_000 } },
      '$5.00 of $4.00',
    ],
    [{ rule_kind: 'burn_rate_gte', burn: BURN }, '$12.00 of $10.00'],
    [{ rule_kind: 'forecast_gte', forecast: FORECAST }, '$48.00 of $32.00'],
    [{ rule_kind: 'deviation_gte', deviation: DEVIATION }, '$12.00 of $7.50'],
    [{ rule_kind: 'deviation_gte', deviation: { ...DEVIATION, median_micros: 0, weeks: 0 } }, '$12.00 of $1.00'],
    [{ rule_kind: 'newer', event_count: 2, threshold: 0, spend: null }, '2 events'],
  ])('compares with the threshold of the kind: %j', (evaluation, line) => {
    expect(evaluationLine(evaluation as Api.AlertRuleEvaluation)).toBe(line);
  });
});

describe('the sentence of a rule', () => {
  it('says what fires it', () => {
    expect(rule('event_count_gte', { threshold: 3 }, ['budget.blocked'])).toBe(
      '3 calls blocked by a budget within 10 minutes, any agent',
    );
    expect(rule('first_occurrence', { window_seconds: 86_400 }, ['guard.blocked'])).toBe(
      'First guard block in 24 hours, any agent',
    );
    expect(rule('event_count_gte', { threshold: 3 }, ['call.unmetered'])).toBe(
      '3 calls without usage within 10 minutes, any agent',
    );
    expect(rule('first_occurrence', { window_seconds: 86_400 }, ['price.missing'])).toBe(
      'First missing price in 24 hours, any agent',
    );
    expect(rule('spend_gte', { threshold_micros: 10_000_000, window_seconds: 3_600 }, ['spend.settled'])).toBe(
      '$10.00 or more spent within 1 hour, all agents',
    );
    const burn = { fraction: 0.25, long_seconds: 3_600, short_seconds: 300 };
    expect(rule('burn_rate_gte', burn, ['spend.settled'])).toBe(
      '25% or more spent within 1 hour, and at that rate within 5 minutes, of the daily budget, all agents',
    );
    expect(rule('burn_rate_gte', { ...burn, budget_id: 'bud_1' }, ['spend.settled'])).toBe(
      '25% or more spent within 1 hour, and at that rate within 5 minutes, of bud_1',
    );
    expect(rule('forecast_gte', { percent: 80 }, ['spend.settled'])).toBe(
      '80% or more forecast for the end of the period, of the daily budget, all agents',
    );
    const deviation = { times: 3, min_micros: 1_000_000, window_seconds: 3_600 };
    expect(rule('deviation_gte', deviation, ['spend.settled'])).toBe(
      '$1.00 or more spent in an hour, and 3 times the median of the same hour in the last 4 weeks, each agent',
    );
    expect(rule('event_count_gte', { threshold: 1 }, ['budget.blocked'], { team: 'growth', env: 'prod-*' })).toBe(
      '1 call blocked by a budget within 10 minutes, any agent, with env=prod-*, team=growth',
    );
  });
});
