import { describe, expect, it } from '@jest/globals';
import { eventAt } from '../../test/fixtures.ts';
import type { SavedCondition } from './condition.ts';
import type { CountableEvent } from './event.ts';
import { MAX_COUNTED_MICROS, MAX_SPEND_ENTRIES, SumCondition } from './sum.condition.ts';
import { emptySum } from './saved-sum.ts';
import { conditionOf, costOf, openCondition as openWith, thresholdsOf, wayToLowerCost } from './rule-kinds.ts';
import { SharedSums } from './shared-sums.ts';

const T = 20 * 86_400_000;
const WINDOW_SECONDS = 60;
const WINDOW_MS = 60_000;
const NONE = { threshold: 0, thresholdMicros: 0 };

/** For each kind: a rule, two events of which only the second meets its condition, and the expected evidence. */
const KINDS = [
  {
    condition: conditionOf('event_count_gte', { threshold: 2, thresholdMicros: 7 }),
    thresholds: { threshold: 2, thresholdMicros: 0 },
    events: [eventAt(T), eventAt(T + 10)],
    evidence: { eventCount: 2, settledMicros: null, sampleEventIds: [`e${T + 10}`, `e${T}`], firstEventAt: T },
  },
  {
    condition: conditionOf('spend_gte', { threshold: 2, thresholdMicros: 7 }),
    thresholds: { threshold: 0, thresholdMicros: 7 },
    events: [eventAt(T, { settledMicros: 3 }), eventAt(T + 10, { settledMicros: 4 })],
    evidence: { eventCount: 2, settledMicros: 7, sampleEventIds: [`e${T + 10}`, `e${T}`], firstEventAt: T },
  },
] as const;

const alone = () => ({ selection: '', from: 0, sums: new SharedSums(), budget: () => null });
/** Of a rule that shares nothing. */
const openCondition = (watch: Parameters<typeof openWith>[0], saved?: SavedCondition) =>
  openWith(watch, alone(), saved);

const watching = (condition: ReturnType<typeof conditionOf>) => ({
  ...{ id: 'rule_1', condition, windowSeconds: WINDOW_SECONDS },
});

describe.each(KINDS)('a rule of the kind $condition.kind', ({ condition, thresholds, events, evidence }) => {
  const [first, second] = events;
  const open = () => openCondition(watching(condition));

  it('has the thresholds of its kind and 0 for the others', () => {
    expect(thresholdsOf(condition)).toEqual(thresholds);
  });

  it('is met by what reaches its threshold in the window, and up to when the first of it leaves', () => {
    const watched = open();
    expect([watched.take(first), watched.metUntil()]).toEqual(['not_met', null]);
    expect([watched.take(second), watched.metUntil()]).toEqual(['became_true', T + WINDOW_MS]);
    const windowEnd = T + 10;
    expect(watched.evidence(second)).toEqual({
      ...{ ...evidence, lastEventAt: windowEnd },
      ...{ windowStart: windowEnd - WINDOW_MS, windowEnd },
    });
    expect(watched.take({ ...second })).toBe('unchanged');
    expect(watched.take({ ...second, id: 'e3', identity: 3 })).toBe('still_true');
  });

  it('counts nothing that is as old as its window is long', () => {
    const inTime = open();
    expect([inTime.take(first), inTime.take(moved(second, T + WINDOW_MS - 1))]).toEqual(['not_met', 'became_true']);
    const tooLate = open();
    expect([tooLate.take(first), tooLate.take(moved(second, T + WINDOW_MS))]).toEqual(['not_met', 'not_met']);
  });

  it('is met by a late event as by any other, in the window up to the newest', () => {
    const watched = open();
    const newest = moved(second, T + WINDOW_MS + 10);
    const late = moved({ ...second, identity: 3 }, T + 30);
    expect([first, newest, late].map((event) => watched.take(event))).toEqual(['not_met', 'not_met', 'became_true']);
  });

  it('continues from what was saved, and takes nothing of another kind for that', () => {
    const watched = open();
    watched.take(first);
    const saved = structuredClone(watched.save());
    expect(openCondition(watching(condition), saved).take(second)).toBe('became_true');
    const ofAnother = openCondition(watching({ kind: 'first_occurrence' }));
    ofAnother.take(first);
    expect(openCondition(watching(condition), ofAnother.save()).take(second)).toBe('not_met');
    expect(openCondition(watching({ kind: 'first_occurrence' }), saved).take(second)).toBe('became_true');
  });

  it('says that a store takes more for more', () => {
    const watched = open();
    const before = watched.unsavedBytes;
    watched.take(first);
    expect(watched.unsavedBytes).toBeGreaterThan(before);
  });
});

function moved(event: CountableEvent, time: number): CountableEvent {
  return { ...event, time, receivedAt: time };
}

describe('a rule of the kind first_occurrence', () => {
  const condition = conditionOf('first_occurrence', { threshold: 2, thresholdMicros: 7 });

  it('has no threshold', () => {
    expect(condition).toEqual({ kind: 'first_occurrence' });
    expect(thresholdsOf(condition)).toEqual({ threshold: 0, thresholdMicros: 0 });
  });

  it('is met by an event that has no other in the window before it, and says nothing of the others', () => {
    const watched = openCondition(watching(condition));
    expect(watched.metUntil()).toBeNull();
    const event = eventAt(T);
    expect([watched.take(event), watched.metUntil()]).toEqual(['became_true', T + WINDOW_MS]);
    expect(watched.evidence(event)).toEqual({
      ...{ windowStart: T - WINDOW_MS, windowEnd: T, eventCount: 1, settledMicros: null },
      ...{ sampleEventIds: [`e${T}`], firstEventAt: T, lastEventAt: T },
    });
    expect(watched.take(eventAt(T + WINDOW_MS - 1))).toBe('not_met');
    expect(watched.take(eventAt(T + 2 * WINDOW_MS - 1))).toBe('became_true');
  });

  it('continues from what was saved', () => {
    const watched = openCondition(watching(condition));
    watched.take(eventAt(T));
    expect(openCondition(watching(condition), structuredClone(watched.save())).take(eventAt(T + 1))).toBe('not_met');
  });

  it('takes no more memory than it costs, whatever events come, and nearly as much at worst', () => {
    const watch = watching(condition);
    const watched = openCondition(watch);
    // From 5 minutes late to 5 minutes early, each in a window of its own; received up to 5 minutes out of order.
    const first = T - 10 * 60_000;
    for (let time = first + 1; time <= T + 5 * 60_000; time += WINDOW_MS + 1) {
      watched.take(eventAt(time, { receivedAt: Math.min(time + 5 * 60_000, T) }));
    }
    expect(watched.unsavedBytes).toBeLessThanOrEqual(costOf(watch));
    expect(watched.unsavedBytes).toBeGreaterThan(costOf(watch) * 0.8);
    for (let time = T + 6 * 60_000; time < T + 86_400_000; time += WINDOW_MS + 1) watched.take(eventAt(time));
    expect(watched.unsavedBytes).toBeLessThanOrEqual(costOf(watch));
  });
});

describe('a rule that counts events', () => {
  it('reports the times of the first and the last event that it counted, in whatever order', () => {
    const watched = openCondition(watching({ kind: 'event_count_gte', threshold: 4 }));
    const times = [4, 1, 5, 3, 2].map((second) => T + second * 1000);
    for (const time of times) watched.take(eventAt(time));
    expect(watched.evidence(eventAt(T + 2000))).toMatchObject({
      ...{ eventCount: 4, firstEventAt: T + 2000, lastEventAt: T + 5000, windowEnd: T + 5000 },
    });
  });
});

describe('a rule about spend', () => {
  const open = (thresholdMicros: number, windowSeconds = WINDOW_SECONDS, id = 'rule_1') =>
    openCondition({ id, condition: { kind: 'spend_gte', thresholdMicros }, windowSeconds });

  it('counts no settlement of nothing', () => {
    const watched = open(1);
    expect([watched.take(eventAt(T, { settledMicros: 0 })), watched.metUntil()]).toEqual(['unchanged', null]);
  });

  it('counts a settlement for what keeps sums exact at most', () => {
    const watched = open(MAX_COUNTED_MICROS);
    const event = eventAt(T, { settledMicros: MAX_COUNTED_MICROS + 1 });
    expect(watched.take(event)).toBe('became_true');
    expect(watched.evidence(event).settledMicros).toBe(MAX_COUNTED_MICROS);
  });

  it('knows a settlement of the last 10 minutes again, however many more than there are entries', () => {
    const day = 86_400;
    const entries = Float64Array.of(T - day * 500, T - day * 500, 1, 1);
    const oldest = { ...emptySum('amount'), entries, size: 1, stagger: 0, shareAt: MAX_SPEND_ENTRIES };
    const watched = new SumCondition(
      'spend_gte',
      { ...alone(), windowMs: day * 1000, ruleId: 'rule_1' },
      MAX_COUNTED_MICROS,
      oldest,
    );
    const settled = (time: number) => eventAt(time, { settledMicros: 1 });
    const recent = Array.from({ length: 50 }, (_, index) => settled(T - 10 * 60_000 + 1 + index));
    // The last recent event is one too many, so entries become shared while the older ones are present.
    const older = MAX_SPEND_ENTRIES - recent.length + 1;
    for (let n = 1; n < older; n += 1) watched.take(settled(T - day * 500 + n));
    for (const event of recent) watched.take({ ...event, receivedAt: T });
    expect(watched.unsavedBytes).toBeLessThan(MAX_SPEND_ENTRIES * 32);
    expect(new Set(recent.map((event) => watched.take({ ...event, receivedAt: T })))).toEqual(new Set(['unchanged']));
  });
});

describe('600 rules about the spend of a day, each with a slightly different window,', () => {
  const DAY_SECONDS = 86_400;
  const RULES = 600;

  it.each([
    ['share entries', 5_200],
    ['have many parts in the store', 1_500],
  ])('never have all of their windows to save whole at once, when they %s', (_what, events) => {
    const rules = Array.from({ length: RULES }, (_, index) =>
      openCondition({
        ...{ id: `rule_${index}`, windowSeconds: DAY_SECONDS - index },
        condition: { kind: 'spend_gte', thresholdMicros: MAX_COUNTED_MICROS },
      }),
    );
    let most = 0;
    for (let n = 0; n < events; n += 1) {
      const event = eventAt(T + n * 15_000, { settledMicros: 1 });
      for (const rule of rules) rule.take(event);
      most = Math.max(
        most,
        rules.reduce((total, { unsavedBytes }) => total + unsavedBytes, 0),
      );
      if (n % 20 === 0) for (const rule of rules) rule.saved();
    }
    expect(most).toBeLessThan(8_000_000);
  });
});

describe('the memory that a rule costs', () => {
  it.each([
    ['16 bytes an event', conditionOf('event_count_gte', { threshold: 1000, thresholdMicros: 0 }), 16_000],
    ['32 bytes a settlement', conditionOf('spend_gte', { threshold: 0, thresholdMicros: 5 }), 160],
    ['at most 4000 settlements', conditionOf('spend_gte', { threshold: 0, thresholdMicros: 1_000_000 }), 128_000],
    ['40 bytes for each window in 15 minutes, and one', conditionOf('first_occurrence', NONE), 640],
  ])('is %s', (_what, condition, bytes) => {
    expect(costOf(watching(condition))).toBe(bytes);
  });

  it.each([
    ['event_count_gte', 'Lower rule_config.threshold'],
    ['first_occurrence', 'Raise rule_config.window_seconds'],
    ['spend_gte', 'Set rule_kind to event_count_gte with a low rule_config.threshold'],
  ] as const)('of a %s comes with advice on lowering it', (kind, way) => {
    expect(wayToLowerCost(watching(conditionOf(kind, NONE)))).toBe(way);
  });
});
