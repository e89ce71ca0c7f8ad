import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type Api, type Pages, usePages } from '../../api/api.ts';
import { labelIn, withLabel, withoutLabels } from '../../app/label-search.ts';
import { useSpan } from '../../app/span.ts';
import { exactCount } from '../../format/numbers.ts';
import { blockerName, budgetBlocker, isPause } from '../../text/budget-words.ts';
import { text } from '../../text/index.ts';
import { AgentLink } from '../../ui/agent-link.tsx';
import type { Column } from '../../ui/cells.tsx';
import { At, Money } from '../../ui/figures.tsx';
import { Button } from '../../ui/button.tsx';
import { LabelFilter } from '../../ui/label-filter.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import { Card, Note, PageHead, Segments, Tag } from '../../ui/parts.tsx';
import { Removed } from '../../ui/removed.tsx';
import { SpanBar } from '../../ui/span-bar.tsx';
import ui from '../../ui/ui.module.css';
import { BLOCKED_KINDS, type BlockedKind, type BlockedSearch } from './blocked-search.ts';
import { EventDrawer } from './event-drawer.tsx';
import { RunDrawer } from './run-drawer.tsx';

const words = text.blocked;

export function BlockedPage() {
  const { kind = BLOCKED_KINDS[0], event, run } = useSearch({ from: '/account/w/$slug/blocked' });
  const show = useShow();
  return (
    <>
      <PageHead title={words.title} line={words.line}>
        <Segments
          label={words.kind}
          value={kind}
          options={BLOCKED_KINDS.map((each) => [each, words.kinds[each]] as const)}
          onChange={(next) => show({ kind: next })}
        />
        <SpanBar />
      </PageHead>
      <Filters />
      {LISTS[kind]}
      {event !== undefined && <EventDrawer kind={kind} eventId={event} />}
      {run !== undefined && <RunDrawer kind={kind} runId={run} />}
    </>
  );
}

/** The agent that the calls are of, or the label that they have. */
function Filters() {
  const search = useSearch({ from: '/account/w/$slug/blocked' });
  const navigate = useNavigate({ from: '/w/$slug/blocked' });
  const { agent } = search;
  if (agent !== undefined) {
    const clear = () => void navigate({ to: '.', search: ({ agent: _before, ...rest }) => rest });
    return (
      <div className={ui['row']}>
        <span>{words.onlyAgent}</span> <AgentLink id={agent} />
        <Button onClick={clear}>{text.labels.filter.clear}</Button>
      </div>
    );
  }
  return (
    <LabelFilter
      label={labelIn(search)}
      set={(label) => void navigate({ to: '.', search: (rest) => ({ ...withoutLabels(rest), ...withLabel(label) }) })}
    />
  );
}

/** The query of a list, with the filters of the page. */
function useListQuery() {
  const { query } = useSpan();
  const search = useSearch({ from: '/account/w/$slug/blocked' });
  const label = labelIn(search);
  return {
    ...query,
    ...(search.agent !== undefined && { agent_id: search.agent }),
    ...(label && { label: withLabel(label) }),
    limit: 100,
  };
}

/** Changes the shown part of the page, and its URL. */
function useShow() {
  const navigate = useNavigate();
  return (change: BlockedSearch) =>
    void navigate({
      from: '/w/$slug/blocked',
      to: '.',
      // Keeps the scroll position of the list.
      resetScroll: false,
      search: ({ event: _event, run: _run, ...others }) => ({
        ...others,
        ...change,
      }),
    });
}

function ByBudget() {
  const list = usePages('GET /api/v1/dashboard/budget-blocked', { query: useListQuery() });
  const columns: Column<Api.BudgetBlocked>[] = [
    ...firstColumns<Api.BudgetBlocked>(),
    { key: 'scope', head: words.column.budget, cell: (row) => <BudgetTag row={row} /> },
    {
      key: 'requested',
      head: words.column.requested,
      align: 'right',
      cell: (row) => <Money micros={row.requested_micros} />,
    },
    {
      key: 'used',
      head: words.column.used,
      align: 'right',
      wide: true,
      cell: (row) =>
        isPause(row) ? (
          text.common.none
        ) : (
          <>
            <Money micros={row.spent_micros + (row.held_micros ?? 0)} /> /{' '}
            <Money micros={row.daily_budget_usd_micros} />
          </>
        ),
    },
    runColumn(),
  ];
  return <BlockedList list={list} columns={columns} kind="budget" />;
}

/** The scope of the budget or the pause, its name or reason if it has one, and the number of calls if more than one. */
function BudgetTag({ row }: { row: Api.BudgetBlocked }) {
  const { scope, count = 1 } = row;
  return (
    <>
      <Tag tone="bad">{isPause(row) ? budgetBlocker(row) : scope}</Tag> {blockerName(row)}
      {count > 1 && words.times(exactCount(count))}
    </>
  );
}

function ByGuard() {
  const list = usePages('GET /api/v1/dashboard/guard-blocked', { query: useListQuery() });
  const columns: Column<Api.GuardBlocked>[] = [
    ...firstColumns<Api.GuardBlocked>(),
    { key: 'guard', head: words.column.guard, cell: ({ guard }) => <Tag tone="warn">{guard}</Tag> },
    { key: 'reason', head: words.column.reason, wide: true, cell: ({ reason }) => reason },
    runColumn(),
  ];
  return <BlockedList list={list} columns={columns} kind="guard" />;
}

const LISTS: Record<BlockedKind, ReactNode> = { budget: <ByBudget />, guard: <ByGuard /> };

interface Blocked {
  event_id: string;
  run_id: string;
  agent_id: string;
  occurred_at: string;
}

function firstColumns<Row extends Blocked>(): Column<Row>[] {
  return [
    { key: 'when', head: words.column.when, cell: (row) => <EventButton row={row} /> },
    { key: 'agent', head: words.column.agent, cell: ({ agent_id }) => <AgentLink id={agent_id} /> },
  ];
}

function runColumn<Row extends Blocked>(): Column<Row> {
  return { key: 'run', head: words.column.run, wide: true, cell: (row) => <RunButton id={row.run_id} /> };
}

function EventButton({ row }: { row: Blocked }) {
  const show = useShow();
  return (
    <button type="button" className={ui['linkButton']} onClick={() => show({ event: row.event_id })}>
      <At at={row.occurred_at} />
    </button>
  );
}

function RunButton({ id }: { id: string }) {
  const show = useShow();
  return (
    <button type="button" className={ui['linkButton']} onClick={() => show({ run: id })}>
      <span className={ui['id']}>{id}</span>
    </button>
  );
}

interface BlockedListProps<Row> {
  list: Pages<Row, { total: number; window: Api.Window }>;
  columns: readonly Column<Row>[];
  kind: BlockedKind;
}

function BlockedList<Row extends Blocked>({ list, columns, kind }: BlockedListProps<Row>) {
  return (
    <Card title={list.first === undefined ? words.kinds[kind] : words.total(list.first.total)}>
      <Removed window={list.first?.window} />
      <PagedTable
        list={list}
        height={400}
        none={list.first?.total === 0 && <Note title={words.none[kind].title}>{words.none[kind].text}</Note>}
        label={words.kinds[kind]}
        columns={columns}
        rowKey={({ event_id }) => event_id}
      />
    </Card>
  );
}
