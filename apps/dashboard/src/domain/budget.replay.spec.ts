import { describe, expect, it } from '@jest/globals';
import { grantableMicros, isSelected, valueOfEach, type BudgetEach, type BudgetSelector } from '@tollkeeper/contracts';
import { type BudgetPeriod, CALENDAR_PERIODS, type CalendarPeriod, periodAt, provenTenantId } from '@tollkeeper/kernel';
import fc from 'fast-check';
import { createBudgetReplay, type PlannedBudget, REPLAY_LIMITS } from './budget.replay.ts';
import { type DashboardEvent, type EventData, SPEND_SETTLED } from './event.ts';

const tenantId = provenTenantId('ws_1');
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A week in which clocks of Paris go forward, and one in which they go back. */
const WEEKS = ['2026-03-25T00:00:00+01:00', '2026-10-21T00:00:00+02:00'].map((text) => Date.parse(text));

let sequence = 0;
function settled(time: number, amount: number, data: EventData = {}): DashboardEvent {
  const known = { settlement_id: `s${++sequence}`, agent_id: 'ann', amount_micros: amount };
  return { tenantId, source: 'gw', eventId: `e${sequence}`, type: SPEND_SETTLED, time, data: { ...known, ...data } };
}

const calendar = (kind: CalendarPeriod['kind'], startMonth = 1, startDay = 1): BudgetPeriod => ({
  ...{ kind, startMonth, startDay },
});
const daily: PlannedBudget = {
  ...{ selector: {}, each: null, period: calendar('day'), limitMicros: 100, gracePercent: 0, denies: true },
};

/** The slow and obvious truth: sums over all earlier calls that were spent. */
function bruteForce(
  { selector, each, period, limitMicros, gracePercent, denies }: PlannedBudget,
  { timezone, from }: { timezone: string; from: number },
  settlements: readonly DashboardEvent[],
) {
  const spent: { value: string | null; time: number; micros: number }[] = [];
  const judged: { value: string | null; micros: number; exceeds: boolean; id: string; before: number }[] = [];
  for (const { time, data } of settlements) {
    const { agent_id = '', plan_key = null, model = null, provider = null, key_id = null, labels = {} } = data;
    const call = { agent: agent_id, plan: plan_key, model, provider, key: key_id, labels };
    const value = each === null ? null : valueOfEach(each, call);
    if (!isSelected(selector, call) || (each !== null && value === null)) continue;
    if (period.kind === 'once' && (time < period.start || time >= period.end)) continue;
    const micros = data.amount_micros!;
    const isCounted = (other: number): boolean => {
      if (period.kind === 'once') return true;
      if (period.kind !== 'rolling') return other >= periodAt(period, timezone, time).start;
      const step = (period.seconds * 1000) / 60;
      return Math.floor(time / step) - Math.floor(other / step) < 60;
    };
    const before = spent
      .filter((other) => other.value === value && isCounted(other.time))
      .reduce((sum, other) => sum + other.micros, 0);
    const exceeds = time >= from && before + micros > grantableMicros(limitMicros, gracePercent);
    if (!exceeds || !denies) spent.push({ value, time, micros });
    if (time >= from) judged.push({ value, micros, exceeds, id: data.settlement_id!, before });
  }
  const sumsOf = (calls: typeof judged) => {
    const exceeding = calls.filter((call) => call.exceeds);
    const sum = (all: typeof judged) => all.reduce((total, { micros }) => total + micros, 0);
    return {
      ...{ calls: calls.length, micros: sum(calls) },
      ...{ exceedingCalls: exceeding.length, exceedingMicros: sum(exceeding) },
    };
  };
  const byValue = Map.groupBy(judged, ({ value }) => value);
  return {
    sums: sumsOf(judged),
    limits: byValue.size,
    values: [...byValue]
      .map(([value, calls]) => ({ value, ...sumsOf(calls) }))
      .filter(({ value, exceedingCalls }) => value !== null && exceedingCalls > 0)
      .sort(
        (a, b) =>
          b.exceedingCalls - a.exceedingCalls ||
          b.exceedingMicros - a.exceedingMicros ||
          (a.value! < b.value! ? -1 : 1),
      )
      .slice(0, 10),
    exceeding: judged
      .filter(({ exceeds }) => exceeds)
      .map(({ id, value, before }) => [id, value, before])
      .slice(-20)
      .reverse(),
  };
}

type At = Parameters<typeof createBudgetReplay>[1];

async function replayed(budget: PlannedBudget, at: At, events: DashboardEvent[]) {
  const replay = createBudgetReplay(budget, at);
  for (const event of events) replay.add(event);
  const { exceeding, values, ...outcome } = await replay.outcome();
  return {
    ...outcome,
    values: values.map(({ value, calls, micros, exceedingCalls, exceedingMicros }) => ({
      ...{ value, calls, micros, exceedingCalls, exceedingMicros },
    })),
    exceeding: exceeding.map(({ event, value, spentMicros }) => [event.data.settlement_id, value, spentMicros]),
  };
}

const periods = (start: number): fc.Arbitrary<BudgetPeriod> =>
  fc.oneof(
    fc.record({
      kind: fc.constantFrom(...CALENDAR_PERIODS),
      startMonth: fc.integer({ min: 1, max: 12 }),
      startDay: fc.integer({ min: 1, max: 28 }),
    }),
    fc.tuple(fc.integer({ min: -3, max: 5 }), fc.integer({ min: 1, max: 5 })).map(([first, days]) => ({
      kind: 'once' as const,
      start: start + first * DAY_MS,
      end: start + (first + days) * DAY_MS,
    })),
    fc.integer({ min: 60, max: 4_000 }).map((minutes) => ({ kind: 'rolling' as const, seconds: minutes * 60 })),
  );

const selectors = fc.constantFrom<BudgetSelector>(
  {},
  { model: 'claude-*' },
  { model: 'claude-opus', labels: { team: 'gr*' } },
  { plan: 'pro' },
  { key: 'k*', provider: 'anthropic' },
  { agent: 'a*' },
);
const eaches = fc.constantFrom<BudgetEach | null>(null, 'agent', 'plan', 'model', 'key', 'label:user', 'label:team');

/** Calls over ten days, in the order of time. */
const calls = (start: number) =>
  fc
    .array(
      fc.record({
        minute: fc.integer({ min: -3 * 24 * 60, max: 7 * 24 * 60 }),
        amount: fc.constantFrom(0, 1, 7, 30, 60, 250),
        agent: fc.constantFrom('ann', 'abe', 'bob'),
        model: fc.constantFrom('claude-opus', 'claude-haiku', 'gpt', undefined),
        plan: fc.constantFrom('pro', 'free', undefined),
        key: fc.constantFrom('k1', 'x1', undefined),
        user: fc.constantFrom('u1', 'u2', 'u3', undefined),
        team: fc.constantFrom('growth', 'green', 'ops', undefined),
      }),
      { maxLength: 120 },
    )
    .map((all) =>
      all
        .toSorted((a, b) => a.minute - b.minute)
        .map(({ minute, amount, agent, model, plan, key, user, team }) =>
          settled(start + minute * MINUTE_MS, amount, {
            ...{ agent_id: agent, provider: 'anthropic' },
            ...(model !== undefined && { model }),
            ...(plan !== undefined && { plan_key: plan }),
            ...(key !== undefined && { key_id: key }),
            labels: { ...(user !== undefined && { user }), ...(team !== undefined && { team }) },
          }),
        ),
    );

const cases = fc.constantFrom(...WEEKS).chain((start) =>
  fc.record({
    at: fc.record({ timezone: fc.constantFrom('Europe/Paris', 'UTC', 'Asia/Kathmandu'), from: fc.constant(start) }),
    budget: fc.record({
      ...{ selector: selectors, each: eaches, period: periods(start) },
      limitMicros: fc.integer({ min: 0, max: 300 }),
      gracePercent: fc.constantFrom(0, 10, 33, 100),
      denies: fc.boolean(),
    }),
    settlements: calls(start),
  }),
);

describe('a replay of settlements through a budget', () => {
  it('finds the calls that a sum over all earlier ones finds, in every period, for each value', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async ({ budget, at, settlements }) => {
        expect(await replayed(budget, at, settlements)).toEqual(bruteForce(budget, at, settlements));
      }),
      { numRuns: 500 },
    );
  });

  it('lets spend pass up to the limit and its grace, and does not count what is denied', async () => {
    const from = Date.parse('2026-11-21');
    const events = [60, 50, 1, 50, 0].map((amount, index) => settled(from + index, amount));
    const found = await replayed({ ...daily, gracePercent: 10 }, { timezone: 'UTC', from }, events);
    expect(found.sums).toEqual({ calls: 5, micros: 161, exceedingCalls: 2, exceedingMicros: 51 });
    expect(found.exceeding.map(([, , spent]) => spent)).toEqual([110, 110]);
  });

  it('ends a local day of 23 hours when clocks do', async () => {
    const from = Date.parse('2026-03-29T00:00:00+01:00');
    const events = ['2026-03-29T23:59:59+02:00', '2026-03-30T00:00:00+02:00'].map((time) =>
      settled(Date.parse(time), 100),
    );
    const found = await replayed(daily, { timezone: 'Europe/Paris', from }, [settled(from, 100), ...events]);
    expect(found.exceeding.map(([id]) => id)).toEqual([events[0]!.data.settlement_id]);
  });

  it('counts what was spent before the first settlement until its period is over', async () => {
    const from = Date.parse('2026-11-21');
    const earlier = { start: Date.parse('2026-11-16'), byValue: new Map([['ann', 70]]) };
    const week = { ...daily, each: 'agent' as const, period: calendar('week') };
    const at = { timezone: 'UTC', from, earlier };
    const events = [settled(from, 40), settled(from, 40, { agent_id: 'bob' }), settled(from + 2 * DAY_MS, 90)];
    const found = await replayed(week, at, events);
    expect(found.exceeding).toEqual([[events[0]!.data.settlement_id, 'ann', 70]]);
    expect(found).toMatchObject({ limits: 2, sums: { calls: 3, exceedingCalls: 1 } });
  });

  it('says the period of a call: for a rolling one, the whole of it up to the end of its step', async () => {
    const from = Date.parse('2026-11-21');
    const replay = createBudgetReplay(
      { ...daily, limitMicros: 0, period: { kind: 'rolling', seconds: 3_600 } },
      { timezone: 'UTC', from },
    );
    replay.add(settled(from + 90_000, 1));
    const [call] = (await replay.outcome()).exceeding;
    expect(call!.period).toEqual({ start: from + 2 * MINUTE_MS - 60 * MINUTE_MS, end: from + 2 * MINUTE_MS });
  });

  it('has no room for more values than its limit, and goes on with those it knows', async () => {
    const from = Date.parse('2026-11-21');
    const limits = { ...REPLAY_LIMITS, values: 2 };
    const replay = createBudgetReplay({ ...daily, each: 'agent' }, { timezone: 'UTC', from }, limits);
    const agents = ['ann', 'bob', 'cid', 'bob'];
    expect(agents.map((agent_id) => replay.add(settled(from, 1, { agent_id })))).toEqual([true, true, false, true]);
    expect(await replay.outcome()).toMatchObject({ limits: 2, sums: { calls: 3 } });
  });
});
