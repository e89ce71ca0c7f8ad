import { describe, expect, it } from '@jest/globals';
import type { AppError } from '@tollkeeper/kernel';
import { createMetrics } from '@tollkeeper/runtime';
import { PIECE_OVERHEAD_BYTES, SMALL_BODY_BYTES, STALLED_MS, createBodyBudget, observeBodies } from './body-budget.ts';
import type { BodyShare } from './body-budget.ts';

const KIB = 1024;
const BUDGET_BYTES = 1024 * KIB;

function setUp(budgetBytes = BUDGET_BYTES) {
  const clock = { ms: 5_000 };
  const refusals: string[] = [];
  const budget = createBodyBudget({
    budgetBytes,
    countRefusal: (reason) => void refusals.push(reason),
    now: () => clock.ms,
  });
  /** Opens an account with pieces of these sizes; `gaveWay` has the reasons for which it was closed. */
  const open = (charged: number[] = [], sender?: string): BodyShare & { gaveWay: AppError[] } => {
    const gaveWay: AppError[] = [];
    const share = budget.open((reason) => void gaveWay.push(reason), sender);
    for (const bytes of charged) share.take(bytes - PIECE_OVERHEAD_BYTES);
    return { ...share, gaveWay };
  };
  return { budget, clock, refusals, open };
}

const FULL = expect.objectContaining({
  code: 'service_unavailable',
  message: 'Too many requests are in progress. Try again shortly.',
  retryAfterSeconds: 1,
});

/** A budget in which 64 KiB pieces of small bodies take all but `left` bytes. */
function nearlyFull(left: number) {
  const set = setUp();
  const filling = Array.from({ length: 15 }, () => set.open([64 * KIB]));
  filling.push(set.open([64 * KIB - left]));
  return { ...set, filling };
}

describe('a budget', () => {
  it('is used up to its last byte, and what would pass it is refused, counted and not charged', () => {
    const { budget, open, refusals } = nearlyFull(600);
    expect(budget.takenBytes).toBe(BUDGET_BYTES - 600);
    const last = open();
    expect(() => last.take(601 - PIECE_OVERHEAD_BYTES)).toThrow(FULL);
    expect([budget.takenBytes, refusals]).toEqual([BUDGET_BYTES - 600, ['body_budget']]);
    last.take(600 - PIECE_OVERHEAD_BYTES);
    expect([budget.takenBytes, refusals]).toEqual([BUDGET_BYTES, ['body_budget']]);
  });

  it('has three quarters for what comes of a body after its first 64 KiB', () => {
    const { budget, open } = setUp();
    const large = open();
    large.take(SMALL_BODY_BYTES);
    open([BUDGET_BYTES * 0.75 - budget.takenBytes - 1_000]);
    expect(() => large.take(1_001 - PIECE_OVERHEAD_BYTES)).toThrow(FULL);
    large.take(1_000 - PIECE_OVERHEAD_BYTES);
    expect(budget.takenBytes).toBe(BUDGET_BYTES * 0.75);
    expect(() => large.take(0)).toThrow(FULL);
  });

  it('has all of it for a body of 64 KiB', () => {
    const { budget, open } = setUp();
    const small = open();
    open([BUDGET_BYTES * 0.9]);
    small.take(SMALL_BODY_BYTES);
    expect(budget.takenBytes).toBeGreaterThan(BUDGET_BYTES * 0.9);
  });

  it('lets in a body that is alone, and nothing beside it', () => {
    const { budget, open } = setUp(KIB);
    const alone = open([10 * KIB]);
    alone.take(10 * KIB);
    expect(() => open([600])).toThrow(FULL);
    alone.giveBack();
    alone.giveBack();
    expect(budget.takenBytes).toBe(0);
  });
});

describe('a body that has stalled', () => {
  it('gives way for a second without progress, and not a moment before, and only once', () => {
    const { budget, clock, open, filling, refusals } = nearlyFull(0);
    clock.ms += STALLED_MS - 1;
    expect(() => open([64 * KIB])).toThrow(FULL);
    clock.ms += 1;
    open([64 * KIB]);
    expect(filling.map(({ gaveWay }) => gaveWay.length)).toEqual([1, ...Array<number>(15).fill(0)]);
    expect(filling[0]?.gaveWay[0]).toMatchObject({
      code: 'service_unavailable',
      message: 'The request body arrived too slowly while memory was short. Send it again.',
      retryAfterSeconds: 1,
    });
    expect(budget.takenBytes).toBe(BUDGET_BYTES);
    filling[0]?.giveBack();
    expect([budget.takenBytes, refusals]).toEqual([BUDGET_BYTES, ['body_budget', 'body_stalled']]);
  });

  it('gives way in the order of the last progress, as many as the room needs', () => {
    const { clock, open, filling } = nearlyFull(0);
    clock.ms += 1;
    filling[0]?.pass(16 * KIB);
    clock.ms += STALLED_MS;
    open([SMALL_BODY_BYTES + PIECE_OVERHEAD_BYTES]);
    expect(filling.map(({ gaveWay }) => gaveWay.length)).toEqual([0, 1, 1, ...Array<number>(13).fill(0)]);
  });

  it.each([
    ['has come on by 16 KiB', [16 * KIB], 0],
    ['has come on by 16 KiB in pieces', [8 * KIB, 8 * KIB], 0],
    ['has come on by less', [16 * KIB - 1], 1],
    ['has come on by less since the last 16 KiB', [], 1],
  ])('is one that %s', (_case, pieces, gaveWay) => {
    const { clock, open, filling } = nearlyFull(0);
    for (const { complete } of filling.slice(1)) complete();
    clock.ms += STALLED_MS;
    for (const bytes of pieces) filling[0]?.pass(bytes);
    if (gaveWay === 1) open([64 * KIB]);
    else expect(() => open([64 * KIB])).toThrow(FULL);
    expect(filling[0]?.gaveWay).toHaveLength(gaveWay);
  });

  it('is never one that is all there, nor the one that needs room', () => {
    const { clock, open, filling } = nearlyFull(0);
    for (const { complete } of filling) complete();
    const own = open();
    own.pass(1);
    clock.ms += 10 * STALLED_MS;
    expect(() => own.take(1)).toThrow(FULL);
    expect([own, ...filling].flatMap(({ gaveWay }) => gaveWay)).toEqual([]);
  });

  it('stays while there is room without it', () => {
    const { clock, open, filling } = nearlyFull(600);
    clock.ms += 10 * STALLED_MS;
    open([600]);
    expect(filling.flatMap(({ gaveWay }) => gaveWay)).toEqual([]);
  });

  it('does not give way any more once its room is given back', () => {
    const { clock, open, filling } = nearlyFull(0);
    filling[0]?.giveBack();
    open([64 * KIB]);
    clock.ms += STALLED_MS;
    open([64 * KIB]);
    expect(filling.map(({ gaveWay }) => gaveWay.length)).toEqual([0, 1, ...Array<number>(14).fill(0)]);
  });

  it('takes no part any more once its account is closed', () => {
    const { clock, open, filling } = nearlyFull(0);
    for (const { complete } of filling) complete();
    const closed = open();
    closed.giveBack();
    closed.pass(64 * KIB);
    clock.ms += STALLED_MS;
    expect(() => open([600])).toThrow(FULL);
    expect(closed.gaveWay).toEqual([]);
  });
});

describe('a body that is read in parts', () => {
  it('keeps the room of what is left, and returns the rest', () => {
    const { budget, open } = setUp();
    const share = open([64 * KIB, 64 * KIB], 'a');
    share.keep(1_000);
    expect(budget.takenBytes).toBe(1_000 + PIECE_OVERHEAD_BYTES);
    share.keep(64 * KIB);
    expect(budget.takenBytes).toBe(1_000 + PIECE_OVERHEAD_BYTES);
    share.giveBack();
    share.keep(0);
    expect(budget.takenBytes).toBe(0);
  });

  it('has not stalled while it is in use, and can stall again when more of it arrives', () => {
    const { clock, open, filling } = nearlyFull(2_000);
    const own = open([600]);
    for (const { complete } of [...filling, own]) complete();
    clock.ms += STALLED_MS;
    expect(() => open([1_500])).toThrow(FULL);
    own.keep(0);
    own.take(100);
    clock.ms += STALLED_MS;
    open([1_000]);
    expect(own.gaveWay).toHaveLength(1);
  });

  it('stalls as well when nothing arrives after a part, and not before a second has passed', () => {
    const { clock, open, filling } = nearlyFull(2_000);
    const own = open([600]);
    for (const { complete } of [...filling, own]) complete();
    clock.ms += STALLED_MS;
    own.keep(0);
    clock.ms += STALLED_MS - 1;
    expect(() => open([1_500])).toThrow(FULL);
    clock.ms += 1;
    open([1_500]);
    expect(own.gaveWay).toHaveLength(1);
  });
});

describe('a sender', () => {
  it('is held to a quarter once half of the budget is taken, to the byte', () => {
    const { budget, open, refusals } = setUp();
    open([BUDGET_BYTES / 4], 'a');
    open([BUDGET_BYTES / 4], 'a');
    expect(() => open([PIECE_OVERHEAD_BYTES], 'a')).toThrow(FULL);
    open([BUDGET_BYTES / 4], 'b');
    expect(() => open([PIECE_OVERHEAD_BYTES], 'b')).toThrow(FULL);
    expect(refusals).toEqual(['body_budget', 'body_budget']);
    expect(budget.takenBytes).toBe(BUDGET_BYTES * 0.75);
  });

  it('that has none is not held to a share, and makes nobody give way when it is over its own', () => {
    const { clock, open } = setUp();
    const stalled = open([BUDGET_BYTES / 2]);
    open([BUDGET_BYTES / 4], 'a');
    clock.ms += STALLED_MS;
    expect(() => open([BUDGET_BYTES / 2], 'a')).toThrow(FULL);
    expect(stalled.gaveWay).toEqual([]);
    open([BUDGET_BYTES / 8]);
    open([BUDGET_BYTES / 8]);
  });

  it('has its share again when it has given it back', () => {
    const { open } = setUp();
    open([BUDGET_BYTES / 2]);
    const share = open([BUDGET_BYTES / 4], 'a');
    expect(() => open([600], 'a')).toThrow(FULL);
    share.giveBack();
    open([BUDGET_BYTES / 4], 'a');
    expect(() => open([600], 'a')).toThrow(FULL);
  });
});

it('the bodies of all budgets of a server are one figure', async () => {
  const metrics = createMetrics('test');
  const [one, two] = [setUp(), setUp()];
  observeBodies(metrics, [one.budget, two.budget]);
  one.open([1_000]);
  two.open([2_000]);
  const text = await metrics.registry.getSingleMetricAsString('http_server_body_bytes');
  expect(text).toContain('Bytes of request bodies in memory');
  expect(text.trim().split(' ').at(-1)).toBe('3000');
});
