import { describe, expect, it } from '@jest/globals';
import type { Api } from '@tollkeeper/client';
import { alertLine, evaluationLine } from '../web/src/text/alerts.ts';
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
): string {
  const filters = { event_types, percents: [] as number[] };
  const rule_config = { window_seconds: 600, threshold: 0, threshold_micros: 0, filters, ...config };
  return ruleLine({ rule_kind, rule_config, scope_type: 'workspace', scope_id: 'ws' });
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
    expect(alert({ ...reached })).toBe('10 daily budget thresholds reached within 10 min (threshold 10)');
  });

  it('names the quiet time before a first event', () => {
    const first: Partial<Api.Alert> = {
      ...{ rule_kind: 'first_occurrence', threshold: 0, event_count: 1, event_types: ['guard.blocked'] },
    };
    expect(alert(first, DAY_MS)).toBe('First guard block in 24 hours, any agent');
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

describe('the line of an evaluation', () => {
  it.each([
    [{ rule_kind: 'event_count_gte', event_count: 3, threshold: 10, spend: null }, '3 of 10 events'],
    [{ rule_kind: 'first_occurrence', event_count: 1, threshold: 0, spend: null }, '1 event'],
    [
      { rule_kind: 'spend_gte', event_count: 2, spend: { settled_micros: 5_000_000, threshold_micros: 4_000_000 } },
      '$5.00 of $4.00',
    ],
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
    expect(rule('spend_gte', { threshold_micros: 10_000_000, window_seconds: 3_600 }, ['spend.settled'])).toBe(
      '$10.00 or more spent within 1 hour, all agents',
    );
  });
});
