import { describe, expect, it } from '@jest/globals';
import { BUDGET_PERIODS, type BudgetPeriod, MAX_MICROS } from '@tollkeeper/kernel';
import type { LimitView } from './enforcement.ts';
import { mostAtRisk, paceEnd } from './limit.risk.ts';

const START = Date.parse('2026-03-01T00:00:00.000Z');
const DAY_MS = 86_400_000;
const after = (days: number): number => START + days * DAY_MS;

interface Said {
  id?: string;
  value?: string;
  kind?: BudgetPeriod['kind'];
  spent: number;
  limit?: number;
}

/** The limit of a budget for 30 days, so many days after its start. */
function view({ id = 'bud_1', value = '', kind = 'month', spent, limit = 100 }: Said, days: number): LimitView {
  const period = { kind, startMonth: 1, startDay: 1, start: START, end: after(30), seconds: 60 } as BudgetPeriod;
  const row: LimitView = {
    ...{ scope: 'budget', scopeId: id, limitMicros: limit },
    budget: {
      ...{ name: id, meter: id, period, each: null, value, grantableMicros: limit, denies: true, tellAt: [] },
    },
    period: { start: START, end: after(30) },
    ...{ spentMicros: spent, heldMicros: 0, remainingMicros: 0, resetsAt: after(30), state: 'exact' },
    ...{
      openReservations: 0,
      openLeases: 0,
      overspendMicros: { above_hold: 0, late: 0, unreserved: 0 },
      released: 0,
      expired: 0,
    },
    ...{ filledPercent: 100, paceEndMicros: null },
  };
  return { ...row, paceEndMicros: paceEnd(row, after(days)) };
}

describe('the pace of a budget', () => {
  it.each([
    [1.49, null],
    [1.5, 600],
    [15, 60],
    [30, 30],
    [31, 30],
  ])('after %d of 30 days foresees its spend divided by the part that has elapsed: %p', (days, expected) => {
    expect(view({ spent: 30 }, days).paceEndMicros).toBe(expected);
  });

  it('is never beyond the largest amount', () => {
    expect(view({ spent: MAX_MICROS }, 15).paceEndMicros).toBe(MAX_MICROS);
  });

  it('is unknown only for rolling periods, whose spend leaves them step by step', () => {
    const unknown = BUDGET_PERIODS.filter((kind) => view({ spent: 30, kind }, 15).paceEndMicros === null);
    expect(unknown).toEqual(['rolling']);
  });
});

describe('the risk of a budget', () => {
  it.each<[Said, number, boolean]>([
    [{ spent: 79 }, 30, false],
    [{ spent: 80 }, 30, true],
    [{ spent: 50 }, 15, false],
    [{ spent: 51 }, 15, true],
    [{ spent: 51 }, 1, false],
    [{ spent: 51, kind: 'rolling' }, 15, false],
    [{ spent: 80, kind: 'rolling' }, 15, true],
    [{ spent: 0, limit: 0 }, 15, false],
    [{ spent: 9, limit: 0 }, 15, false],
  ])('of %j after %d of 30 days: %p', (said, days, expected) => {
    expect(mostAtRisk([view(said, days)], 1)[0]!.isAtRisk).toBe(expected);
  });

  it('orders budgets at risk first, then by what will be spent, each once and those of nothing last', () => {
    const limits = [
      view({ id: 'nothing', spent: 5, limit: 0 }, 15),
      view({ id: 'calm', spent: 10 }, 15),
      view({ id: 'split', value: 'ada', spent: 60 }, 15),
      view({ id: 'split', value: 'zoe', spent: 65 }, 15),
      view({ id: 'full', spent: 80, kind: 'rolling' }, 15),
      view({ id: 'near', spent: 45 }, 15),
      view({ id: 'over', spent: 90 }, 15),
    ];
    const found = (max: number) =>
      mostAtRisk(limits, max).map(({ limit, isAtRisk }) => [limit.scopeId, limit.budget!.value, isAtRisk]);
    const all = [
      ['over', '', true],
      ['split', 'zoe', true],
      ['full', '', true],
      ['near', '', false],
      ['calm', '', false],
      ['nothing', '', false],
    ];
    expect(found(10)).toEqual(all);
    expect(found(2)).toEqual(all.slice(0, 2));
  });
});
