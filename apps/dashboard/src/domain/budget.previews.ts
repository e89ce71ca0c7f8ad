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
import { earlierSpend, isInRollups } from './earlier.spend.ts';
import { createPlaces, LARGE_READS, type Reads } from './reads.ts';
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
  const turns = createPlaces(LARGE_READS);

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

  /** Resolves to the time before which all settlements were replayed. Each page is a read in its own turn. */
  async function replayAll({ tenantId, signal }: Asked, span: TimeSpan, replay: BudgetReplay): Promise<number> {
    const startedAt = performance.now();
    const slices = startSlices();
    let left = limits.settlements;
    let place: SettlementPlace = { time: span.start, after: '' };
    for (;;) {
      const from = place;
      const { settlements, next } = await reads.run({ tenantId, kind: 'budget-preview', signal }, (meter) =>
        reader.settlementsFrom(tenantId, from, span.end, meter, limits.atOnce),
      );
      for (const settlement of settlements) {
        if (left === 0 || !replay.add(settlement)) return settlement.time;
        left -= 1;
        if (slices.usedUp()) await slices.next();
      }
      if (next === null) return span.end;
      if (performance.now() - startedAt >= limits.ms) return next.time;
      place = next;
    }
  }

  async function previewNow(asked: Asked, budget: PlannedBudget): Promise<BudgetPreview> {
    const now = clock();
    const { timezone } = asked;
    const window = lastDays(timezone, now);
    const begin = beginOf(budget.period, timezone, window.start);
    const isEarlier = begin < window.start;
    const earlier = isEarlier ? await fromRollups(asked, budget, { start: begin, end: window.start }) : null;
    const readable = Math.max(begin, now - retentionSeconds * 1000);
    const readsEarlier = earlier === null && readable < window.start;
    const readFrom = readsEarlier ? await readableFrom(asked, readable, window) : window.start;
    const replay = createBudgetReplay(budget, { timezone, from: window.start, earlier });
    const readUntil = await replayAll(asked, { start: readFrom, end: now }, replay);
    const countedFrom = earlier?.start ?? readFrom;
    return { window, readUntil, countedFrom, countsWholePeriod: countedFrom <= begin, ...(await replay.outcome()) };
  }

  return {
    preview: (tenantId, budget, timezone, signal) =>
      turns.run(tenantId, 1, () => previewNow({ tenantId, timezone, signal }, budget), signal),
  };
}

function lastDays(timezone: string, now: number): TimeSpan {
  return { start: localDays({ start: now - OVER_A_WEEK_MS, end: now }, timezone).at(-DAYS)!.start, end: now };
}

/** The first time whose spend counts in the period of `at`; `at` if there is none. */
function beginOf(period: BudgetPeriod, timezone: string, at: number): number {
  const span = budgetSpanAt(period, timezone, at);
  return span === null ? at : countedSince(period, span);
}
