import { Link } from '@tanstack/react-router';
import { type Api, useRead } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { useSpan } from '../../app/span.ts';
import { exactCount } from '../../format/numbers.ts';
import { blockerName, budgetBlocker } from '../../text/budget-words.ts';
import { text } from '../../text/index.ts';
import type { Column } from '../../ui/cells.tsx';
import { At } from '../../ui/figures.tsx';
import { Card, Loaded, Tag } from '../../ui/parts.tsx';
import { Removed } from '../../ui/removed.tsx';
import { Table } from '../../ui/table.tsx';
import { type BlockedKind, kindInAddress } from '../blocked/blocked-search.ts';

const words = text.agents.agent;
const SHOWN = 10;
const TONES = { budget: 'bad', guard: 'warn' } as const satisfies Record<BlockedKind, string>;

interface Blocked {
  id: string;
  at: string;
  why: string;
  /** What the tag leaves out. */
  more?: string;
  kind: BlockedKind;
}

/** The agent's latest blocked calls of each kind. */
export function useAgentBlocked(agentId: string) {
  const { query } = useSpan();
  const asked = { query: { ...query, agent_id: agentId, limit: SHOWN } };
  return {
    byBudget: useRead('GET /api/v1/dashboard/budget-blocked', asked, { live: true }),
    byGuard: useRead('GET /api/v1/dashboard/guard-blocked', asked, { live: true }),
  };
}

interface AgentBlockedProps {
  agentId: string;
  blocked: ReturnType<typeof useAgentBlocked>;
}

/** Blocked calls of both kinds, newest first. */
export function AgentBlocked({ agentId, blocked: { byBudget, byGuard } }: AgentBlockedProps) {
  const { slug } = useWorkspace();
  const columns: Column<Blocked>[] = [
    {
      key: 'when',
      head: words.column.when,
      cell: ({ id, at, kind }) => (
        <Link
          to="/w/$slug/blocked"
          params={{ slug }}
          search={(before) => ({ ...before, ...kindInAddress(kind), event: id })}
        >
          <At at={at} />
        </Link>
      ),
    },
    {
      key: 'why',
      head: words.column.why,
      cell: ({ why, more, kind }) => (
        <>
          <Tag tone={TONES[kind]}>{why}</Tag> {more}
        </>
      ),
    },
  ];
  return (
    <Card
      title={words.blocked}
      link={
        <Link to="/w/$slug/blocked" params={{ slug }} search={(before) => ({ ...before, agent: agentId })}>
          {words.allBlocked}
        </Link>
      }
    >
      <Loaded query={byBudget} with={[byGuard]} height={200}>
        {({ items, total, window }) => {
          const rows = [
            ...items.map(byBudgetRow),
            ...(byGuard.data?.items ?? []).map((each) => toRow(each, 'guard', each.guard)),
          ];
          const newest = rows.toSorted((a, b) => (a.at < b.at ? 1 : -1)).slice(0, SHOWN);
          const none = total + (byGuard.data?.total ?? 0) === 0;
          return (
            <>
              <Removed window={window} />
              {none && <p>{words.noBlocked}</p>}
              {newest.length > 0 && (
                <Table label={words.blocked} columns={columns} rows={newest} rowKey={({ id }) => id} />
              )}
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}

function byBudgetRow(call: Api.BudgetBlocked): Blocked {
  const { count = 1 } = call;
  const name = blockerName(call);
  const why = `${budgetBlocker(call)}${count > 1 ? text.blocked.times(exactCount(count)) : ''}`;
  return { ...toRow(call, 'budget', why), ...(name !== undefined && { more: name }) };
}

function toRow(event: { event_id: string; occurred_at: string }, kind: Blocked['kind'], why: string): Blocked {
  return { id: event.event_id, at: event.occurred_at, kind, why };
}
