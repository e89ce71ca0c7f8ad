import { beforeEach, describe, expect, it } from '@jest/globals';
import { type ActiveBudget, createActiveBudgets } from './active.budgets.ts';
import type { Op } from './journal.ts';
import { applyOp } from './ledger.ts';
import { createLedger, type LedgerState } from './ledger.state.ts';
import { beginMeters } from './meter.begin.ts';
import { nextFill } from './metering.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const HOUR = 3_600_000;
const DAY = { start: Date.parse('2026-11-21'), end: Date.parse('2026-11-22'), timezone: 'UTC' };

const budget = (id: string, more: Partial<ActiveBudget> = {}): ActiveBudget => ({
  ...{ id, name: id, meter: `${id}.1`, selector: {}, each: null, overrides: null, denies: true, tellAt: [50] },
  ...{ period: { kind: 'month', startMonth: 1, startDay: 1 }, limitMicros: 100, grantableMicros: 100 },
  ...more,
});
const budgets = (count: number): ActiveBudget[] => Array.from({ length: count }, (_, nth) => budget(`bud_${nth}`));

let ledger: LedgerState;
let seq: number;
beforeEach(() => {
  ledger = createLedger();
  seq = 0;
  applyOp(ledger, { op: 'day', ...DAY });
});

/** The ops of the next entry. */
function begin(all: readonly ActiveBudget[], now = NOON, unknown: readonly string[] = []): Op[] {
  seq += 1;
  return beginMeters(ledger, createActiveBudgets(all, 0, { unknown }), { seq, now });
}
const begunBy = (ops: readonly Op[]) => ops.flatMap((op) => (op.op === 'begin' ? op.meters.map(([name]) => name) : []));
const forgottenBy = (ops: readonly Op[]) => ops.flatMap((op) => (op.op === 'forget' ? op.meters : []));
const meterOf = (name: string) => ledger.metering.meters.get(name);

function hold(count: number, labels: Record<string, string> = {}): void {
  const call = { agentId: 'a', runId: 'r', planKey: null, amountMicros: 5, ttlSeconds: 600, labels };
  const times = { day: DAY.start, createdAt: NOON, expiresAt: NOON + HOUR };
  for (let nth = 0; nth < count; nth += 1) {
    applyOp(ledger, { op: 'grant', id: `rsv_${nth}`, requestId: `r-${nth}`, ...call, ...times });
  }
}

describe('meters of budgets begin', () => {
  it('all in one entry, and each open reservation counts in all of them from then on', () => {
    hold(3);
    const ops = begin(budgets(200));
    expect(begunBy(ops)).toHaveLength(200);
    expect(ops.filter(({ op }) => op === 'adopt')).toHaveLength(3);
    expect(ledger.readAccount(['bud_199.1', Date.parse('2026-11-01'), ''])).toMatchObject({ held: 15, open: 3 });
    expect(begin(budgets(200))).toEqual([]);
  });

  it('in entries of at most 25,000 adoptions, if reservations are many', () => {
    hold(10_000);
    const all = budgets(5);
    expect([begin(all), begin(all), begin(all)].map((ops) => begunBy(ops).length)).toEqual([2, 2, 1]);
    expect([...ledger.holds()].every(({ accounts }) => accounts?.length === 5)).toBe(true);
  });

  it('only while open reservations take at most 96 MiB, and later once they have ended', () => {
    hold(36_000, Object.fromEntries(Array.from({ length: 10 }, (_, nth) => [`label_${nth}`, 'x'.repeat(128)])));
    expect(ledger.holdBytes).toBeGreaterThan(96 * 1024 * 1024);
    expect(begin(budgets(1))).toEqual([]);
    for (const { id, expiresAt } of [...ledger.holds()].slice(0, 12_000))
      applyOp(ledger, { op: 'release', id, expiresAt });
    expect(begunBy(begin(budgets(1)))).toEqual(['bud_0.1']);
  });

  it('where spend before them counts: from the start of the running period on', () => {
    const once = (start: number) => ({ period: { kind: 'once', start, end: start + HOUR } }) as const;
    begin([budget('month'), budget('soon', once(NOON + HOUR)), budget('later', once(NOON + HOUR + 1))]);
    expect(meterOf('month.1')).toMatchObject({ isExact: false, from: Date.parse('2026-11-01') });
    // The clocks of gateways may be ahead by an hour, so spend of a budget that lies ahead may be there already.
    expect(meterOf('soon.1')).toMatchObject({ isExact: false, from: NOON + HOUR });
    expect(meterOf('later.1')).toMatchObject({ isExact: true });
  });
});

describe('a meter is forgotten', () => {
  it('with its budget, but not if the budget is one that this version cannot apply', () => {
    begin(budgets(2));
    expect(begin([], NOON, ['bud_0.1'])).toEqual([{ op: 'forget', meters: ['bud_1.1'] }]);
    expect([...ledger.metering.meters.keys()]).toEqual(['bud_0.1']);
  });

  it('to begin anew if it could not be filled within three days', () => {
    begin(budgets(1));
    const later = NOON + 72 * HOUR;
    expect(begin(budgets(1), later)).toEqual([]);
    applyOp(ledger, { op: 'day', start: DAY.start + 72 * HOUR, end: DAY.end + 96 * HOUR, timezone: 'UTC' });
    expect(forgottenBy(begin(budgets(1), later + 1))).toEqual(['bud_0.1']);
    expect(begunBy(begin(budgets(1), later + 1))).toEqual(['bud_0.1']);
    expect(meterOf('bud_0.1')).toMatchObject({ cut: seq, at: later + 1 });
  });

  it('to begin anew if the ledger was rebuilt without its beginning', () => {
    applyOp(ledger, { op: 'period', meter: 'bud_0.1', start: DAY.start, end: DAY.end, until: DAY.end });
    expect(begin(budgets(1))).toEqual([{ op: 'forget', meters: ['bud_0.1'] }]);
    expect(ledger.periods('bud_0.1')).toEqual([]);
    expect(begunBy(begin(budgets(1)))).toEqual(['bud_0.1']);
  });
});

it('a fill has at most 50 meters, and the others come after it', () => {
  begin(budgets(120));
  const names = budgets(120).map(({ meter }) => meter);
  for (const first of [0, 50, 100]) {
    const fill = nextFill(ledger.metering, NOON)!;
    expect(fill.meters).toEqual(names.slice(first, first + 50));
    applyOp(ledger, { op: 'fill', spend: [], ...fill, cursor: '', readUntil: NOON });
  }
  expect(nextFill(ledger.metering, NOON)).toBeNull();
});
