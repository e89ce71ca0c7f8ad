import { Link } from '@tanstack/react-router';
import { type Api, useRead } from '../../api/api.ts';
import { useMay, useWorkspace } from '../../app/account.tsx';
import { bills as words } from '../../text/bills.ts';
import type { Column } from '../../ui/cells.tsx';
import { Ago } from '../../ui/figures.tsx';
import { Card, Loaded, Note, PageHead } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import ui from '../../ui/ui.module.css';
import { BillForm, BillSources } from './bill-form.tsx';
import { AMOUNTS } from './amount-columns.tsx';
import { daysOf, nameOf } from './bill-parts.tsx';

/** Compares what providers billed with what was counted. Admins upload cost files; members read the comparisons. */
export function BillsPage() {
  const mayCompare = useMay('admin');
  return (
    <div className={ui['stack']}>
      <PageHead title={words.title} line={words.line} />
      {mayCompare && (
        <Card title={words.form.title}>
          <BillForm />
          <BillSources />
        </Card>
      )}
      <Card title={words.list}>
        <Bills mayCompare={mayCompare} />
      </Card>
    </div>
  );
}

const COLUMNS: Column<Api.ReconciliationSummary>[] = [
  { key: 'file', head: words.column.file, cell: (bill) => <BillLink bill={bill} /> },
  { key: 'days', head: words.column.days, wide: true, cell: daysOf },
  ...AMOUNTS,
  {
    key: 'when',
    head: words.column.when,
    align: 'right',
    wide: true,
    cell: ({ created_at }) => <Ago at={created_at} />,
  },
];

function Bills({ mayCompare }: { mayCompare: boolean }) {
  const list = useRead('GET /api/v1/reconciliations', {});
  return (
    <Loaded query={list} height={240}>
      {({ items }) =>
        items.length === 0 ? (
          <Note title={words.none.title}>{mayCompare ? words.none.admin : words.none.member}</Note>
        ) : (
          <Table label={words.list} columns={COLUMNS} rows={items} rowKey={({ id }) => id} />
        )
      }
    </Loaded>
  );
}

function BillLink({ bill }: { bill: Api.ReconciliationSummary }) {
  const { slug } = useWorkspace();
  return (
    <>
      <Link to="/w/$slug/bills/$billId" params={{ slug, billId: bill.id }} className={ui['name']}>
        {nameOf(bill)}
      </Link>
      <div className={ui['hint']}>{words.formats[bill.format]}</div>
    </>
  );
}
