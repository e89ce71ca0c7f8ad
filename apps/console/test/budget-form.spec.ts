import { describe, expect, it } from '@jest/globals';
import type { Api } from '@tollkeeper/client';
import { type BudgetInput, EMPTY, patchOf, readForm, toForm } from '../web/src/pages/budgets/budget-form.ts';

const ZONE = 'Europe/Paris';
const INPUT: BudgetInput = {
  name: 'Growth, per user',
  description: 'Asked for by Ada',
  selector: { agent: 'reader', model: 'claude-*', labels: { env: 'prod', team: 'growth' } },
  each: 'label:user',
  overrides: null,
  period: { kind: 'month', start_day: 15 },
  limit_micros: 12_500_001,
  action: 'warn',
  grace_percent: 10,
  tell_at: [50, 110],
  is_active: false,
};
const BUDGET: Api.Budget = { ...INPUT, id: 'bud_1', origin: null, created_at: null, updated_at: null };

function inputOf(budget: Api.Budget): BudgetInput {
  const { draft, problems } = readForm(toForm(budget, ZONE), ZONE);
  expect([...problems]).toEqual([]);
  return draft as BudgetInput;
}

const PERIODS: Record<Api.Budget['period']['kind'], Api.Budget['period']> = {
  hour: { kind: 'hour' },
  day: { kind: 'day' },
  week: { kind: 'week' },
  month: { kind: 'month', start_day: 15 },
  quarter: { kind: 'quarter', start_month: 2, start_day: 3 },
  year: { kind: 'year', start_month: 4, start_day: 6 },
  once: { kind: 'once', start: '2026-03-29T00:30:00.000Z', end: '2026-10-25T00:30:00.000Z' },
  rolling: { kind: 'rolling', seconds: 5_400 },
};

describe('the form of a budget', () => {
  it.each(Object.values(PERIODS))('keeps every field of a budget with the period %j', (period) => {
    expect(inputOf({ ...BUDGET, period })).toEqual({ ...INPUT, period });
    expect(patchOf(inputOf({ ...BUDGET, period }), inputOf({ ...BUDGET, period }))).toEqual({});
  });

  it.each(['agent', 'label:team', null])('keeps for what each limit is: %s', (each) => {
    expect(inputOf({ ...BUDGET, each })).toMatchObject({ each });
  });

  it('does not touch a period that it cannot show to the second', () => {
    const period = { kind: 'once', start: '2026-03-01T00:00:07.500Z', end: '2026-10-25T00:30:00.000Z' } as const;
    const before = inputOf({ ...BUDGET, period });
    expect(patchOf(before, { ...before, name: 'Other' })).toEqual({ name: 'Other' });
  });

  it('removes what is no longer selected, and sends only fields that changed', () => {
    const before = inputOf(BUDGET);
    const selector = { model: 'gpt-*', labels: { team: 'search' } };
    expect(patchOf(before, { ...before, selector, tell_at: null, each: null })).toEqual({
      selector: { agent: null, model: 'gpt-*', labels: { env: null, team: 'search' } },
      tell_at: null,
      each: null,
    });
    expect(patchOf(before, { ...before, selector: {} })).toEqual({
      selector: { agent: null, model: null, labels: { env: null, team: null } },
    });
  });

  it.each([
    [{ limit: 'twelve' }, 'limit_micros'],
    [{ labels: 'team' }, 'selector.labels'],
    [{ grace: '' }, 'grace_percent'],
    [{ tellAt: '50, half' }, 'tell_at'],
    [{ period: { ...EMPTY.period, startDay: 'first' } }, 'period.start_day'],
    [{ kind: 'rolling' as const, period: { ...EMPTY.period, hours: '' } }, 'period.seconds'],
    [{ kind: 'once' as const, period: { ...EMPTY.period, end: '2026-10-25T00:30' } }, 'period.start'],
  ])('finds what it cannot send: %j', (change, field) => {
    const form = { ...EMPTY, limit: '1', ...change };
    expect([...readForm(form, ZONE).problems.keys()]).toEqual([field]);
  });
});
