import type { Clock, TenantId } from '@tollkeeper/kernel';
import { within } from './answer.time.ts';
import { budgetBlocked } from './enforcement.events.ts';
import type { Denial } from './limit.ts';
import type { ReservationRequest } from './reservation.ts';
import { type AppendEvents, createWorkspaceAppends } from './workspace.appends.ts';

/** How long an answer waits for the log to take its denial. */
export const REPORT_MS = 150;
/** Repeats are counted for so long. */
const COUNT_MS = 1_000;
/** Most denials of one event. More of a series are reported at once. */
const MAX_COUNT = 1_000;
/** Most series of a workspace, and of all. Denials of further ones are events of their own. */
const MAX_SERIES = 1_000;
const MAX_SERIES_OF_ALL = 10_000;
/** How long a stop waits for the log. */
const STOP_MS = 5_000;

export interface DenialReporterDeps {
  append: AppendEvents;
  clock: Clock;
  /** Called with the number of denials that the log did not take. */
  onUnreported: (tenantId: TenantId, error: unknown, count: number) => void;
}

/** Reports denials to dashboards and rules. */
export interface DenialReporter {
  /**
   * Resolves when the denial may be answered, and never rejects. The first one of a series is in the log then, unless
   * that takes longer than {@link REPORT_MS}. Repeats are counted, and are reported together within a second.
   */
  report(tenantId: TenantId, request: ReservationRequest, denial: Denial): Promise<void>;
  /** Reports what is counted. Rejects when the log does not take it in time. Call it last. */
  stop(): Promise<void>;
}

/** Denials of one workspace that say the same, but for the run and the amounts of that moment. */
interface Series {
  /** Requests that are not reported yet, and the newest of them. */
  counted: string[];
  newest: { request: ReservationRequest; denial: Denial; at: number } | undefined;
  /** All that were denied in this second, and in the one before it: a request that asks again counts once. */
  asking: Set<string>;
  askedBefore: ReadonlySet<string>;
}

interface Workspace {
  series: Map<string, Series>;
  timer: NodeJS.Timeout;
}

/**
 * An agent in a loop is denied hundreds of times a second. An append for each would take the log from others, so what
 * repeats becomes one event a second with a count. A series ends with a second in which nothing of it was denied.
 */
export function createDenialReporter({ append, clock, onUnreported }: DenialReporterDeps): DenialReporter {
  const appends = createWorkspaceAppends(append);
  const workspaces = new Map<TenantId, Workspace>();
  let seriesOfAll = 0;

  function open(tenantId: TenantId): Workspace {
    const timer = setTimeout(() => endSecond(tenantId), COUNT_MS);
    timer.unref();
    const workspace = { series: new Map<string, Series>(), timer };
    workspaces.set(tenantId, workspace);
    return workspace;
  }

  function send(
    tenantId: TenantId,
    requestIds: readonly string[],
    { request, denial, at }: NonNullable<Series['newest']>,
  ): Promise<void> {
    const event = budgetBlocked(tenantId, requestIds, request, denial, at);
    return appends.append(tenantId, event).catch((error: unknown) => onUnreported(tenantId, error, requestIds.length));
  }

  function sendCounted(tenantId: TenantId, series: Series): void {
    const { counted, newest } = series;
    if (newest === undefined) return;
    series.counted = [];
    series.newest = undefined;
    void send(tenantId, counted, newest);
  }

  function endSecond(tenantId: TenantId): void {
    const { series: all, timer } = workspaces.get(tenantId)!;
    for (const [key, series] of all) {
      sendCounted(tenantId, series);
      if (series.asking.size === 0) {
        all.delete(key);
        seriesOfAll -= 1;
      }
      series.askedBefore = series.asking;
      series.asking = new Set();
    }
    if (all.size === 0) workspaces.delete(tenantId);
    else timer.refresh();
  }

  return {
    async report(tenantId, request, denial) {
      const { requestId } = request;
      const newest = { request, denial, at: clock() };
      const { series: all } = workspaces.get(tenantId) ?? open(tenantId);
      const key = keyOf(request, denial);
      const series = all.get(key);
      if (series === undefined) {
        if (all.size < MAX_SERIES && seriesOfAll < MAX_SERIES_OF_ALL) {
          const asking = new Set([requestId]);
          all.set(key, { counted: [], newest: undefined, asking, askedBefore: new Set() });
          seriesOfAll += 1;
        }
        // The log may be slow. It takes the event or refuses it later, and nobody waits for that.
        await within(REPORT_MS, send(tenantId, [requestId], newest)).catch(() => undefined);
        return;
      }
      const isKnown = series.asking.has(requestId) || series.askedBefore.has(requestId);
      series.asking.add(requestId);
      if (isKnown) return;
      series.counted.push(requestId);
      series.newest = newest;
      if (series.counted.length === MAX_COUNT) sendCounted(tenantId, series);
    },
    async stop() {
      for (const [tenantId, { series, timer }] of workspaces) {
        clearTimeout(timer);
        for (const each of series.values()) sendCounted(tenantId, each);
      }
      workspaces.clear();
      seriesOfAll = 0;
      await within(STOP_MS, appends.drained());
    },
  };
}

/** The end of the day is in it, so an event never reports denials of two days. */
function keyOf({ agentId, planKey }: ReservationRequest, denial: Denial): string {
  const { scope, scopeId, dailyBudgetMicros, resetsAt } = denial;
  return JSON.stringify([agentId, planKey, scope, scopeId, dailyBudgetMicros, resetsAt]);
}
