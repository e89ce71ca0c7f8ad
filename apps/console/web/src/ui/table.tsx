import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { text } from '../text/index.ts';
import { Button } from './button.tsx';
import css from './ui.module.css';

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
  /** Asks for the next rows; undefined when there are no more. */
  more?: (() => void) | undefined;
  loadingMore?: boolean;
}

/** Above this many rows, only those in sight are drawn. */
const DRAWN_WHOLE = 100;
const ROW_HEIGHT = 37;

export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, more, loadingMore } = props;
  return (
    <div className={css['tableBox']}>
      <table className={css['table']} aria-label={label} aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {columns.map(({ key, head, align, wide }) => (
              <th key={key} scope="col" data-align={align} data-wide={wide}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        {rows.length > DRAWN_WHOLE ? <RowsInSight {...props} /> : <AllRows {...props} />}
      </table>
      {more !== undefined && (
        <Button look="quiet" onClick={more} busy={loadingMore === true && text.common.list.loading}>
          {text.common.list.more}
        </Button>
      )}
    </div>
  );
}

function AllRows<Row>({ columns, rows, rowKey }: TableProps<Row>) {
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

/** Rows of a long list: the page scrolls, and empty rows stand for what is above and below. */
function RowsInSight<Row>({ columns, rows, rowKey }: TableProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    if (body.current !== null) setTop(body.current.getBoundingClientRect().top + scrollY);
  }, []);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_HEIGHT,
    scrollMargin: top,
    overscan: 12,
  });
  const shown = virtual.getVirtualItems();
  const above = (shown[0]?.start ?? top) - top;
  const below = virtual.getTotalSize() - ((shown.at(-1)?.end ?? top) - top);
  return (
    <tbody ref={body}>
      <Space height={above} span={columns.length} />
      {shown.map(({ index }) => {
        const row = rows[index];
        if (row === undefined) return null;
        return (
          <tr key={rowKey(row)} ref={virtual.measureElement} data-index={index} aria-rowindex={index + 2}>
            <Cells columns={columns} row={row} />
          </tr>
        );
      })}
      <Space height={below} span={columns.length} />
    </tbody>
  );
}

function Space({ height, span }: { height: number; span: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden="true">
      <td colSpan={span} style={{ height, padding: 0, border: 0 }} />
    </tr>
  );
}

function Cells<Row>({ columns, row }: { columns: readonly Column<Row>[]; row: Row }) {
  return columns.map(({ key, cell, align, wide }) => (
    <td key={key} data-align={align} data-wide={wide}>
      {cell(row)}
    </td>
  ));
}
