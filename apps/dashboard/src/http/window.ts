import { AppError, resolveRange, type Clock, type TenantId, type TimeSpan, type TimeWindow } from '@tollkeeper/kernel';
import type { Directory } from '../domain/directory.ts';

/** Longest span with a start and an end of its own. */
export const MAX_CUSTOM_DAYS = 400;
/** So many local days last longer if clocks went back in them, by up to two hours. */
export const MAX_CUSTOM_MS = MAX_CUSTOM_DAYS * 86_400_000 + 2 * 3_600_000;

/** Which span a query asks for: a named range, or the time from `from` to `to`. Times are RFC 3339 UTC. */
interface SpanQuery {
  range?: string;
  from?: string;
  to?: string;
  timezone?: string;
}

/** The window of a query. */
export interface QueryWindow extends TimeWindow {
  /** If the window starts before, there are no events until this time, only roll-ups; epoch milliseconds. */
  eventsFrom?: number;
}

/**
 * The window of a query. Its calendar has the workspace's time zone, unless the query names another one. Rejects with
 * `invalid_request` if `from` and `to` are no span, or are combined with `range`.
 */
export type WindowOf = (tenantId: TenantId, query: SpanQuery) => Promise<QueryWindow>;

/** `retentionSeconds`: how long events are kept. */
export function createWindowOf(directory: Directory, clock: Clock, retentionSeconds: number): WindowOf {
  return async (tenantId, query) => {
    const now = clock();
    const custom = customSpan(query, now);
    const timezone = query.timezone ?? (await directory.timezone(tenantId));
    const window: TimeWindow =
      custom === null ? resolveRange(query.range, timezone, now) : { kind: 'custom', ...custom, timezone };
    const eventsFrom = now - retentionSeconds * 1000;
    return { ...window, ...(window.start < eventsFrom && { eventsFrom }) };
  };
}

function customSpan({ range, from, to }: SpanQuery, now: number): TimeSpan | null {
  if (from === undefined) {
    if (to !== undefined) throw invalid('from', 'is required with to');
    return null;
  }
  if (range !== undefined) throw invalid('range', 'cannot be combined with from. Leave one of them out');
  const [start, end] = [Date.parse(from), to === undefined ? now : Date.parse(to)];
  if (start >= end) throw invalid('from', to === undefined ? 'must be in the past' : 'must be before to');
  if (end - start > MAX_CUSTOM_MS) {
    throw invalid('from', `must be at most ${MAX_CUSTOM_DAYS} days before ${to === undefined ? 'now' : 'to'}`);
  }
  return { start, end };
}

function invalid(path: keyof SpanQuery, message: string): AppError {
  return new AppError('invalid_request', `${path} ${message}.`, { details: [{ path, message }] });
}
