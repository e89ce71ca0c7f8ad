import { markdownTable } from '@tollkeeper/testing/markdown-table';
import type { LimitName } from './fault.book.ts';
import type { Sums } from './fault.expectations.ts';
import type { MadeCall } from './fault.journal.ts';
import type { LimitOfView } from './fault.owner.ts';

export interface Kill {
  what: string;
  atCall: number;
  /** Time since the start of the run. */
  atMs: number;
  /** Number of calls that had to be repeated before the next kill. */
  repeated: number;
  /** Time until the first grant that was requested after the kill. */
  grantedAfterMs: number | null;
}

/** A kill in a run with leases. */
export interface LeaseKill extends Pick<Kill, 'what' | 'atCall' | 'grantedAfterMs'> {
  /** Epoch milliseconds. */
  at: number;
  /** What a gateway with leases had not settled, as far as it knew. Null for others. */
  unsettled: MadeCall[] | null;
}

/** Each call of a gateway process is counted as one of these. */
const CALLS = ['denied', 'granted call by call', 'granted from a lease', 'released'];

const number = (value: number) => value.toLocaleString('en-US');
const seconds = (ms: number | null) => (ms === null ? '–' : `${(ms / 1000).toFixed(1)} s`);
const rowsOf = (answers: ReadonlyMap<string, number>) =>
  [...answers].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([kind, times]) => [kind, number(times)]);

/** Tables for docs/faults.md. */
export function tablesOf(
  made: number,
  tookSeconds: number,
  answers: ReadonlyMap<string, number>,
  kills: readonly Kill[],
  sums: Sums,
): string {
  const faults = markdownTable(
    ['kill -9', 'after calls', 'repeated calls', 'granted again after'],
    kills.map(({ what, atCall, repeated, grantedAfterMs }) => [
      what,
      number(atCall),
      number(repeated),
      seconds(grantedAfterMs),
    ]),
  );
  const totals = markdownTable(
    ['what', 'number'],
    [
      ['calls', number(made)],
      ...rowsOf(answers),
      ['calls a second', number(Math.round(made / tookSeconds))],
      ['limits compared', number(sums.limits)],
      ['spend of all limits, micros', number(sums.spent)],
      ['of it above holds, late or unreserved', number(sums.terms)],
      ['of it above the limits', number(sums.over)],
    ],
  );
  return `${faults}\n\n${totals}`;
}

interface LeaseFigures {
  seconds: number;
  answers: ReadonlyMap<string, number>;
  kills: readonly LeaseKill[];
  /** The settlements that were not in the log. */
  lost: readonly MadeCall[];
  /** What lay unused in leases each time that a limit was used up, in USD micros. */
  unused: readonly number[];
  rows: readonly LimitOfView[];
  limits: Readonly<Record<LimitName, number>>;
}

/** Tables of a run with leases, for docs/faults.md. */
export function tablesOfLeases({ seconds: took, answers, kills, lost, unused, rows, limits }: LeaseFigures): string {
  const sumOf = (calls: readonly MadeCall[]) => calls.reduce((sum, { amountMicros }) => sum + amountMicros, 0);
  const isLost = new Set(lost);
  const faults = markdownTable(
    ['kill -9', 'after calls', 'granted again after', 'settlements lost', 'of them USD micros'],
    kills.map(({ what, atCall, grantedAfterMs, unsettled }) => {
      const ofKill = unsettled?.filter((call) => isLost.has(call));
      const costs = ofKill === undefined ? ['', ''] : [number(ofKill.length), number(sumOf(ofKill))];
      return [what, number(atCall), seconds(grantedAfterMs), ...costs];
    }),
  );
  const sorted = unused.toSorted((a, b) => a - b);
  const made = CALLS.reduce((sum, kind) => sum + (answers.get(kind) ?? 0), 0);
  const totals = markdownTable(
    ['what', 'number'],
    [
      ['calls', number(made)],
      ...rowsOf(answers),
      ['calls a second', number(Math.round(made / took))],
      ['limits used up and raised', number(unused.length)],
      ['unused in leases then, USD micros: median', number(sorted[sorted.length >> 1] ?? 0)],
      ['most', number(sorted.at(-1) ?? 0)],
      ['settlements lost, USD micros', number(sumOf(lost))],
    ],
  );
  const ofLimits = markdownTable(
    ['limit, USD micros', 'at the end', 'spent', 'above_hold', 'late', 'unreserved'],
    rows.map(({ scope, spent_micros: spent, overspend_micros: { above_hold, late, unreserved } }) => [
      scope,
      ...[limits[scope], spent, above_hold, late, unreserved].map(number),
    ]),
  );
  return `${faults}\n\n${totals}\n\n${ofLimits}`;
}
