import type { Clock, TenantId } from '@tollkeeper/kernel';
import { within } from './answer.time.ts';
import { budgetBlocked, type DeniedRequest } from './enforcement.events.ts';
import type { Denial } from './limit.ts';
import { type AppendEvents, createWorkspaceAppends } from './workspace.appends.ts';

/** How long an answer waits until its denial is in the log. */
export const REPORT_MS = 150;
/** The interval over which repeats are counted. */
const COUNT_MS = 1_000;
/** Maximum number of denials in one event. A series that reaches it is reported at once. */
const MAX_COUNT = 1_000;
/** Maximum number of series, per workspace and in total. Beyond it, each denial is an event of its own. */
const MAX_SERIES = 1_000;
const MAX_SERIES_OF_ALL = 10_000;
/** Beyond this number of series of a workspace, further ones count together and report no labels and values. */
const MAX_LABELLED_SERIES = 100;
/** Maximum number of denials that wait for the log. */
const MAX_PENDING = { ofWorkspace: 2_000, ofAll: 10_000 };
/** How long a stop waits for the log. */
const STOP_MS = 5_000;

export interface DenialReporterDeps {
  append: AppendEvents;
  clock: Clock;
  /** Called with the number of denials that could not be appended to the log. */
  onUnreported: (tenantId: TenantId, error: unknown, count: number) => void;
}

/** Reports denials as events, for dashboards and alert rules. */
export interface DenialReporter {
  /**
   * Resolves when the denial may be answered; never rejects. By then, the first denial of a series is in the log,
   * unless that takes longer than {@link REPORT_MS}. Repeats are counted and reported together within a second.
   */
  report(tenantId: TenantId, request: DeniedRequest, denial: Denial): Promise<void>;
  /** Reports the counted denials. Rejects if the log does not take them in time. Call it last. */
  stop(): Promise<void>;
}

/** Denials of one workspace that differ only in their run, model, provider and current amounts. */
interface Series {
  /** Requests that are not reported yet, and the newest of them. */
  counted: string[];
  newest: { request: DeniedRequest; denial: Denial; at: number } | undefined;
  /** The requests denied in this second, and in the previous one: a request that asks again counts once. */
  asking: Set<string>;
  askedBefore: ReadonlySet<string>;
}

interface Workspace {
  series: Map<string, Series>;
  timer: NodeJS.Timeout;
}

/**
 * An agent in a loop is denied hundreds of times a second. An append for each denial would slow the log down for
 * others, so repeats become one event a second with a count. A series ends after a second without denials.
 */
export function createDenialReporter({ append, clock, onUnreported }: DenialReporterDeps): DenialReporter {
  const appends = createWorkspaceAppends(append, MAX_PENDING);
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
    async report(tenantId, denied, deniedBy) {
      const { requestId } = denied;
      const { series: all } = workspaces.get(tenantId) ?? open(tenantId);
      const isLabelled = all.size < MAX_LABELLED_SERIES || all.has(keyOf(denied, deniedBy));
      const [request, denial] = isLabelled ? [denied, deniedBy] : [{ ...denied, labels: {} }, withoutValue(deniedBy)];
      const newest = { request, denial, at: clock() };
      const key = keyOf(request, denial);
      const series = all.get(key);
      if (series === undefined) {
        if (all.size < MAX_SERIES && seriesOfAll < MAX_SERIES_OF_ALL) {
          const asking = new Set([requestId]);
          all.set(key, { counted: [], newest: undefined, asking, askedBefore: new Set() });
          seriesOfAll += 1;
        }
        // If the log is slow, the answer stops waiting; the append continues.
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

/** Includes the end of the period, so that an event never reports denials of two periods, nor of two pauses. */
function keyOf({ agentId, planKey, keyId, labels }: DeniedRequest, denial: Denial): string {
  const { scope, scopeId, limitMicros, period, budget, pause } = denial;
  const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  const whose = [scope, scopeId, budget?.value, limitMicros, period.end, pause?.id];
  return JSON.stringify([agentId, planKey, keyId, sorted, ...whose]);
}

/** The denial by a budget, whichever of its values it was for. */
function withoutValue(denial: Denial): Denial {
  return denial.budget === undefined ? denial : { ...denial, budget: { ...denial.budget, value: '' } };
}
