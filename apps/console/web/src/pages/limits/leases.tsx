import { useState } from 'react';
import { type Api, useChange, usePages } from '../../api/api.ts';
import { useMay } from '../../app/account.tsx';
import { money } from '../../format/money.ts';
import { leases as words } from '../../text/leases.ts';
import { AgentLink } from '../../ui/agent-link.tsx';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/cells.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Ago, Money } from '../../ui/figures.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import { Note } from '../../ui/parts.tsx';
import { toast } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';

/** The open leases, with what is left of them. Owners may end them. */
export function Leases() {
  const [ending, setEnding] = useState<Api.Lease | null>(null);
  const mayEnd = useMay('owner');
  const list = usePages('GET /api/v1/limits/leases', { query: { state: 'open', limit: 100 } });
  const columns: Column<Api.Lease>[] = [
    { key: 'when', head: words.column.when, wide: true, cell: ({ created_at }) => <Ago at={created_at} /> },
    { key: 'agent', head: words.column.agent, cell: ({ agent_id }) => <AgentLink id={agent_id} /> },
    {
      key: 'plan',
      head: words.column.plan,
      wide: true,
      cell: ({ plan_key }) => <span className={ui['id']}>{plan_key}</span>,
    },
    {
      key: 'amount',
      head: words.column.amount,
      align: 'right',
      wide: true,
      cell: (row) => <Money micros={row.amount_micros} />,
    },
    {
      key: 'settled',
      head: words.column.settled,
      align: 'right',
      wide: true,
      cell: (row) => <Money micros={row.settled_micros} />,
    },
    { key: 'left', head: words.column.left, align: 'right', cell: (row) => <Money micros={row.left_micros} /> },
    {
      key: 'ends',
      head: words.column.ends,
      align: 'right',
      wide: true,
      cell: ({ expires_at }) => <Ago at={expires_at} />,
    },
    ...(mayEnd
      ? [
          {
            key: 'action',
            head: <span className="heard">{words.end}</span>,
            align: 'right' as const,
            cell: (row: Api.Lease) => (
              <Button look="quiet" onClick={() => setEnding(row)}>
                {words.end}
              </Button>
            ),
          },
        ]
      : []),
  ];
  return (
    <div className={ui['stack']}>
      <p className={ui['hint']}>{words.text}</p>
      <PagedTable
        list={list}
        height={240}
        none={<Note title={words.none.title}>{words.none.text}</Note>}
        label={words.title}
        columns={columns}
        rowKey={({ id }) => id}
      />
      {ending !== null && <End lease={ending} onClose={() => setEnding(null)} />}
    </div>
  );
}

function End({ lease, onClose }: { lease: Api.Lease; onClose: () => void }) {
  const end = useChange('POST /api/v1/limits/leases/{lease_id}:return', [
    'GET /api/v1/limits',
    'GET /api/v1/limits/leases',
  ]);
  return (
    <Confirm
      title={words.endTitle(lease.agent_id)}
      action={words.end}
      onClose={onClose}
      onConfirm={async () => {
        await end.mutateAsync({ path: { lease_id: lease.id } });
        toast(words.ended);
      }}
    >
      {words.endText(money(lease.left_micros))}
    </Confirm>
  );
}
