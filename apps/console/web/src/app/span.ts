import { useNavigate, useSearch } from '@tanstack/react-router';
import { startOfDay } from '../format/zoned.ts';
import { useToday } from '../ui/now.ts';
import { useWorkspace } from './account.tsx';
import { ENDED, type Range, type SpanSearch } from './span-search.ts';

export interface Span {
  range: Range;
  /** The first and the last day of `dates`; before days are chosen, this month up to today. */
  dates: { start: string; end: string };
  zone: string;
  /** Whether the last point of a series is still growing. */
  isRunning: boolean;
  /** The query of operations that take a span. */
  query: { range?: string; from?: string; to?: string; timezone: string };
  set(change: SpanSearch): void;
}

/** The page's span: the one in its URL, else today in the workspace's zone. */
export function useSpan(): Span {
  const search: SpanSearch = useSearch({ strict: false });
  const workspace = useWorkspace();
  const navigate = useNavigate();
  const range = search.range ?? 'today';
  const zone = search.zone ?? workspace.timezone;
  const today = useToday(zone);
  const { start = `${today.slice(0, 8)}01`, end = today } = search;
  const isRunning = range === 'dates' ? start <= today && today <= end : !ENDED.includes(range);
  const dates = {
    from: startOfDay(start, zone),
    // Without an end, it is now.
    ...(!isRunning && { to: startOfDay(end, zone, true) }),
  };
  return {
    range,
    dates: { start, end },
    zone,
    isRunning,
    query: { ...(range === 'dates' ? dates : { range }), timezone: zone },
    set: (change) =>
      void navigate({
        to: '.',
        // Set even if it is the default, because links keep missing values from the page before.
        search: (before: SpanSearch) => ({
          ...before,
          ...(change.range !== undefined && { start: undefined, end: undefined }),
          ...change,
        }),
        replace: true,
      }),
  };
}
