import { type Api, useChange, useRead } from '../../api/api.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/cells.tsx';
import { explain } from '../../ui/explain.ts';
import { Ago } from '../../ui/figures.tsx';
import { Loaded, Tag } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';

const words = text.settings.sessions;
const READS = ['GET /api/v1/auth/sessions'] as const;

/** The person's sessions. */
export function Sessions() {
  const list = useRead('GET /api/v1/auth/sessions', {});
  const end = useChange('DELETE /api/v1/auth/sessions/{session_id}', READS);
  const endOthers = useChange('DELETE /api/v1/auth/sessions', READS);
  const onError = (error: Error) => toast(explain(error).message, { tone: 'bad' });
  const nameOf = ({ user_agent: agent }: Api.Session) => (agent === '' ? words.unknown : agent);

  const columns: Column<Api.Session>[] = [
    {
      key: 'what',
      head: words.column.what,
      cell: (session) => (
        <>
          <span className={ui['name']}>{nameOf(session)}</span> {session.current && <Tag>{words.here}</Tag>}
        </>
      ),
    },
    {
      key: 'address',
      head: words.column.address,
      wide: true,
      cell: ({ address }) => <span className={ui['word']}>{address === '' ? text.common.none : address}</span>,
    },
    { key: 'seen', head: words.column.seen, cell: ({ last_seen_at }) => <Ago at={last_seen_at} /> },
    { key: 'opened', head: words.column.opened, wide: true, cell: ({ created_at }) => <Ago at={created_at} /> },
    {
      key: 'action',
      head: <span className="heard">{words.column.action}</span>,
      align: 'right',
      cell: (session) =>
        !session.current && (
          <Button
            look="quiet"
            aria-label={words.endOf(nameOf(session))}
            onClick={() =>
              end.mutate({ path: { session_id: session.id } }, { onSuccess: () => toast(words.ended), onError })
            }
          >
            {words.end}
          </Button>
        ),
    },
  ];
  return (
    <Loaded query={list} height={120}>
      {({ items }) => (
        <>
          <Table label={words.title} columns={columns} rows={items} rowKey={({ id }) => id} />
          {items.length > 1 && (
            <Button onClick={() => endOthers.mutate({}, { onSuccess: () => toast(words.othersEnded), onError })}>
              {words.endOthers}
            </Button>
          )}
        </>
      )}
    </Loaded>
  );
}
