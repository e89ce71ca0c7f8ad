import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type Api, useChange } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { text } from '../../text/index.ts';
import { AgentLink } from '../../ui/agent-link.tsx';
import type { Column } from '../../ui/cells.tsx';
import { TextField } from '../../ui/field.tsx';
import { Ago } from '../../ui/figures.tsx';
import { Card, Note } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import ui from '../../ui/ui.module.css';
import { BudgetCell } from './budget-cell.tsx';
import { useBudgetsSearch, useLedTo } from './budgets-search.ts';
import { limitColumns } from './limit-columns.tsx';
import { useLimitOf } from './use-limits.ts';

const words = text.budgets;

export function AgentBudgets({ agents }: { agents: readonly Api.AgentBudgetItem[] }) {
  const { id: tenant_id } = useWorkspace();
  const { agents: wanted = '' } = useBudgetsSearch();
  const ledTo = useLedTo();
  const navigate = useNavigate();
  const [drafts] = useState(() => new Map<string, string>());
  const change = useChange('PUT /api/v1/workspaces/{tenant_id}/budgets/agents/{agent_id}', [
    'GET /api/v1/workspaces/{tenant_id}/budgets/agents',
    'GET /api/v1/limits',
    'GET /api/v1/dashboard/top-agents/details',
  ]);
  const limitOf = useLimitOf('agent');
  const columns: Column<Api.AgentBudgetItem>[] = [
    {
      key: 'agent',
      head: words.column.agent,
      cell: ({ agent_id, display_name }) => <AgentLink id={agent_id} name={display_name} />,
    },
    {
      key: 'budget',
      head: words.column.budget,
      cell: ({ agent_id, display_name, daily_budget_usd_micros }) => {
        const limit = limitOf(agent_id);
        return (
          <BudgetCell
            {...ledTo(`agent/${agent_id}`)}
            name={display_name}
            micros={daily_budget_usd_micros}
            usedMicros={limit && limit.spent_micros + limit.held_micros}
            kept={{ drafts, id: agent_id }}
            save={(micros) =>
              change.mutateAsync({ path: { tenant_id, agent_id }, body: { daily_budget_usd_micros: micros } })
            }
          />
        );
      },
    },
    ...limitColumns<Api.AgentBudgetItem>(({ agent_id }) => limitOf(agent_id)),
    {
      key: 'changed',
      head: words.column.changed,
      align: 'right',
      wide: true,
      cell: ({ updated_at }) => (updated_at === null ? text.common.none : <Ago at={updated_at} />),
    },
  ];
  const search = wanted.trim().toLowerCase();
  // The agent with exactly this id comes first: a link may lead to it, and long lists draw only visible rows.
  const found = agents
    .filter((each) => `${each.agent_id} ${each.display_name}`.toLowerCase().includes(search))
    .toSorted((a, b) => Number(b.agent_id === wanted) - Number(a.agent_id === wanted));
  return (
    <Card title={words.agents}>
      <div className={ui['stack']}>
        <TextField
          label={words.search}
          type="search"
          value={wanted}
          onChange={({ target }) =>
            void navigate({
              from: '/w/$slug/budgets',
              to: '.',
              // Removes the link target from the URL.
              search: ({ agents: _agents, budget: _budget, ...rest }) =>
                target.value === '' ? rest : { ...rest, agents: target.value },
              replace: true,
              resetScroll: false,
            })
          }
        />
        {agents.length === 0 ? (
          <Note title={words.noAgents.title}>{words.noAgents.text}</Note>
        ) : found.length === 0 ? (
          <p>{words.noMatch}</p>
        ) : (
          <Table label={words.agents} columns={columns} rows={found} rowKey={({ agent_id }) => agent_id} />
        )}
      </div>
    </Card>
  );
}
