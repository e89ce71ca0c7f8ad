import { type Column, formatTable, seconds } from './table.columns.ts';
import type { MemoryPeaks } from './memory.watch.ts';

/** What other users noticed of one sender's attack. */
export interface AttackRow {
  attack: string;
  /** The attacker's answers, such as `1000 × 202, 3 × 429`. */
  answers: string;
  /** Other users' calls during the attack, how many failed, and the longest one in milliseconds. */
  calls: number;
  failed: number;
  slowestMs: number;
  /** Other users' reservations, how many got 503, and their 95th percentile. */
  reservations: number;
  refused: number;
  reservationP95Ms: number;
  /** How long after the attack reservations were as fast as before it. */
  recoveredAfterS: number;
  /** Neighbors, and how long after the start of the attack all their events were counted and notified. */
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

/** The rows as a Markdown table. */
export function formatAttackTable(rows: readonly AttackRow[]): string {
  return formatTable(COLUMNS, rows);
}

/** The three largest processes. */
function largest(memory: MemoryPeaks): string {
  const bySize = [...memory].toSorted(([, a], [, b]) => b - a).slice(0, 3);
  return bySize.map(([name, bytes]) => `${name} ${Math.round(bytes / 1e6)} MB`).join(', ');
}
