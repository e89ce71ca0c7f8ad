import type { ReactNode } from 'react';

export interface Column<Row> {
  key: string;
  head: ReactNode;
  cell: (row: Row) => ReactNode;
  align?: 'left' | 'right';
  /** Only where there is room; a phone shows the row without it. */
  wide?: boolean;
}

export interface TableProps<Row> {
  /** What the table is of, for those who listen to it. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  /** More rows may come: it begins as the long list that it becomes, so that the keyboard keeps its place. */
  grows?: boolean;
}

export function Cells<Row>({ columns, row }: { columns: readonly Column<Row>[]; row: Row }) {
  return columns.map(({ key, cell, align, wide }) => (
    <td key={key} data-align={align} data-wide={wide}>
      {cell(row)}
    </td>
  ));
}
