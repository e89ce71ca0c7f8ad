/** How much of its spend a meter has counted. */
export interface Meter {
  /** Number of the entry of the journal that began it. What later entries settle is counted when they are applied. */
  cut: number;
  /** When that was, epoch milliseconds. */
  at: number;
  /** What earlier entries settled from this time on is filled in. Epoch milliseconds. */
  from: number;
  /** Whether that has been done. */
  isExact: boolean;
}

/** Reads settled spend, page by page, to fill it into meters. */
export interface Fill {
  meters: readonly string[];
  /** Times of settled spend, epoch milliseconds. */
  from: number;
  until: number;
  /** The next page; empty for the first one. */
  cursor: string;
  /** All spend before this time has been read. */
  readUntil: number;
}

/** The meters of a ledger that count, and the fill in progress. Immutable. */
export interface Metering {
  /** Number of the ops that began or forgot meters. */
  readonly version: number;
  readonly meters: ReadonlyMap<string, Meter>;
  readonly fill: Fill | null;
}

export const NO_METERS: Metering = { version: 0, meters: new Map(), fill: null };

export function withMeters({ version, meters, fill }: Metering, begun: Begun): Metering {
  const { cut, at } = begun;
  const added = begun.meters.map(
    ([name, from]) => [name, { cut, at, from: from ?? 0, isExact: from === null }] as const,
  );
  return { version: version + 1, meters: new Map([...meters, ...added]), fill };
}

/** Meters that begin in entry `cut`, with the beginning of their running period; null without one. */
interface Begun {
  cut: number;
  at: number;
  meters: readonly (readonly [name: string, from: number | null])[];
}

export function withoutMeters({ version, meters, fill }: Metering, forgotten: readonly string[]): Metering {
  const kept = new Map(meters);
  for (const meter of forgotten) kept.delete(meter);
  const filled = fill?.meters.filter((meter) => kept.has(meter)) ?? [];
  const inProgress = fill !== null && filled.length > 0 ? { ...fill, meters: filled } : null;
  return { version: version + 1, meters: kept, fill: inProgress };
}

/** Without a next page, the meters of the fill are exact. */
export function withFill({ version, meters }: Metering, fill: Fill): Metering {
  if (fill.cursor !== '') return { version, meters, fill };
  const exact = fill.meters.flatMap((name) => {
    const meter = meters.get(name);
    return meter === undefined ? [] : [[name, { ...meter, isExact: true }] as const];
  });
  return { version, meters: new Map([...meters, ...exact]), fill: null };
}

const MAX_SKEW_MS = 300_000;
/** Maximum number of meters in a fill, so that an entry with a page of values stays below 16 MiB. */
const MAX_METERS = 50;

/** The fill to do next: the one in progress, or the first page of one for all meters that are not exact. */
export function nextFill({ meters, fill }: Metering, until: number): Fill | null {
  if (fill !== null) return fill;
  const inexact = [...meters].filter(([, { isExact }]) => !isExact).slice(0, MAX_METERS);
  if (inexact.length === 0) return null;
  // The clock of a gateway that settles may be behind that of the grant.
  const from = Math.min(...inexact.map(([, meter]) => meter.from)) - MAX_SKEW_MS;
  return { meters: inexact.map(([name]) => name), from, until, cursor: '', readUntil: from };
}

/** When the oldest meter began that is not exact yet, epoch milliseconds; null if all are exact. */
export function inexactSince({ meters }: Metering): number | null {
  let since: number | null = null;
  for (const { isExact, at } of meters.values()) if (!isExact) since = Math.min(since ?? at, at);
  return since;
}

/** Whole percent of the spend before its beginning that a meter has counted: 100 if it is exact. */
export function filledPercent({ meters, fill }: Metering, name: string): number {
  const meter = meters.get(name);
  if (meter?.isExact === true) return 100;
  if (meter === undefined || fill === null || !fill.meters.includes(name)) return 0;
  const share = (fill.readUntil - fill.from) / (fill.until - fill.from);
  return Math.min(99, Math.max(0, Math.floor(share * 100)));
}
