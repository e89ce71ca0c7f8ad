import {
  type BudgetPeriod,
  budgetSpanAt,
  type Clock,
  countedSince,
  localDays,
  startSlices,
  type TenantId,
  type TimeSpan,
} from '@tollkeeper/kernel';
import {
  type BudgetReplay,
  createBudgetReplay,
  type EarlierSpend,
  type PlannedBudget,
  type ReplayOutcome,
} from './budget.replay.ts';
import { withCorrections } from './corrections.ts';
import { earlierSpend, isInRollups } from './earlier.spend.ts';
import { createPlaces, isBusy, LARGE_READS, type Reads } from './reads.ts';
import type { SettlementReader } from './settlement.list.ts';
import type { SettlementPlace } from './settlement.page.ts';
import { WHOLE_WORKSPACE, type Tallies } from './tallies.ts';

/** What a budget would have done with the calls of the last days. */
export interface BudgetPreview extends ReplayOutcome {
  /** The last {@link DAYS} local days, up to now. */
  window: TimeSpan;
  /** Settlements before this time were considered. The end of the window, unless a preview cannot read all of them. */
  readUntil: number;
  /** Since when spend counts. Before the window if the first period began earlier. */
  countedFrom: number;
  /** Whether that is since the beginning of the first period. */
  countsWholePeriod: boolean;
}

export interface BudgetPreviews {
  /**
   * Runs one at a time for a workspace. Rejects with `rate_limited` when earlier ones take too long, and with the
   * reason of `signal`.
   */
  preview(tenantId: TenantId, budget: PlannedBudget, timezone: string, signal: AbortSignal): Promise<BudgetPreview>;
}

const DAYS = 7;
/** More than a week of local days, also when clocks went back. */
const OVER_A_WEEK_MS = 8 * 86_400_000;

/** What a preview may read: so many settlements, for so long, and so many at once. */
export const PREVIEW_LIMITS = { settlements: 200_000, ms: 5_000, atOnce: 2_000 };

/** A preview keeps the spend of up to 50,000 values in memory. */
const PREVIEWS_AT_ONCE = 4;

export interface BudgetPreviewsDeps {
  reads: Reads;
  reader: SettlementReader;
  tallies: Tallies;
  clock: Clock;
  /** How long events are kept. */
  retentionSeconds: number;
  limits?: typeof PREVIEW_LIMITS;
}

interface Asked {
  tenantId: TenantId;
  timezone: string;
  signal: AbortSignal;
}

export function createBudgetPreviews(deps: BudgetPreviewsDeps): BudgetPreviews {
  const { reads, reader, tallies, clock, retentionSeconds, limits = PREVIEW_LIMITS } = deps;
  // Each page also waits for its turn among all reads.
  const turns = createPlaces({ ...LARGE_READS, capacity: PREVIEWS_AT_ONCE });

  /** The spend from `start` to the window as roll-ups know it; null if they do not. */
  async function fromRollups(
    { tenantId, signal }: Asked,
    budget: PlannedBudget,
    { start, end }: TimeSpan,
  ): Promise<EarlierSpend | null> {
    if (!isInRollups(budget)) return null;
    const byValue = await reads.run({ tenantId, kind: 'budget-preview earlier', signal }, (meter) =>
      earlierSpend(tallies, tenantId, budget, { start, end }, meter),
    );
    return byValue && { start, byValue };
  }

  /** The first day since which a preview can read all settlements, or the start of the window if there is none. */
  async function readableFrom(
    { tenantId, timezone, signal }: Asked,
    earliest: number,
    window: TimeSpan,
  ): Promise<number> {
    const days = localDays({ start: earliest, end: window.start }, timezone);
    const spans = [...days.map(({ start, end }) => ({ start: Math.max(start, earliest), end })), window];
    const counts = await reads.run({ tenantId, kind: 'budget-preview counts', signal }, (meter) =>
      tallies.ofSpans(tenantId, WHOLE_WORKSPACE, spans, meter),
    );
    let from = window.start;
    let left = limits.settlements - counts.at(-1)!.settlements;
    for (let day = spans.length - 2; day >= 0; day -= 1) {
      left -= counts[day]!.settlements;
      if (left < 0) break;
      from = spans[day]!.start;
    }
    return from;
  }

  async function previewNow(asked: Asked, budget: PlannedBudget): Promise<BudgetPreview> {
    const startedAt = performance.now();
    const now = clock();
    const { timezone } = asked;
    const window = lastDays(timezone, now);
    const begin = beginOf(budget.period, timezone, window.start);
    const isEarlier = begin < window.start;
    const earlier = isEarlier ? await fromRollups(asked, budget, { start: begin, end: window.start }) : null;
    const readable = Math.max(begin, now - retentionSeconds * 1000);
    const readsEarlier = earlier === null && readable < window.start;
    const readFrom = readsEarlier ? await readableFrom(asked, readable, window) : window.start;
    const from = { reads, reader, limits };
    const newReplay = () => createBudgetReplay(budget, { timezone, from: window.start, earlier });
    let replay = newReplay();
    let countedFrom = earlier?.start ?? readFrom;
    const before = { start: readFrom, end: window.start };
    if ((await replayAll(from, asked, before, replay, startedAt + limits.ms / 2)) < window.start) {
      // The window comes first.
      replay = newReplay();
      countedFrom = window.start;
    }
    const span = withinPeriod(budget.period, window);
    const replayedUntil = await replayAll(from, asked, span, replay, startedAt + limits.ms);
    const readUntil = replayedUntil === span.end ? window.end : replayedUntil;
    return { window, readUntil, countedFrom, countsWholePeriod: countedFrom <= begin, ...(await replay.outcome()) };
  }

  return {
    preview: (tenantId, budget, timezone, signal) =>
      turns.run(tenantId, 1, () => previewNow({ tenantId, timezone, signal }, budget), signal),
  };
}

/**
 * Resolves to the time before which all settlements were replayed: the end of the span, or an earlier one at the
 * `deadline` by `performance.now()`. Each page is a read in its own turn.
 */
async function replayAll(
  { reads, reader, limits }: Required<Pick<BudgetPreviewsDeps, 'reads' | 'reader' | 'limits'>>,
  { tenantId, signal }: Asked,
  span: TimeSpan,
  replay: BudgetReplay,
  deadline: number,
): Promise<number> {
  if (span.start >= span.end) return span.end;
  const slices = startSlices();
  let left = limits.settlements;
  let place: SettlementPlace = { time: span.start, after: '' };
  for (;;) {
    const from = place;
    const page = await reads
      .run({ tenantId, kind: 'budget-preview', signal }, (meter) =>
        reader.settlementsFrom(tenantId, from, span.end, meter, limits.atOnce),
      )
      .catch((error: unknown) => {
        if (from.time > span.start && isBusy(error)) return null;
        throw error;
      });
    if (page === null) return from.time;
    const { settlements, next } = page;
    for (const settlement of withCorrections(settlements)) {
      if (left === 0 || !replay.add(settlement)) return settlement.time;
      left -= 1;
      if (slices.usedUp()) await slices.next();
    }
    if (next === null) return span.end;
    if (performance.now() >= deadline) return next.time;
    place = next;
  }
}

function lastDays(timezone: string, now: number): TimeSpan {
  return { start: localDays({ start: now - OVER_A_WEEK_MS, end: now }, timezone).at(-DAYS)!.start, end: now };
}

/** The part of the window in which a budget for once applies; the whole window of others. */
function withinPeriod(period: BudgetPeriod, { start, end }: TimeSpan): TimeSpan {
  if (!('end' in period)) return { start, end };
  return { start: Math.max(start, period.start), end: Math.min(end, period.end) };
}

/** The first time whose spend counts in the period of `at`; `at` if there is none. */
function beginOf(period: BudgetPeriod, timezone: string, at: number): number {
  const span = budgetSpanAt(period, timezone, at);
  return span === null ? at : countedSince(period, span);
}
