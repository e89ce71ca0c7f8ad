import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { type Api, useRead } from '../../api/api.ts';
import { useAllAgents } from '../../api/use-all.ts';
import { useMay } from '../../app/account.tsx';
import { useSpan } from '../../app/span.ts';
import { percent } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { AgentLink } from '../../ui/agent-link.tsx';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/cells.tsx';
import { TextField } from '../../ui/field.tsx';
import { Ago, Count, Money } from '../../ui/figures.tsx';
import { Card, Loaded, Note, PageHead } from '../../ui/parts.tsx';
import { SpanBar } from '../../ui/span-bar.tsx';
import { Table } from '../../ui/table.tsx';
import ui from '../../ui/ui.module.css';
import { allBlockedOf } from '../blocked/blocked-search.ts';
import { NewAgentDialog } from './new-agent-dialog.tsx';

const words = text.agents;

type Spent = Api.TopAgents['items'][number];
type Row = Api.Agent & { spent: Spent | undefined };

const COLUMNS: Column<Row>[] = [
  {
    key: 'agent',
    head: words.column.agent,
    cell: ({ agent_id, display_name }) => <AgentLink id={agent_id} name={display_name} />,
  },
  {
    key: 'spend',
    head: words.column.spend,
    align: 'right',
    cell: ({ spent }) => (spent === undefined ? text.common.none : <Money micros={spent.total_micros} />),
  },
  {
    key: 'share',
    head: words.column.share,
    align: 'right',
    wide: true,
    cell: ({ spent }) => (spent === undefined ? text.common.none : percent(spent.share_pct / 100)),
  },
  {
    key: 'settlements',
    head: words.column.settlements,
    align: 'right',
    wide: true,
    cell: ({ spent }) => (spent === undefined ? text.common.none : <Count value={spent.unique_settlements} />),
  },
  {
    key: 'blocked',
    head: words.column.blocked,
    align: 'right',
    cell: ({ spent }) => (spent === undefined ? text.common.none : <Count value={allBlockedOf(spent)} />),
  },
  {
    key: 'seen',
    head: words.column.seen,
    align: 'right',
    wide: true,
    cell: ({ spent }) => (spent === undefined ? text.common.none : <Ago at={spent.last_seen_at} />),
  },
];

export function AgentsPage() {
  const { query } = useSpan();
  const mayCreate = useMay('owner');
  const { find: wanted = '' } = useSearch({ from: '/account/w/$slug/agents' });
  const navigate = useNavigate();
  const [making, setMaking] = useState(false);
  const agents = useAllAgents();
  const top = useRead('GET /api/v1/dashboard/top-agents', { query: { ...query, limit: 100 } }, { live: true });
  const spentBy = new Map(top.data?.items.map((each) => [each.agent_id, each]));
  const search = wanted.trim().toLowerCase();

  return (
    <>
      <PageHead title={words.title} line={words.line}>
        {mayCreate && <Button onClick={() => setMaking(true)}>{words.create}</Button>}
        <SpanBar />
      </PageHead>
      <Card>
        <div className={ui['stack']}>
          <TextField
            label={words.search}
            type="search"
            value={wanted}
            onChange={({ target }) =>
              void navigate({
                from: '/w/$slug/agents',
                to: '.',
                search: ({ find: _find, ...rest }) => (target.value === '' ? rest : { ...rest, find: target.value }),
                replace: true,
                resetScroll: false,
              })
            }
          />
          <Loaded query={agents} with={[top]} height={400}>
            {(items) => {
              if (items.length === 0) return <Note title={words.none.title}>{words.none.text}</Note>;
              const rows = items
                .filter((each) => `${each.agent_id} ${each.display_name}`.toLowerCase().includes(search))
                .map((agent) => ({ ...agent, spent: spentBy.get(agent.agent_id) }))
                .toSorted((a, b) => (b.spent?.total_micros ?? -1) - (a.spent?.total_micros ?? -1));
              if (rows.length === 0) return <p>{words.noMatch}</p>;
              return <Table label={words.title} columns={COLUMNS} rows={rows} rowKey={({ agent_id }) => agent_id} />;
            }}
          </Loaded>
          {(top.data?.items.length ?? 0) >= 100 && <p className={ui['hint']}>{words.top}</p>}
        </div>
      </Card>
      {making && <NewAgentDialog onClose={() => setMaking(false)} />}
    </>
  );
}
