import { type Column, formatTable, seconds } from './table.columns.ts';
import type { MemoryPeaks } from './memory.watch.ts';

/** What others noticed while one sender did its worst. */
export interface AttackRow {
  attack: string;
  /** What the attacker got, such as `1000 × 202, 3 × 429`. */
  answers: string;
  /** Calls of other people while it went on, how many of them failed, and the longest that one took in milliseconds. */
  calls: number;
  failed: number;
  slowestMs: number;
  /** Reservations of others, how many of them got 503, and how long they took, for 95 of 100 of them. */
  reservations: number;
  refused: number;
  reservationP95Ms: number;
  /** How long after the attack reservations were as fast as before it. */
  recoveredAfterS: number;
  /** Neighbours, and how long after its start events of the last of them were counted and notified. */
  neighbours: number;
  countedAfterS: number;
  notifiedAfterS: number;
  memory: MemoryPeaks;
}

const COLUMNS: Column<AttackRow>[] = [
  ['attack', ({ attack }) => attack],
  ['answers to it', ({ answers }) => answers],
  ['calls of others (failed)', ({ calls, failed }) => `${calls} (${failed})`],
  ['slowest', ({ slowestMs }) => seconds(slowestMs / 1000)],
  ['reservations (refused)', ({ reservations, refused }) => `${reservations} (${refused})`],
  ['their p95', ({ reservationP95Ms }) => `${Math.round(reservationP95Ms)} ms`],
  ['neighbours', ({ neighbours }) => String(neighbours)],
  ['all counted after', ({ countedAfterS }) => seconds(countedAfterS)],
  ['all notified after', ({ notifiedAfterS }) => seconds(notifiedAfterS)],
  ['recovered after', ({ recoveredAfterS }) => seconds(recoveredAfterS)],
  ['peak memory', ({ memory }) => largest(memory)],
];

/** The rows as a table of Markdown. */
export function formatAttackTable(rows: readonly AttackRow[]): string {
  return formatTable(COLUMNS, rows);
}

/** The three largest processes. */
function largest(memory: MemoryPeaks): string {
  const bySize = [...memory].toSorted(([, a], [, b]) => b - a).slice(0, 3);
  return bySize.map(([name, bytes]) => `${name} ${Math.round(bytes / 1e6)} MB`).join(', ');
}
