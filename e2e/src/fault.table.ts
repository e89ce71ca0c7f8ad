import { type Column, formatTable, seconds } from './table.columns.ts';

/** The effects of one fault. Seconds are counted from the end of the process. */
export interface FaultRow {
  fault: string;
  sent: number;
  counted: number;
  alertsExpected: number;
  alertsSeen: number;
  attempts: number;
  delivered: number;
  /** Calls that a gateway reported by telemetry. */
  calls: number;
  callsCounted: number;
  /** Bodies of telemetry that were sent again after a refusal or no answer, and those sent twice at random. */
  sentAgain: number;
  sentTwice: number;
  /** Until the 202 for an event that was first sent after the fault. */
  acceptedAfterS: number;
  /** Until the event was counted on the dashboard and its agent registered. */
  countedAfterS: number;
  /** Until the notification of its alert arrived. */
  notifiedAfterS: number;
}

const COLUMNS: Column<FaultRow>[] = [
  ['fault', ({ fault }) => fault],
  ['events sent', ({ sent }) => String(sent)],
  ['counted', ({ counted }) => String(counted)],
  ['alerts expected', ({ alertsExpected }) => String(alertsExpected)],
  ['alerts seen', ({ alertsSeen }) => String(alertsSeen)],
  ['deliveries (attempts)', ({ attempts, delivered }) => `${delivered} (${attempts})`],
  ['calls by OTLP', ({ calls }) => String(calls)],
  ['calls counted', ({ callsCounted }) => String(callsCounted)],
  ['bodies again (twice)', ({ sentAgain, sentTwice }) => `${sentAgain} (${sentTwice})`],
  ['accepted after', ({ acceptedAfterS }) => seconds(acceptedAfterS)],
  ['counted after', ({ countedAfterS }) => seconds(countedAfterS)],
  ['notified after', ({ notifiedAfterS }) => seconds(notifiedAfterS)],
  ['recovered after', (row) => seconds(Math.max(row.acceptedAfterS, row.countedAfterS, row.notifiedAfterS))],
];

/** The rows as a Markdown table. */
export function formatFaultTable(rows: readonly FaultRow[]): string {
  return formatTable(COLUMNS, rows);
}
