import { type ReactNode, type RefObject, useEffect, useRef } from 'react';
import type { Pages } from '../api/api.ts';
import { text } from '../text/index.ts';
import { Button } from './button.tsx';
import type { TableProps } from './cells.tsx';
import { Failed, Loaded, type LoadedProps } from './parts.tsx';
import { Table } from './table.tsx';

/** In pixels. The next page loads when the end is this far below the visible part, so scrolling need not wait. */
const AHEAD = 1_500;

export interface PagedTableProps<Row>
  extends Omit<TableProps<Row>, 'rows' | 'grows'>, Pick<LoadedProps<unknown>, 'with'> {
  list: Pages<Row, unknown>;
  /** Height of the first page. */
  height: number;
  /** Shown for an empty list. */
  none: ReactNode;
}

/** A list that loads the next page near its end. Scrolling back to the top returns to the first page. */
export function PagedTable<Row>({ list, height, with: others, none, ...table }: PagedTableProps<Row>) {
  return (
    <Loaded query={list.query} height={height} with={others}>
      {() =>
        list.items.length === 0 ? (
          none
        ) : (
          <>
            <Top list={list} />
            <Table {...table} rows={list.items} grows={list.more !== undefined} />
            <End list={list} />
          </>
        )
      }
    </Loaded>
  );
}

type Part = Pick<Pages<unknown, unknown>, 'items' | 'query' | 'more' | 'loadingMore' | 'failed' | 'fold'>;

function Top({ list: { fold } }: { list: Part }) {
  const ref = useRef<HTMLDivElement>(null);
  const latest = useRef(fold);
  useEffect(() => {
    latest.current = fold;
  });
  useEffect(() => {
    let away = false;
    return whenSeen(ref, 0, (seen) => {
      if (seen && away) latest.current();
      away = !seen;
    });
  }, []);
  return <div ref={ref} />;
}

function End({ list: { items, query, more, loadingMore, failed } }: { list: Part }) {
  const ref = useRef<HTMLDivElement>(null);
  const waits = more === undefined || loadingMore || failed;
  useEffect(() => {
    if (waits) return;
    // Observed again after each page, so that an end that is still near is reported again.
    return whenSeen(ref, AHEAD, (seen) => seen && more());
  }, [waits, more, items.length]);
  if (more === undefined) return null;
  return (
    <div ref={ref}>
      {failed && !loadingMore ? (
        <Failed error={query.error} retry={() => void more()} />
      ) : (
        <Button look="quiet" onClick={() => void more()} busy={loadingMore && text.common.list.loading}>
          {text.common.list.more}
        </Button>
      )}
    </div>
  );
}

/** Reports whether an element is visible or at most `ahead` pixels below: at once, and whenever that changes. */
function whenSeen(ref: RefObject<HTMLElement | null>, ahead: number, onChange: (seen: boolean) => void): () => void {
  const watch = new IntersectionObserver((entries) => onChange(entries.at(-1)?.isIntersecting === true), {
    rootMargin: `0px 0px ${ahead}px 0px`,
  });
  if (ref.current !== null) watch.observe(ref.current);
  return () => watch.disconnect();
}
