import { Link } from '@tanstack/react-router';
import { type Api, useRead } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { useSpan } from '../../app/span.ts';
import { Sparkline } from '../../charts/sparkline.tsx';
import { percent } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { Ago, Count, Money } from '../../ui/figures.tsx';
import { Card, Loaded, Note } from '../../ui/parts.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import ui from '../../ui/ui.module.css';

const words = text.overview;

type Row = Api.TopAgents['items'][number];

export function TopAgents() {
  const { query } = useSpan();
  const { slug } = useWorkspace();
  const top = useRead('GET /api/v1/dashboard/top-agents', { query: { ...query, limit: 5 } }, { live: true });
  const breakdown = useRead(
    'GET /api/v1/dashboard/spend/breakdown',
    { query: { ...query, by: 'agent', limit: 5 } },
    { live: true },
  );
  const courseOf = (agentId: string) => {
    const at = breakdown.data?.groups.findIndex(({ key }) => key === agentId) ?? -1;
    return at < 0 ? [] : (breakdown.data?.points.map(({ micros }) => micros[at] ?? 0) ?? []);
  };
  const columns: Column<Row>[] = [
    {
      key: 'agent',
      head: words.column.agent,
      cell: ({ agent_id, display_name }) => (
        <>
          <Link to="/w/$slug/agents/$agentId" params={{ slug, agentId: agent_id }} className={ui['name']}>
            {display_name}
          </Link>{' '}
          {display_name !== agent_id && <span className={ui['id']}>{agent_id}</span>}
        </>
      ),
    },
    { key: 'spend', head: words.column.spend, align: 'right', cell: (row) => <Money micros={row.total_micros} /> },
    { key: 'share', head: words.column.share, align: 'right', wide: true, cell: (row) => percent(row.share_pct / 100) },
    {
      key: 'course',
      head: words.column.course,
      wide: true,
      cell: (row) => <Sparkline values={courseOf(row.agent_id)} label={words.courseOf(row.display_name)} />,
    },
    {
      key: 'blocked',
      head: words.column.blocked,
      align: 'right',
      cell: (row) => <Count value={row.budget_blocked + row.guard_blocked} />,
    },
    { key: 'seen', head: words.column.seen, align: 'right', wide: true, cell: (row) => <Ago at={row.last_seen_at} /> },
  ];
  return (
    <Card
      title={words.top}
      link={
        <Link to="/w/$slug/agents" params={{ slug }}>
          {words.allAgents}
        </Link>
      }
    >
      <Loaded query={top} height={216}>
        {({ items }) =>
          items.length === 0 ? (
            <Note title={words.noAgents.title}>{words.noAgents.text}</Note>
          ) : (
            <Table label={words.top} columns={columns} rows={items} rowKey={({ agent_id }) => agent_id} />
          )
        }
      </Loaded>
    </Card>
  );
}
