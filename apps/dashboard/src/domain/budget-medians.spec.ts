import { describe, expect, it } from '@jest/globals';
import type { BudgetEach, BudgetSelector } from '@tollkeeper/contracts';
import { createBreakdown, type Grouping, MAX_GROUPS } from './breakdown.ts';
import { daysBefore, findMedians, MAX_MEDIAN_VALUES, medianOf } from './budget-medians.ts';
import type { InTurn } from './budget.spend.ts';
import { OTHER } from './names.ts';
import { emptyTally } from './tally.ts';

const HOUR_MS = 3_600_000;

describe('the median', () => {
  it.each([
    [[], 0],
    [[7], 7],
    [[9, 1, 5], 5],
    [[1, 8, 2, 4], 3],
    [[1, 2], 2],
    [[0, 0, 0, 900], 0],
    [[Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 2], Number.MAX_SAFE_INTEGER - 1],
  ])('of %j is %d', (values, expected) => {
    expect(medianOf(values)).toBe(expected);
  });
});

describe('the days of a median', () => {
  it('are the last 14 whole local days, also where the clocks change', () => {
    const days = daysBefore(Date.parse('2026-11-08T12:00:00Z'), 'America/New_York');
    expect(days.map(({ start, end }) => (end - start) / HOUR_MS)).toEqual([
      ...Array(7).fill(24),
      25,
      ...Array(6).fill(24),
    ]);
    expect(new Date(days[0]!.start).toISOString()).toBe('2026-10-25T04:00:00.000Z');
    expect(new Date(days.at(-1)!.end).toISOString()).toBe('2026-11-08T05:00:00.000Z');
  });

  it('are as many where a date was skipped', () => {
    const days = daysBefore(Date.parse('2012-01-05T12:00:00Z'), 'Pacific/Apia');
    expect(days).toHaveLength(14);
    expect(days.at(-1)!.end - days[0]!.start).toBe(14 * 24 * HOUR_MS);
  });
});

describe('medians of budgets', () => {
  const GROUPS: Record<string, Record<string, number[]>> = {
    agent: { reader: [3, 1, 2], 'research-a': [10, 0, 0], 'research-b': [0, 20, 30] },
    model: { 'claude-opus': [5, 5, 5], 'claude-haiku': [1, 2, 3], gpt: [100, 100, 100] },
    plan: { pro: [4, 6, 8] },
    'label:team': { growth: [7, 8, 9] },
  };

  function spendOf(groups: Record<string, Record<string, number[]>> = GROUPS) {
    const asked: string[] = [];
    /** Of each turn, what was read in it. */
    const turns: string[] = [];
    const by = async (grouping: Grouping) => {
      const name = grouping.by === 'label' ? `label:${grouping.name}` : grouping.by;
      asked.push(name);
      const { add, largest } = createBreakdown(3);
      for (const [key, days] of Object.entries(groups[name] ?? {})) {
        days.forEach((totalMicros, day) => add(key, day, { ...emptyTally(), totalMicros, settlements: 1 }));
      }
      add(null, 0, { ...emptyTally(), totalMicros: 1_000, settlements: 1 });
      return largest(MAX_GROUPS);
    };
    const ofWorkspace = async () => {
      asked.push('workspace');
      return [100, 300, 200];
    };
    const inTurn: InTurn = async (division, work) => {
      const before = asked.length;
      const answer = await work({ by, ofWorkspace });
      turns.push(`${division}: ${asked.slice(before).join()}`);
      return answer;
    };
    return { turns, inTurn };
  }

  const budget = (id: string, selector: BudgetSelector, each: BudgetEach | null = null) => {
    return { id, selector, each, overrides: null as string | null };
  };
  const of = async (...args: Parameters<typeof budget>) =>
    (await findMedians([budget(...args)], ['team'], spendOf().inTurn))[0];

  it('add up what a selector matches on each day, before they are compared', async () => {
    expect(await of('all', {})).toEqual({ id: 'all', micros: 200 });
    expect(await of('reader', { agent: 'reader' })).toEqual({ id: 'reader', micros: 2 });
    // 10, 20 and 30: the sum of the medians would be 20 as well, that of the larger days 30.
    expect(await of('research', { agent: 'research-*' })).toEqual({ id: 'research', micros: 20 });
    expect(await of('claude', { model: 'claude-*' })).toEqual({ id: 'claude', micros: 7 });
    expect(await of('any', { model: '*' })).toEqual({ id: 'any', micros: 107 });
    expect(await of('pro', { plan: 'pro' })).toEqual({ id: 'pro', micros: 6 });
    expect(await of('team', { labels: { team: 'growth' } })).toEqual({ id: 'team', micros: 8 });
    expect(await of('nobody', { labels: { team: 'nobody' } })).toEqual({ id: 'nobody', micros: 0 });
    expect(await of('none', { model: 'gemini-*' })).toEqual({ id: 'none', micros: 0 });
  });

  it('are separate for the values of a budget with a limit for each, the largest spend first', async () => {
    expect(await of('each', { model: 'claude-*' }, 'model')).toEqual({
      id: 'each',
      values: [
        { value: 'claude-opus', micros: 5 },
        { value: 'claude-haiku', micros: 2 },
      ],
      more: false,
    });
    expect(await of('team', {}, 'label:team')).toMatchObject({ values: [{ value: 'growth', micros: 8 }] });
    const many = Object.fromEntries(Array.from({ length: MAX_MEDIAN_VALUES + 1 }, (_, n) => [`a${n}`, [n + 1, 1, 1]]));
    const [found] = await findMedians([budget('many', {}, 'agent')], [], spendOf({ agent: many }).inTurn);
    expect(found).toMatchObject({ more: true, values: { length: MAX_MEDIAN_VALUES, 0: { value: 'a100' } } });
  });

  it('leave out the values that other budgets take over', async () => {
    const taker = { ...budget('taker', { model: 'claude-opus' }), overrides: 'each' };
    const budgets = [budget('each', { model: 'claude-*' }, 'model'), taker, budget('other', {}, 'model')];
    const [each, taken, other] = await findMedians(budgets, [], spendOf().inTurn);
    expect(each).toMatchObject({ values: [{ value: 'claude-haiku', micros: 2 }] });
    expect(taken).toEqual({ id: 'taker', micros: 5 });
    expect(other).toMatchObject({ values: expect.arrayContaining([{ value: 'claude-opus', micros: 5 }]) });
  });

  it.each<[BudgetSelector, BudgetEach | null, string]>([
    [{ provider: 'anthropic' }, null, 'not_counted'],
    [{}, 'key', 'not_counted'],
    [{ agent: 'reader', model: 'gpt' }, null, 'not_counted'],
    [{ model: 'gpt' }, 'agent', 'not_counted'],
    [{ labels: { team: 'growth' }, model: 'gpt' }, null, 'not_counted'],
    [{ labels: { env: 'prod' } }, null, 'label_not_tracked'],
    [{}, 'label:env', 'label_not_tracked'],
  ])('are not known for %j and each %s: %s', async (selector, each, unknown) => {
    expect(await of('x', selector, each)).toEqual({ id: 'x', unknown });
  });

  it('are not known where some of the values are counted together', async () => {
    const groups = { ...GROUPS, model: { ...GROUPS['model'], [OTHER]: [1, 0, 0] } };
    const budgets = [budget('a', { model: 'gpt' }), budget('b', {}, 'model'), budget('c', { plan: 'pro' })];
    expect(await findMedians(budgets, [], spendOf(groups).inTurn)).toEqual([
      { id: 'a', unknown: 'too_many_values' },
      { id: 'b', unknown: 'too_many_values' },
      { id: 'c', micros: 6 },
    ]);
  });

  it('are not known beside more values than a read keeps apart', async () => {
    const many = Object.fromEntries(
      Array.from({ length: MAX_GROUPS + 1 }, (_, index) => [`agent-${index}`, [1, 1, 1]]),
    );
    const [found] = await findMedians([budget('a', { agent: 'agent-0' })], [], spendOf({ agent: many }).inTurn);
    expect(found).toEqual({ id: 'a', unknown: 'too_many_values' });
  });

  it('read each division once, in a turn of its own, and only those that budgets need', async () => {
    const { turns, inTurn } = spendOf();
    const budgets = [
      ...[budget('a', { model: 'gpt' }), budget('b', {}), budget('c', { model: 'claude-*' })],
      ...[budget('d', {}), budget('e', {}, 'model'), budget('f', { provider: 'x' })],
      budget('g', { labels: { team: 'growth' } }),
    ];
    const found = await findMedians(budgets, ['team'], inTurn);
    expect(found.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    expect(turns).toEqual(['whole: workspace', 'model: model', 'label:team: label:team']);
  });
});
