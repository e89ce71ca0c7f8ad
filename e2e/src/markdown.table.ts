/** A column of a table: its title, and what it shows of a row. */
export type Column<Row> = [title: string, cell: (row: Row) => string];

/** The rows as a table of Markdown: the first column aligned left, the others right. */
export function formatTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const lines = [columns.map(([title]) => title), ...rows.map((row) => columns.map(([, cell]) => cell(row)))];
  const widths = columns.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  const [titles, ...cells] = lines.map((line) =>
    line.map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))),
  );
  return [titles!, rule, ...cells].map((line) => `| ${line.join(' | ')} |\n`).join('');
}

export function seconds(value: number): string {
  return `${value.toFixed(1)} s`;
}
