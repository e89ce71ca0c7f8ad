import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { type Api, useChange, usePages } from '../../api/api.ts';
import { useMay } from '../../app/account.tsx';
import { money } from '../../format/money.ts';
import { text } from '../../text/index.ts';
import { AgentLink } from '../../ui/agent-link.tsx';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/cells.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Ago, Money } from '../../ui/figures.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import { Note, Segments } from '../../ui/parts.tsx';
import { toast } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';
import { RESERVATION_STATES } from './limits-search.ts';

const words = text.limits.reservations;

/**
 * The reservations of each state. Owners may release the open ones. `onLoaded` is called once the first list takes its
 * place: what is below appears then, so that nothing moves.
 */
export function Reservations({ onLoaded }: { onLoaded: () => void }) {
  const { state = 'held' } = useSearch({ from: '/account/w/$slug/limits' });
  const navigate = useNavigate();
  const [releasing, setReleasing] = useState<Api.Reservation | null>(null);
  const mayRelease = useMay('owner');
  const list = usePages('GET /api/v1/limits/reservations', { query: { state, limit: 100 } });
  const isLoaded = !list.query.isPending;
  useEffect(() => {
    if (isLoaded) onLoaded();
  }, [isLoaded, onLoaded]);
  const columns: Column<Api.Reservation>[] = [
    { key: 'when', head: words.column.when, cell: ({ created_at }) => <Ago at={created_at} /> },
    { key: 'agent', head: words.column.agent, cell: ({ agent_id }) => <AgentLink id={agent_id} /> },
    {
      key: 'run',
      head: words.column.run,
      wide: true,
      cell: ({ run_id }) => <span className={ui['id']}>{run_id}</span>,
    },
    { key: 'amount', head: words.column.amount, align: 'right', cell: (row) => <Money micros={row.amount_micros} /> },
    state === 'settled'
      ? {
          key: 'settled',
          head: words.column.settled,
          align: 'right' as const,
          cell: (row) => <Money micros={row.settled_micros ?? 0} />,
        }
      : {
          key: 'ends',
          head: words.column.ends,
          align: 'right' as const,
          wide: true,
          cell: (row) => <Ago at={row.expires_at} />,
        },
    ...(state === 'held' && mayRelease
      ? [
          {
            key: 'action',
            head: <span className="heard">{words.release}</span>,
            align: 'right' as const,
            cell: (row: Api.Reservation) => (
              <Button look="quiet" onClick={() => setReleasing(row)}>
                {words.release}
              </Button>
            ),
          },
        ]
      : []),
  ];
  return (
    <div className={ui['stack']}>
      <Segments
        label={words.state}
        value={state}
        options={RESERVATION_STATES.map((each) => [each, words.states[each]] as const)}
        onChange={(next) =>
          void navigate({
            from: '/w/$slug/limits',
            to: '.',
            search: ({ state: _state, ...rest }) => (next === 'held' ? rest : { ...rest, state: next }),
            replace: true,
            resetScroll: false,
          })
        }
      />
      <PagedTable
        list={list}
        height={240}
        none={<Note title={words.none[state].title}>{words.none[state].text}</Note>}
        label={words.title}
        columns={columns}
        rowKey={({ id }) => id}
      />
      {releasing !== null && <Release reservation={releasing} onClose={() => setReleasing(null)} />}
    </div>
  );
}

function Release({ reservation, onClose }: { reservation: Api.Reservation; onClose: () => void }) {
  const release = useChange('POST /api/v1/limits/reservations/{reservation_id}:release', [
    'GET /api/v1/limits',
    'GET /api/v1/limits/reservations',
  ]);
  return (
    <Confirm
      title={words.releaseTitle(reservation.agent_id)}
      action={words.release}
      onClose={onClose}
      onConfirm={async () => {
        await release.mutateAsync({ path: { reservation_id: reservation.id } });
        toast(words.released);
      }}
    >
      {words.releaseText(money(reservation.amount_micros))}
    </Confirm>
  );
}
