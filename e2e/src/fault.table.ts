import { type Column, formatTable, seconds } from './table.columns.ts';

/** What came of one fault. Seconds are counted from the moment at which the process was gone. */
export interface FaultRow {
  fault: string;
  sent: number;
  counted: number;
  alertsExpected: number;
  alertsSeen: number;
  attempts: number;
  delivered: number;
  /** Until an event that was first sent after the loss had got its 202. */
  acceptedAfterS: number;
  /** Until it was counted on the dashboard and its agent registered. */
  countedAfterS: number;
  /** Until the notification of the alert that it fired had arrived. */
  notifiedAfterS: number;
}

const COLUMNS: Column<FaultRow>[] = [
  ['fault', ({ fault }) => fault],
  ['events sent', ({ sent }) => String(sent)],
  ['counted', ({ counted }) => String(counted)],
  ['alerts expected', ({ alertsExpected }) => String(alertsExpected)],
  ['alerts seen', ({ alertsSeen }) => String(alertsSeen)],
  ['deliveries (attempts)', ({ attempts, delivered }) => `${delivered} (${attempts})`],
  ['accepted after', ({ acceptedAfterS }) => seconds(acceptedAfterS)],
  ['counted after', ({ countedAfterS }) => seconds(countedAfterS)],
  ['notified after', ({ notifiedAfterS }) => seconds(notifiedAfterS)],
  ['recovered after', (row) => seconds(Math.max(row.acceptedAfterS, row.countedAfterS, row.notifiedAfterS))],
];

/** The rows as a table of Markdown. */
export function formatFaultTable(rows: readonly FaultRow[]): string {
  return formatTable(COLUMNS, rows);
}
