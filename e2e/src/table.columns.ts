import { markdownTable } from '@tollkeeper/testing/markdown-table';

/** A column of a table: its title, and the function for its cells. */
export type Column<Row> = [title: string, cell: (row: Row) => string];

/** The rows as a Markdown table that ends with a line break. */
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
