import { Link } from '@tanstack/react-router';
import { type Api, useRead } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { useSpan } from '../../app/span.ts';
import { text } from '../../text/index.ts';
import type { Column } from '../../ui/cells.tsx';
import { Count, Tokens } from '../../ui/figures.tsx';
import { Card, Loaded } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import ui from '../../ui/ui.module.css';

const words = text.spend;

type Model = Api.UnpricedCalls['models'][number];

const nameOf = ({ model, other }: Model): string => model ?? (other ? words.other : words.division.model.none);

const COLUMNS: Column<Model>[] = [
  {
    key: 'model',
    head: words.division.model.name,
    cell: (row) => <span className={ui['name']}>{nameOf(row)}</span>,
  },
  { key: 'calls', head: words.unpriced.calls, align: 'right', cell: ({ calls }) => <Count value={calls} /> },
  {
    key: 'tokens',
    head: words.column.tokens,
    align: 'right',
    cell: (row) => <Tokens input={row.input_tokens} output={row.output_tokens} />,
  },
];

/** Calls that spend does not include, or as 0, and how to avoid them. Nothing if there are none. */
export function UnknownSpend({ unpriced, unmetered }: Pick<Api.Spend, 'unpriced' | 'unmetered'>) {
  return (
    <>
      {unpriced.calls > 0 && <Unpriced />}
      {unmetered.calls > 0 && (
        <Card title={words.unmetered.title}>
          <p>{words.unmetered.text(unmetered.calls)}</p>
        </Card>
      )}
    </>
  );
}

function Unpriced() {
  const { query } = useSpan();
  const { slug } = useWorkspace();
  const unpriced = useRead('GET /api/v1/dashboard/spend/unpriced', { query }, { live: true });
  return (
    <Card title={words.unpriced.title}>
      <Loaded query={unpriced} height={120}>
        {({ models, others }) => (
          <>
            <p>
              {words.unpriced.text}{' '}
              <Link to="/w/$slug/prices" params={{ slug }}>
                {words.unpriced.prices}
              </Link>
            </p>
            <Table
              label={words.unpriced.title}
              columns={COLUMNS}
              rows={models}
              rowKey={(row) => row.model ?? nameOf(row)}
            />
            {others.calls > 0 && <p>{words.unpriced.others(others.calls)}</p>}
          </>
        )}
      </Loaded>
    </Card>
  );
}
