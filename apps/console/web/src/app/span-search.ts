/** The spans that pages offer first; the API has more. */
export const RANGES = ['15min', 'today', 'yesterday', 'current_month', '3m'] as const;
/** The further ones. `dates`: from one day to another. */
export const MORE_RANGES = ['5min', 'last_week', '1m', 'last_month', 'last_quarter', 'dates'] as const;
export type Range = (typeof RANGES)[number] | (typeof MORE_RANGES)[number];
const KNOWN: readonly Range[] = [...RANGES, ...MORE_RANGES];
/** The ranges that ended before today. */
export const ENDED: readonly Range[] = ['yesterday', 'last_week', 'last_month', 'last_quarter'];

/** The longest span of `dates` that the API accepts. */
const MAX_DATES = 400;
const DAY_MS = 86_400_000;

/** The span in the URL, so that a shared link shows the same. */
export interface SpanSearch {
  range?: Range;
  /** The first and the last day of `dates`, such as 2026-11-22. */
  start?: string;
  end?: string;
  /** IANA name, if it is not the zone of the workspace. */
  zone?: string;
}

/** The names of the parts of a span in the URL. */
export const SPAN_PARTS = ['range', 'start', 'end', 'zone'] as const satisfies (keyof SpanSearch)[];

export function parseSpan(search: Record<string, unknown>): SpanSearch {
  const range = KNOWN.find((known) => known === search['range']);
  const zone = typeof search['zone'] === 'string' && isZone(search['zone']) ? search['zone'] : undefined;
  const { start, end } = search;
  const areDates = isDay(start) && isDay(end) && datesProblem(start, end) === null;
  return {
    ...(range !== undefined && (range !== 'dates' || areDates) && { range }),
    ...(range === 'dates' && areDates && { start, end }),
    ...(zone !== undefined && { zone }),
  };
}

export function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return name !== '';
  } catch {
    return false;
  }
}

function isDay(text: unknown): text is string {
  if (typeof text !== 'string' || !/^2\d{3}-\d\d-\d\d$/.test(text)) return false;
  // 30 February is parsed as a day in March.
  const instant = Date.parse(text);
  return !Number.isNaN(instant) && new Date(instant).toISOString().startsWith(text);
}

/** Why the days are no span, if they are none. */
export function datesProblem(start: string, end: string): 'missing' | 'reversed' | 'long' | null {
  if (!isDay(start) || !isDay(end)) return 'missing';
  if (start > end) return 'reversed';
  return (Date.parse(end) - Date.parse(start)) / DAY_MS + 1 > MAX_DATES ? 'long' : null;
}
