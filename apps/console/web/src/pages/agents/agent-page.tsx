import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { type Api, useRead } from '../../api/api.ts';
import { useMay, useWorkspace } from '../../app/account.tsx';
import { useSpan } from '../../app/span.ts';
import { percent } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { settlement } from '../../text/settlement.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/cells.tsx';
import { At, Money, Tokens } from '../../ui/figures.tsx';
import { Card, Loaded, PageHead } from '../../ui/parts.tsx';
import { Removed } from '../../ui/removed.tsx';
import { SpanBar } from '../../ui/span-bar.tsx';
import { Table } from '../../ui/table.tsx';
import ui from '../../ui/ui.module.css';
import { useSpanLimit } from '../budgets/use-span-limit.ts';
import { PauseButton, PauseNotice, useAgentPause } from '../pauses/agent-pause.tsx';
import { AgentBlocked, useAgentBlocked } from './agent-blocked.tsx';
import { AgentChart } from './agent-chart.tsx';
import { AgentBudget } from './agent-budget.tsx';
import { AgentLabels } from './agent-labels.tsx';
import { RenameDialog } from './rename-dialog.tsx';

const words = text.agents.agent;

/** One agent: its spend, its remaining budget, and its blocked calls. */
export function AgentPage() {
  const { agentId } = useParams({ from: '/account/w/$slug/agents/$agentId' });
  const { slug } = useWorkspace();
  const { query } = useSpan();
  const mayRename = useMay('owner');
  const [renaming, setRenaming] = useState(false);
  const details = useRead(
    'GET /api/v1/dashboard/top-agents/details',
    { query: { ...query, agent_id: agentId } },
    { live: true },
  );
  const blocked = useAgentBlocked(agentId);
  const limit = useSpanLimit(agentId);
  const agent = useRead('GET /api/v1/agents/{agent_id}', { path: { agent_id: agentId } });
  const { query: pauses, pause } = useAgentPause(agentId);
  const name = details.data?.agent.display_name ?? agentId;
  return (
    <div className={ui['stack']}>
      <PageHead
        title={name}
        line={
          <>
            <Link to="/w/$slug/agents" params={{ slug }}>
              {text.agents.title}
            </Link>{' '}
            / <span className={ui['id']}>{agentId}</span>
          </>
        }
      >
        <PauseButton agentId={agentId} name={name} pause={pause} />
        {mayRename && <Button onClick={() => setRenaming(true)}>{words.rename}</Button>}
        <SpanBar />
      </PageHead>
      <AgentBudget agentId={agentId} name={name} />
      <Loaded query={details} with={[agent, pauses, blocked.byBudget, blocked.byGuard, ...limit.waits]} height={720}>
        {(data) => (
          <>
            <PauseNotice name={name} pause={pause} />
            <AgentLabels agentId={agentId} name={name} labels={agent.data?.labels} />
            <AgentChart name={name} details={data} limit={limit} />
            <div className={ui['two']}>
              <Card title={words.models}>
                <Models models={data.models} total={data.metrics.total_micros} />
              </Card>
              <AgentBlocked agentId={agentId} blocked={blocked} />
            </div>
            <Card title={words.recent}>
              <Removed window={data.window} />
              {(data.recent.length > 0 || data.metrics.unique_settlements === 0) && (
                <Recent settlements={data.recent} />
              )}
            </Card>
          </>
        )}
      </Loaded>
      {renaming && <RenameDialog agentId={agentId} name={name} onClose={() => setRenaming(false)} />}
    </div>
  );
}

type Model = Api.AgentDetails['models'][number];

const modelName = ({ model, other }: Model) => model ?? (other ? text.spend.other : words.noModel);

function Models({ models, total }: { models: Model[]; total: number }) {
  const columns: Column<Model>[] = [
    { key: 'model', head: words.column.model, cell: modelName },
    { key: 'spend', head: words.column.spend, align: 'right', cell: (row) => <Money micros={row.total_micros} /> },
    {
      key: 'share',
      head: words.column.share,
      align: 'right',
      cell: (row) => percent(total === 0 ? 0 : row.total_micros / total),
    },
    {
      key: 'tokens',
      head: words.column.tokens,
      align: 'right',
      wide: true,
      cell: (row) => <Tokens input={row.input_tokens} output={row.output_tokens} />,
    },
  ];
  if (models.length === 0) return <p>{words.noRecent}</p>;
  return (
    <Table
      label={words.models}
      columns={columns}
      rows={models}
      rowKey={({ model, other }) => model ?? (other ? ' other' : '')}
    />
  );
}

/** The parts of the tokens are below them, if the gateway reports any. */
function SettledTokens(call: Api.Settlement) {
  const { input_tokens: input = 0, output_tokens: output = 0 } = call;
  const parts = settlement.parts(call);
  return (
    <>
      <Tokens input={input} output={output} />
      {parts !== '' && <div className={ui['hint']}>{parts}</div>}
    </>
  );
}

function Recent({ settlements }: { settlements: Api.Settlement[] }) {
  const columns: Column<Api.Settlement>[] = [
    { key: 'when', head: words.column.when, cell: ({ occurred_at }) => <At at={occurred_at} /> },
    { key: 'amount', head: words.column.amount, align: 'right', cell: (row) => <Money micros={row.amount_micros} /> },
    { key: 'model', head: words.column.model, wide: true, cell: ({ model }) => model ?? words.noModel },
    {
      key: 'tokens',
      head: words.column.tokens,
      align: 'right',
      wide: true,
      cell: SettledTokens,
    },
    {
      key: 'priced-by',
      head: settlement.pricedBy,
      wide: true,
      cell: ({ priced_by: by }) => (by === undefined ? text.common.none : settlement.source(by)),
    },
    { key: 'run', head: words.column.run, cell: ({ run_id }) => <span className={ui['id']}>{run_id}</span> },
  ];
  if (settlements.length === 0) return <p>{words.noRecent}</p>;
  return <Table label={words.recent} columns={columns} rows={settlements} rowKey={({ event_id }) => event_id} />;
}
