import { AppError, resolveRange, type Clock, type TenantId, type TimeSpan, type TimeWindow } from '@tollkeeper/kernel';
import type { Directory } from '../domain/directory.ts';

const HOUR_MS = 3_600_000;
const QUARTER_MS = HOUR_MS / 4;
/** Longest span with a start and an end of its own. */
export const MAX_CUSTOM_DAYS = 400;
/** So many local days last longer if clocks went back in them, by up to two hours. */
export const MAX_CUSTOM_MS = MAX_CUSTOM_DAYS * 24 * HOUR_MS + 2 * HOUR_MS;

/** The span that a query asks for: a named range, or the time from `from` to `to`, or to now. Times are in UTC. */
interface SpanQuery {
  range?: string;
  from?: string;
  to?: string;
  timezone?: string;
  /** Has been taken out: see `selection.ts`. */
  label?: never;
}

/** The window of a query. */
export interface QueryWindow extends TimeWindow {
  /** If the window starts before, events until this time have been removed, and only roll-ups are left. In ms. */
  eventsFrom?: number;
}

/**
 * The window of a query. Its calendar has the workspace's time zone, unless the query names another one. Rejects with
 * `invalid_request` if `from` and `to` are no span, or are combined with `range`.
 */
export type WindowOf = (tenantId: TenantId, query: SpanQuery) => Promise<QueryWindow>;

/** How many seconds events and roll-ups are kept. */
interface Retention {
  events: number;
  rollups: number;
}

export function createWindowOf(directory: Directory, clock: Clock, retention: Retention): WindowOf {
  return async (tenantId, query) => {
    const now = clock();
    const eventsFrom = now - retention.events * 1000;
    const custom = customSpan(query, now);
    if (custom !== null) requireRollups(custom, { eventsFrom, rollupsFrom: now - retention.rollups * 1000 });
    const timezone = query.timezone ?? (await directory.timezone(tenantId));
    const window: TimeWindow =
      custom === null ? resolveRange(query.range, timezone, now) : { kind: 'custom', ...custom, timezone };
    return { ...window, ...(window.start < eventsFrom && { eventsFrom }) };
  };
}

function customSpan({ range, from, to }: SpanQuery, now: number): TimeSpan | null {
  if (from === undefined) {
    if (to !== undefined) throw invalid('from', 'is required with to. Add a from, or leave to out');
    return null;
  }
  if (range !== undefined) throw invalid('range', 'cannot be combined with from. Leave one of them out');
  const [start, end] = [Date.parse(from), to === undefined ? now : Date.parse(to)];
  const isOpen = to === undefined;
  if (start >= end) {
    const order = isOpen ? 'in the past, as without to the span ends now' : 'before to';
    throw invalid('from', `must be ${order}. Choose an earlier from${isOpen ? '' : ', or a later to'}`);
  }
  if (end - start > MAX_CUSTOM_MS) {
    const at = isOpen ? 'now, where the span ends without to' : 'to';
    throw invalid(
      'from',
      `must be at most ${MAX_CUSTOM_DAYS} days before ${at}. Choose a later from, or an earlier to`,
    );
  }
  return { start, end };
}

/** Without events, only roll-ups can be read, and those of agents count a quarter of an hour each. */
function requireRollups({ start, end }: TimeSpan, from: { eventsFrom: number; rollupsFrom: number }): void {
  if (start >= from.eventsFrom) return;
  if (start - (end - start) < from.rollupsFrom) {
    const removed = 'the span, or the one before it that it is compared with, has been removed';
    throw invalid('from', `is too long ago: ${removed}. Choose a later from`);
  }
  const since = new Date(from.eventsFrom).toISOString();
  if (end - start < HOUR_MS) {
    throw invalid('from', `must be at least an hour before to, as it is before ${since}. Choose a later to`);
  }
  for (const [path, time] of [['from', start] as const, ['to', end] as const]) {
    if (time >= from.eventsFrom || time % QUARTER_MS === 0) continue;
    throw invalid(path, `must be on a quarter of an hour, such as 10:15, as it is before ${since}`);
  }
}

function invalid(path: keyof SpanQuery, message: string): AppError {
  return new AppError('invalid_request', `${path} ${message}.`, { details: [{ path, message }] });
}
