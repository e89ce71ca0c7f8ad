import type { ReactNode } from 'react';

export interface Column<Row> {
  key: string;
  head: ReactNode;
  cell: (row: Row) => ReactNode;
  align?: 'left' | 'right';
  /** Shown only on wide screens; a phone shows the row without it. */
  wide?: boolean;
}

export interface TableProps<Row> {
  /** Description of the table, for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  /** More rows may come. It starts as a long list, so that the keyboard keeps its place. */
  grows?: boolean;
}

export function Cells<Row>({ columns, row }: { columns: readonly Column<Row>[]; row: Row }) {
  return columns.map(({ key, cell, align, wide }) => (
    <td key={key} data-align={align} data-wide={wide}>
      {cell(row)}
    </td>
  ));
}

export function Heads<Row>({ columns }: Pick<TableProps<Row>, 'columns'>) {
  return (
    <thead>
      <tr>
        {columns.map(({ key, head, align, wide }) => (
          <th key={key} scope="col" data-align={align} data-wide={wide}>
            {head}
          </th>
        ))}
      </tr>
    </thead>
  );
}

export function AllRows<Row>({ columns, rows, rowKey }: TableProps<Row>) {
  return (
    <tbody>
      {rows.map((row) => (
        <tr key={rowKey(row)}>
          <Cells columns={columns} row={row} />
        </tr>
      ))}
    </tbody>
  );
}
