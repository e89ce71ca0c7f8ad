import { Link } from '@tanstack/react-router';
import { type Api, useRead } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { useSpan } from '../../app/span.ts';
import { colourOf, REST_COLOUR } from '../../charts/colours.ts';
import { Sparkline } from '../../charts/sparkline.tsx';
import { percent } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { AgentLink } from '../../ui/agent-link.tsx';
import type { Column } from '../../ui/cells.tsx';
import { Ago, Count, Money } from '../../ui/figures.tsx';
import { budgetTone, Card, Loaded, Note, Tag } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import { allBlockedOf } from '../blocked/blocked-search.ts';
import { usedOf } from '../budgets/risk.ts';
import { IN_CHART } from './spend-chart.tsx';

const words = text.overview;

type Row = Api.TopAgents['items'][number];

/** Share of its budget that an agent has used today. */
function UsedToday({ limit }: { limit: Api.Limit | undefined }) {
  if (limit === undefined) return text.common.none;
  return <Tag tone={budgetTone(limit.spent_micros, limit.limit_micros)}>{percent(usedOf(limit))}</Tag>;
}

export function TopAgents() {
  const { query } = useSpan();
  const { slug } = useWorkspace();
  const top = useRead('GET /api/v1/dashboard/top-agents', { query: { ...query, limit: 5 } }, { live: true });
  const breakdown = useRead(
    'GET /api/v1/dashboard/spend/breakdown',
    { query: { ...query, by: 'agent', limit: 5 } },
    { live: true },
  );
  const limits = useRead('GET /api/v1/limits', { query: {} }, { live: true });
  const limitOf = new Map(
    limits.data?.items.filter(({ scope }) => scope === 'agent').map((limit) => [limit.scope_id, limit]),
  );
  const placeOf = (agentId: string) => breakdown.data?.groups.findIndex(({ key }) => key === agentId) ?? -1;
  const trendOf = (place: number) =>
    place < 0 ? [] : (breakdown.data?.points.map(({ micros }) => micros[place] ?? 0) ?? []);
  const columns: Column<Row>[] = [
    {
      key: 'agent',
      head: words.column.agent,
      cell: ({ agent_id, display_name }) => <AgentLink id={agent_id} name={display_name} />,
    },
    { key: 'spend', head: words.column.spend, align: 'right', cell: (row) => <Money micros={row.total_micros} /> },
    { key: 'share', head: words.column.share, align: 'right', wide: true, cell: (row) => percent(row.share_pct / 100) },
    {
      key: 'trend',
      head: words.column.trend,
      wide: true,
      cell: ({ agent_id, display_name }) => {
        const place = placeOf(agent_id);
        // The agent's color in the chart.
        const colour = place < IN_CHART ? colourOf(Math.max(0, place)) : REST_COLOUR;
        return <Sparkline values={trendOf(place)} label={words.trendOf(display_name)} colour={colour} />;
      },
    },
    {
      key: 'used',
      head: words.column.used,
      align: 'right',
      wide: true,
      cell: ({ agent_id }) => <UsedToday limit={limitOf.get(agent_id)} />,
    },
    {
      key: 'blocked',
      head: words.column.blocked,
      align: 'right',
      cell: (row) => <Count value={allBlockedOf(row)} />,
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
