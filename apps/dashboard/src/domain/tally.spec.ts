import { describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import type { DashboardEvent } from './event.ts';
import { addTally, addTallyTo, emptyTally, subtractSums, tallyOf, type Tally } from './tally.ts';

const NOTHING = {
  totalMicros: 0,
  settlements: 0,
  inputTokens: 0,
  outputTokens: 0,
  budgetBlocked: 0,
  guardBlocked: 0,
  lastAt: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  reasoningTokens: 0,
  unmetered: 0,
  unpriced: 0,
};

function event(type: string, data: DashboardEvent['data'] = {}): DashboardEvent {
  return { tenantId: provenTenantId('ws_1'), source: 'gw', eventId: 'e1', type, time: 1000, data };
}

describe('the tally of an event', () => {
  const amounts = { amount_micros: 7, input_tokens: 5, output_tokens: 3 };

  it.each([
    ['of settled spend', 'spend.settled', { totalMicros: 7, settlements: 1, inputTokens: 5, outputTokens: 3 }],
    ['of a budget that blocked', 'budget.blocked', { budgetBlocked: 1 }],
    ['of a guard that blocked', 'guard.blocked', { guardBlocked: 1 }],
    ['of a call without usage', 'call.unmetered', { unmetered: 1 }],
    ['of another type', 'tool.called', {}],
  ])('%s counts what its type counts, and its time', (_what, type, counted) => {
    expect(tallyOf(event(type, amounts))).toEqual({ ...NOTHING, ...counted, lastAt: 1000 });
  });

  it('of settled spend counts the parts of its tokens', () => {
    const parts = { cache_read_tokens: 4, cache_write_tokens: 3, cache_write_1h_tokens: 2, reasoning_tokens: 1 };
    const counted = { cacheReadTokens: 4, cacheWriteTokens: 3, cacheWrite1hTokens: 2, reasoningTokens: 1 };
    expect(tallyOf(event('spend.settled', parts))).toEqual({ ...NOTHING, ...counted, settlements: 1, lastAt: 1000 });
  });

  it('of settled spend counts whether nobody knows its price', () => {
    const counted = { ...NOTHING, settlements: 1, lastAt: 1000 };
    expect(tallyOf(event('spend.settled', { priced_by: 'none' }))).toEqual({ ...counted, unpriced: 1 });
    expect(tallyOf(event('spend.settled', { priced_by: 'table' }))).toEqual(counted);
    expect(tallyOf(event('call.unmetered', { priced_by: 'none' }))).toEqual({ ...NOTHING, unmetered: 1, lastAt: 1000 });
  });

  it('of blocked calls counts all that the event reports', () => {
    expect(tallyOf(event('budget.blocked', { count: 12 }))).toEqual({ ...NOTHING, budgetBlocked: 12, lastAt: 1000 });
    // Only events of the budget report several calls.
    expect(tallyOf(event('guard.blocked', { count: 12 }))).toEqual({ ...NOTHING, guardBlocked: 1, lastAt: 1000 });
  });

  it('of settled spend counts 0 of an amount that it does not report', () => {
    expect(tallyOf(event('spend.settled'))).toEqual({ ...NOTHING, settlements: 1, lastAt: 1000 });
  });
});

describe('tallies', () => {
  const small: Tally = { ...NOTHING, totalMicros: 1, inputTokens: 2, lastAt: 5 };
  const large: Tally = { ...NOTHING, totalMicros: 10, settlements: 3, outputTokens: 4, lastAt: 9 };
  const both = { ...NOTHING, totalMicros: 11, settlements: 3, inputTokens: 2, outputTokens: 4, lastAt: 9 };

  it.each([
    [small, large],
    [large, small],
  ])('add up to the sums and the newest time, in any order (%#)', (first, second) => {
    const sum = { ...first };
    addTally(sum, second);
    expect(sum).toEqual(both);
  });

  it('give back the sums of what was added before, and keep the newest time', () => {
    const rest = { ...both };
    subtractSums(rest, large);
    expect(rest).toEqual({ ...small, lastAt: 9 });
  });

  it('begin with nothing, each with its own', () => {
    addTally(emptyTally(), large);
    expect(emptyTally()).toEqual(NOTHING);
  });

  it('add up by their key in a map, and stay what they are themselves', () => {
    const map = new Map<string, Tally>();
    const first = { ...small };
    addTallyTo(map, 'a', first);
    addTallyTo(map, 'a', large);
    addTallyTo(map, 'b', large);
    expect(map).toEqual(
      new Map([
        ['a', both],
        ['b', large],
      ]),
    );
    expect(first).toEqual(small);
  });
});
