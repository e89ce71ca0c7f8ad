import { Link } from '@tanstack/react-router';
import { type Api, usePages, useRead } from '../../api/api.ts';
import { useMay, useWorkspace } from '../../app/account.tsx';
import { raises as words } from '../../text/raises.ts';
import type { Column } from '../../ui/cells.tsx';
import { Ago, At, Money } from '../../ui/figures.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import { Card, Loaded, Note, PageHead } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import ui from '../../ui/ui.module.css';
import { askerOf, Decisions, EndRaise } from './decisions.tsx';

const LIST = { live: true } as const;

/** Requests first, then what is in force, then everything. Owners decide, members read. */
export function RaisesPage() {
  const requests = useRead('GET /api/v1/raises', { query: { state: 'requested', limit: 100 } }, LIST);
  const active = useRead('GET /api/v1/raises', { query: { state: 'active', limit: 100 } }, LIST);
  return (
    <div className={ui['stack']}>
      <PageHead title={words.title} line={words.line} />
      <Loaded query={requests} with={[active]} height={480}>
        {({ items }) => (
          <>
            <Raises title={words.requests.title} none={words.requests.none} items={items} />
            <Raises title={words.active.title} none={words.active.none} items={active.data?.items ?? []} />
            <Card title={words.earlier.title}>
              <Earlier />
            </Card>
          </>
        )}
      </Loaded>
    </div>
  );
}

const DONE: readonly Api.Raise['state'][] = ['declined', 'ended', 'expired'];

function Earlier() {
  const list = usePages('GET /api/v1/raises', { query: { limit: 50 } });
  const items = list.items.filter(({ state }) => DONE.includes(state));
  return (
    <PagedTable
      label={words.earlier.title}
      columns={[...COLUMNS, STATE]}
      list={{ ...list, items }}
      rowKey={keyOf}
      height={160}
      none={<Note title={words.earlier.none.title}>{words.earlier.none.text}</Note>}
    />
  );
}

function Raises({ title, none, items }: { title: string; none: string; items: readonly Api.Raise[] }) {
  const mayDecide = useMay('owner');
  return (
    <Card title={title}>
      {items.length === 0 ? (
        <p className={ui['hint']}>{none}</p>
      ) : (
        <Table label={title} columns={mayDecide ? [...COLUMNS, ACTION] : COLUMNS} rows={items} rowKey={keyOf} />
      )}
    </Card>
  );
}

const COLUMNS: Column<Api.Raise>[] = [
  { key: 'budget', head: words.column.budget, cell: (raise) => <RaiseLink raise={raise} /> },
  { key: 'amount', head: words.column.amount, align: 'right', cell: (raise) => <Money micros={raise.extra_micros} /> },
  { key: 'until', head: words.column.until, align: 'right', wide: true, cell: ({ until }) => <At at={until} /> },
  {
    key: 'by',
    head: words.column.by,
    wide: true,
    cell: (raise) => (
      <>
        {askerOf(raise)}{' '}
        <span className={ui['hint']}>
          <Ago at={raise.created_at} />
        </span>
      </>
    ),
  },
  { key: 'reason', head: words.column.reason, wide: true, cell: ({ reason }) => reason },
];

const STATE: Column<Api.Raise> = {
  key: 'state',
  head: words.column.state,
  cell: ({ state }) => words.states[state],
};

const ACTION: Column<Api.Raise> = {
  key: 'action',
  head: <span className="heard">{words.column.action}</span>,
  align: 'right',
  cell: (raise) => (raise.state === 'requested' ? <Decisions raise={raise} /> : <EndRaise raise={raise} />),
};

function keyOf({ id }: Api.Raise): string {
  return id;
}

function RaiseLink({ raise }: { raise: Api.Raise }) {
  const { slug } = useWorkspace();
  return (
    <Link to="/w/$slug/raises/$raiseId" params={{ slug, raiseId: raise.id }} className={ui['name']}>
      {words.nameOf(raise)}
    </Link>
  );
}
