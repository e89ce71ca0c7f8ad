import {
  createContext,
  lazy,
  type ReactNode,
  type RefObject,
  Suspense,
  useContext,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { createPortal } from 'react-dom';
import { AllRows, Heads, type TableProps } from './cells.tsx';
import { DownloadCsv } from './download-csv.tsx';
import { CardTools } from './parts.tsx';
import css from './ui.module.css';

/** With more rows, only the visible ones are drawn. The code for that is loaded with the first such list. */
const DRAWN_WHOLE = 100;
const RowsInSight = lazy(async () => ({ default: (await import('./rows-in-sight.tsx')).RowsInSight })) as <Row>(
  props: TableProps<Row>,
) => ReactNode;

const ForNow = createContext(false);

/** Whether a cell is drawn only until the code for long lists is loaded. The redraw then would lose its focus. */
export function useIsForNow(): boolean {
  return useContext(ForNow);
}

export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, grows = false } = props;
  const box = useRef<HTMLDivElement>(null);
  const tools = useContext(CardTools);
  const scrolls = useScrolls(box);
  return (
    <div ref={box} className={css['tableBox']} {...(scrolls && { tabIndex: 0, role: 'region', 'aria-label': label })}>
      {tools !== null && rows.length > 0 && createPortal(<DownloadCsv {...props} />, tools)}
      <table className={css['table']} aria-label={label} aria-rowcount={rows.length + 1}>
        <Heads columns={columns} />
        {grows || rows.length > DRAWN_WHOLE ? (
          <Suspense
            fallback={
              <ForNow value={true}>
                <AllRows {...props} rows={rows.slice(0, DRAWN_WHOLE)} />
              </ForNow>
            }
          >
            <RowsInSight {...props} />
          </Suspense>
        ) : (
          <AllRows {...props} />
        )}
      </table>
    </div>
  );
}

/** Whether the table is wider than its container. Then it must be focusable, so that the keyboard can scroll it. */
function useScrolls(box: RefObject<HTMLDivElement | null>): boolean {
  const [scrolls, setScrolls] = useState(false);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const watch = new ResizeObserver(() => setScrolls(element.scrollWidth > element.clientWidth));
    watch.observe(element);
    for (const child of element.children) watch.observe(child);
    return () => watch.disconnect();
  }, [box]);
  return scrolls;
}
