import { describe, expect, it } from '@jest/globals';
import { budgetSentence, type PeriodKind, type SaidBudget } from '../web/src/text/budget-sentence.ts';

const ZONE = 'Europe/Paris';
const DAILY: SaidBudget = {
  selector: {},
  each: null,
  period: { kind: 'day' },
  limit_micros: 5_000_000,
  action: 'deny',
  grace_percent: 0,
};

function said(change: Partial<SaidBudget>, overridden?: string): string {
  return budgetSentence({ ...DAILY, ...change }, { zone: ZONE, overridden });
}

describe('the sentence of a budget', () => {
  it.each<[Partial<SaidBudget>, string]>([
    [{}, 'The workspace may spend $5.00 a day'],
    [{ each: 'label:user', selector: { model: 'claude-*' } }, 'Each user may spend $5.00 a day on claude-*'],
    [{ each: 'agent' }, 'Each agent may spend $5.00 a day'],
    [{ each: 'agent', selector: { agent: 'crawler-*' } }, 'Each agent matching crawler-* may spend $5.00 a day'],
    [{ each: 'plan', selector: { plan: '*' } }, 'Each plan may spend $5.00 a day'],
    [
      { each: 'key', selector: { labels: { team: 'growth' } } },
      'Each workspace key of team growth may spend $5.00 a day',
    ],
    [
      { each: 'label:cost_center', selector: { labels: { cost_center: 'eu-*', env: 'prod' } } },
      'Each cost center matching eu-* of env prod may spend $5.00 a day',
    ],
    [{ each: 'model' }, 'The workspace may spend $5.00 a day on each model'],
    [
      { each: 'model', selector: { model: 'claude-*', provider: 'anthropic', plan: 'pro' } },
      'Plan pro may spend $5.00 a day on each model matching claude-* of anthropic',
    ],
    [{ each: 'provider' }, 'The workspace may spend $5.00 a day on each provider'],
    [{ selector: { provider: 'anthropic' } }, 'The workspace may spend $5.00 a day on models of anthropic'],
    [{ selector: { model: '*', agent: '*' } }, 'Any agent may spend $5.00 a day on any model'],
    [
      { selector: { labels: { team: 'growth' }, agent: 'reader', plan: 'pro', key: '4fG0aZ8kQ2mN6pR1' } },
      'Team growth of agent reader under plan pro with workspace key 4fG0aZ8kQ2mN6pR1 may spend $5.00 a day',
    ],
  ])('says whose spend it limits, and on what: %j', (change, expected) => {
    expect(said(change)).toBe(expected);
  });

  it.each<[Partial<SaidBudget>, string]>([
    [{ action: 'deny' }, ''],
    [{ action: 'deny', grace_percent: 10 }, '; calls beyond 110% of it are blocked'],
    [{ action: 'warn' }, '; calls beyond it are only reported'],
    [{ action: 'warn', grace_percent: 10 }, '; calls beyond it are only reported'],
  ])('says what happens beyond the limit, if that is not to block: %j', (change, expected) => {
    expect(said(change)).toBe(`The workspace may spend $5.00 a day${expected}`);
  });

  it('names the budget that it overrides', () => {
    const zoe = { selector: { labels: { user: 'zoe' } }, limit_micros: 1_000_000_001 };
    expect(said(zoe, 'Per user')).toBe('User zoe may spend $1,000.000001 a day, instead of the limit of “Per user”');
  });

  const PERIODS: Record<PeriodKind, [SaidBudget['period'], string][]> = {
    hour: [[{ kind: 'hour' }, 'an hour']],
    day: [[{ kind: 'day' }, 'a day']],
    week: [[{ kind: 'week' }, 'a week']],
    month: [
      [{ kind: 'month', start_day: 1 }, 'a month'],
      [{ kind: 'month', start_day: 28 }, 'a month (from day 28)'],
    ],
    quarter: [
      [{ kind: 'quarter', start_month: 1, start_day: 1 }, 'a quarter'],
      [{ kind: 'quarter', start_month: 2, start_day: 1 }, 'a quarter (the first from 1 February)'],
      [{ kind: 'quarter', start_month: 1, start_day: 15 }, 'a quarter (the first from 15 January)'],
    ],
    year: [
      [{ kind: 'year', start_month: 1, start_day: 1 }, 'a year'],
      [{ kind: 'year', start_month: 4, start_day: 6 }, 'a year (from 6 April)'],
    ],
    once: [
      [
        { kind: 'once', start: '2026-11-30T23:00:00.000Z', end: '2026-12-24T11:30:00.000Z' },
        'from 1 Dec 2026, 00:00 to 24 Dec 2026, 12:30',
      ],
    ],
    rolling: [
      [{ kind: 'rolling', seconds: 3_600 }, 'in any hour'],
      [{ kind: 'rolling', seconds: 86_400 }, 'in any 24 hours'],
      [{ kind: 'rolling', seconds: 31 * 86_400 }, 'in any 31 days'],
    ],
  };
  it.each(Object.values(PERIODS).flat())('says each kind of period: %j', (period, expected) => {
    expect(said({ period })).toBe(`The workspace may spend $5.00 ${expected}`);
  });

  it('leaves a gap for what is still missing', () => {
    expect(said({ limit_micros: null, period: null })).toBe('The workspace may spend … …');
  });
});
