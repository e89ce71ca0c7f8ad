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

const COLUMNS: [title: string, cell: (row: FaultRow) => string][] = [
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
  const lines = [COLUMNS.map(([title]) => title), ...rows.map((row) => COLUMNS.map(([, cell]) => cell(row)))];
  const widths = COLUMNS.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  const [titles, ...cells] = lines.map((line) =>
    line.map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))),
  );
  return [titles!, rule, ...cells].map((line) => `| ${line.join(' | ')} |\n`).join('');
}

function seconds(value: number): string {
  return `${value.toFixed(1)} s`;
}
