import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type Api, useRead } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { withLabel, withoutLabels } from '../../app/label-search.ts';
import { useSpan } from '../../app/span.ts';
import { keyOf, nameOf } from '../../charts/breakdown.ts';
import { labelOf, wordsOf, type Division } from '../../charts/division.ts';
import { Sparkline } from '../../charts/sparkline.tsx';
import { percent } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { AgentLink } from '../../ui/agent-link.tsx';
import type { Column } from '../../ui/cells.tsx';
import { Count, Money, Tokens } from '../../ui/figures.tsx';
import { Card, Loaded, Note } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import ui from '../../ui/ui.module.css';

const words = text.spend;

type Group = Api.SpendBreakdown['groups'][number] & { trend: number[] };

/** Agents have pages of their own, and values of labels filter this one. */
function nameCell(group: Group, by: Division): ReactNode {
  if (by === 'agent' && group.key !== null) return <AgentLink id={group.key} name={group.display_name} />;
  const label = labelOf(by);
  if (label !== null && group.key !== null) return <ValueLink name={label} value={group.key} />;
  return <span className={ui['name']}>{nameOf(group, by)}</span>;
}

function ValueLink({ name, value }: { name: string; value: string }) {
  const { slug } = useWorkspace();
  return (
    <Link
      to="/w/$slug/spend"
      params={{ slug }}
      search={({ by: _before, ...rest }) => ({ ...withoutLabels(rest), ...withLabel({ name, value }) })}
      className={ui['name']}
    >
      {value}
    </Link>
  );
}

/** The agents, models, plans or values of a label with the highest spend, with the trend of each. */
export function Groups({ by }: { by: Division }) {
  const { name, groups: title } = wordsOf(by);
  const { query } = useSpan();
  const breakdown = useRead(
    'GET /api/v1/dashboard/spend/breakdown',
    { query: { ...query, by, limit: 20 } },
    { live: true },
  );
  const columns: Column<Group>[] = [
    {
      key: 'name',
      head: name,
      cell: (group) => nameCell(group, by),
    },
    { key: 'spend', head: words.column.spend, align: 'right', cell: (row) => <Money micros={row.total_micros} /> },
    { key: 'share', head: words.column.share, align: 'right', cell: (row) => percent(row.share_pct / 100) },
    {
      key: 'trend',
      head: words.column.trend,
      wide: true,
      cell: (row) => <Sparkline values={row.trend} label={words.trendOf(nameOf(row, by))} />,
    },
    {
      key: 'settlements',
      head: words.column.settlements,
      align: 'right',
      wide: true,
      cell: (row) => <Count value={row.unique_settlements} />,
    },
    {
      key: 'tokens',
      head: words.column.tokens,
      align: 'right',
      wide: true,
      cell: (row) => <Tokens input={row.input_tokens} output={row.output_tokens} />,
    },
  ];
  return (
    <Card title={title}>
      <Loaded query={breakdown} height={320}>
        {({ groups, points }) =>
          groups.length === 0 ? (
            <Note title={words.empty.title}>{words.empty.text}</Note>
          ) : (
            <Table
              label={title}
              columns={columns}
              rows={groups.map((group, index) => ({
                ...group,
                trend: points.map(({ micros }) => micros[index] ?? 0),
              }))}
              rowKey={keyOf}
            />
          )
        }
      </Loaded>
    </Card>
  );
}
