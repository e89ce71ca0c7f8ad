import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect, useRef, useState } from 'react';
import { Cells, type TableProps } from './cells.tsx';

/** Estimated height of a row before it is drawn, in pixels. */
const ROW_HEIGHT = 36;

/** The visible rows of a long list: the page scrolls, and empty rows replace those above and below. */
export function RowsInSight<Row>({ columns, rows, rowKey }: TableProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const measure = () => {
      if (body.current !== null) setTop(body.current.getBoundingClientRect().top + scrollY);
    };
    measure();
    // The content above may change its height.
    const watch = new ResizeObserver(measure);
    watch.observe(document.body);
    return () => watch.disconnect();
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
