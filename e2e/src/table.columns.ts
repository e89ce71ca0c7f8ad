import { markdownTable } from '@tollkeeper/testing/markdown-table';

/** A column of a table: its title, and what it shows of a row. */
export type Column<Row> = [title: string, cell: (row: Row) => string];

/** The rows as a table of Markdown, with a line break at its end. */
export function formatTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const head = columns.map(([title]) => title);
  const table = markdownTable(
    head,
    rows.map((row) => columns.map(([, cell]) => cell(row))),
  );
  return `${table}\n`;
}

export function seconds(value: number): string {
  return `${value.toFixed(1)} s`;
}
