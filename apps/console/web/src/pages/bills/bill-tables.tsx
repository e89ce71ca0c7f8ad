import { useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Api } from '../../api/api.ts';
import { date } from '../../format/time.ts';
import { bills as words } from '../../text/bills.ts';
import type { Column } from '../../ui/cells.tsx';
import { Money } from '../../ui/figures.tsx';
import { Table } from '../../ui/table.tsx';
import ui from '../../ui/ui.module.css';
import { AMOUNTS } from './amount-columns.tsx';
import { type Compared, DifferenceShare } from './bill-parts.tsx';
import type { BillPart } from './bill-search.ts';

interface Row extends Compared {
  day?: string;
  model?: string;
}

const NAMES: Record<BillPart, Column<Row>> = {
  cell: {
    key: 'cell',
    head: words.by.cell,
    cell: ({ day = '', model = '' }) => (
      <>
        <Model name={model} />
        <div className={ui['hint']}>{date(day, 'UTC')}</div>
      </>
    ),
  },
  model: { key: 'model', head: words.by.model, cell: ({ model = '' }) => <Model name={model} /> },
  day: { key: 'day', head: words.by.day, cell: ({ day = '' }) => date(day, 'UTC') },
};

const SUMS: Column<Row>[] = [
  ...AMOUNTS,
  { key: 'share', head: words.column.share, align: 'right', wide: true, cell: (row) => <DifferenceShare of={row} /> },
];

/** The differences by the part in the URL, the largest first. */
export function Differences({ bill }: { bill: Api.Reconciliation }) {
  const { by = 'cell' } = useSearch({ from: '/account/w/$slug/bills/$billId' });
  const rows = useMemo(() => {
    const all: Record<BillPart, readonly Row[]> = { cell: bill.cells, model: bill.models, day: bill.days };
    return all[by].toSorted((a, b) => Math.abs(b.difference_micros) - Math.abs(a.difference_micros));
  }, [bill, by]);
  return (
    <Table
      key={by}
      label={`${words.differences}: ${words.by[by]}`}
      columns={[NAMES[by], ...SUMS]}
      rows={rows}
      rowKey={({ day = '', model = '' }) => `${day} ${model}`}
    />
  );
}

interface MissingProps {
  words: { title: string; line: string; none: string };
  /** Name of the column of amounts. */
  amount: string;
  rows: readonly { model: string; micros: number }[];
}

/** Models that only one side has, the largest amount first. */
export function Missing({ words: { title, line, none }, amount, rows }: MissingProps) {
  if (rows.length === 0) return <p>{none}</p>;
  const columns: Column<MissingProps['rows'][number]>[] = [
    { key: 'model', head: words.by.model, cell: ({ model }) => <Model name={model} /> },
    { key: 'amount', head: amount, align: 'right', cell: ({ micros }) => <Money micros={micros} /> },
  ];
  const sorted = rows.toSorted((a, b) => Math.abs(b.micros) - Math.abs(a.micros));
  return (
    <div className={ui['stack']}>
      <p className={ui['hint']}>{line}</p>
      <Table label={title} columns={columns} rows={sorted} rowKey={({ model }) => model} />
    </div>
  );
}

function Model({ name }: { name: string }) {
  return <span className={ui['name']}>{name === '' ? words.noModel : name}</span>;
}
