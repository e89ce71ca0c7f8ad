import { useNavigate, useSearch } from '@tanstack/react-router';
import { useWorkspace } from './account.tsx';

/** The spans that pages offer; the API has more. */
export const RANGES = ['15min', 'today', 'yesterday', 'current_month', '3m'] as const;
type Range = (typeof RANGES)[number] | '5min' | '1m';
const KNOWN: readonly Range[] = ['5min', '1m', ...RANGES];

/** The span in the URL, so that a shared link shows the same. */
export interface SpanSearch {
  range?: Range;
  /** IANA name, if it is not the zone of the workspace. */
  zone?: string;
}

export function parseSpan(search: Record<string, unknown>): SpanSearch {
  const range = KNOWN.find((known) => known === search['range']);
  const zone = typeof search['zone'] === 'string' && isZone(search['zone']) ? search['zone'] : undefined;
  return { ...(range !== undefined && { range }), ...(zone !== undefined && { zone }) };
}

export function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return name !== '';
  } catch {
    return false;
  }
}

export interface Span {
  range: Range;
  zone: string;
  /** The query of operations that take a span. */
  query: { range: Range; timezone: string };
  set(change: SpanSearch): void;
}

/** The page's span: the one in its URL, else today in the workspace's zone. */
export function useSpan(): Span {
  const search: SpanSearch = useSearch({ strict: false });
  const workspace = useWorkspace();
  const navigate = useNavigate();
  const range = search.range ?? 'today';
  const zone = search.zone ?? workspace.timezone;
  return {
    range,
    zone,
    query: { range, timezone: zone },
    set: (change) =>
      void navigate({
        to: '.',
        // Set even if it is the default, because links keep missing values from the page before.
        search: (before: SpanSearch) => ({ ...before, ...change }),
        replace: true,
      }),
  };
}
