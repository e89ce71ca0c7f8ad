import { markdownTable } from '@tollkeeper/testing/markdown-table';
import type { Sums } from './fault.expectations.ts';

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

/** Tables for docs/faults.md. */
export function tablesOf(
  made: number,
  seconds: number,
  answers: ReadonlyMap<string, number>,
  kills: readonly Kill[],
  sums: Sums,
): string {
  const number = (value: number) => value.toLocaleString('en-US');
  const faults = markdownTable(
    ['kill -9', 'after calls', 'repeated calls', 'granted again after'],
    kills.map(({ what, atCall, repeated, grantedAfterMs }) => [
      what,
      number(atCall),
      number(repeated),
      grantedAfterMs === null ? '–' : `${(grantedAfterMs / 1000).toFixed(1)} s`,
    ]),
  );
  const totals = markdownTable(
    ['what', 'number'],
    [
      ['calls', number(made)],
      ...[...answers].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([kind, times]) => [kind, number(times)]),
      ['calls a second', number(Math.round(made / seconds))],
      ['limits compared', number(sums.limits)],
      ['spend of all limits, micros', number(sums.spent)],
      ['of it above holds, late or unreserved', number(sums.terms)],
      ['of it above the limits', number(sums.over)],
    ],
  );
  return `${faults}\n\n${totals}`;
}
