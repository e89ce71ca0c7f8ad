import { Link } from '@tanstack/react-router';
import { type ReactNode, useCallback, useState } from 'react';
import { type Api, useRead } from '../../api/api.ts';
import { useMay, useMayRead, useWorkspace } from '../../app/account.tsx';
import { money } from '../../format/money.ts';
import { clock, duration } from '../../format/time.ts';
import { budgetName, limitNoun } from '../../text/budget-words.ts';
import { text } from '../../text/index.ts';
import { leases } from '../../text/leases.ts';
import { raises } from '../../text/raises.ts';
import { AgentLink } from '../../ui/agent-link.tsx';
import type { Column } from '../../ui/cells.tsx';
import { Count, Money } from '../../ui/figures.tsx';
import { useNow } from '../../ui/now.ts';
import { Card, Loaded, Meter, Note, PageHead, Unknown } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import ui from '../../ui/ui.module.css';
import { raisedLimit } from '../budgets/risk.ts';
import { PauseList } from '../pauses/pause-list.tsx';
import { RaiseButton } from '../raises/raise-dialog.tsx';
import { Raised } from '../raises/raised.tsx';
import { Leases } from './leases.tsx';
import { Reservations } from './reservations.tsx';

const words = text.limits;

/** The limits as the enforcer has them now. */
export function LimitsPage() {
  const { timezone } = useWorkspace();
  const limits = useRead('GET /api/v1/limits', { query: {} }, { live: true });
  const pauses = useRead('GET /api/v1/pauses', {}, { live: true });
  const mayReadReservations = useMayRead('admin');
  const [showsLeases, setShowsLeases] = useState(false);
  const showLeases = useCallback(() => setShowsLeases(true), []);
  const now = useNow();
  const { end, timezone: zone } = limits.data?.day ?? { end: new Date(now).toISOString(), timezone };
  const line = words.line(clock(end, zone), duration(Date.parse(end) - now), zone);
  return (
    <div className={ui['stack']}>
      <PageHead title={words.title} line={limits.data === undefined ? <Unknown like={line} /> : line} />
      <Loaded query={limits} with={[pauses]} height={640}>
        {({ items }) => (
          <>
            <Card>{items.length === 0 ? <NoBudget /> : <LimitTable items={items} />}</Card>
            <PauseList items={pauses.data?.items ?? []} />
            <Card title={words.overspend.title}>
              <Overspend items={items} />
            </Card>
            <Card title={words.reservations.title}>
              {mayReadReservations ? <Reservations onLoaded={showLeases} /> : <p>{words.reservations.needed}</p>}
            </Card>
            {showsLeases && (
              <Card title={leases.title}>
                <Leases />
              </Card>
            )}
          </>
        )}
      </Loaded>
    </div>
  );
}

function NoBudget() {
  const { slug } = useWorkspace();
  const mayEdit = useMay('owner');
  return (
    <Note title={words.none.title}>
      <span>{words.none.text}</span>
      {mayEdit && (
        <Link to="/w/$slug/budgets" params={{ slug }}>
          {words.none.toBudgets}
        </Link>
      )}
    </Note>
  );
}

function LimitTable({ items }: { items: Api.Limit[] }) {
  const columns: Column<Api.Limit>[] = [
    {
      key: 'scope',
      head: words.column.scope,
      cell: (row) => (
        <>
          <LimitName limit={row} />
          <Raised limit={row} />
          <div className={ui['hint']}>
            <RaiseButton limit={{ budgetId: row.budget_id, name: raises.nameOf(row), value: row.value }} />
          </div>
        </>
      ),
    },
    {
      key: 'used',
      head: words.column.used,
      cell: ({ spent_micros: spent, held_micros: held, ...limit }) => {
        const budget = raisedLimit(limit);
        return <Meter {...{ spent, held, budget }} label={words.meter(money(spent), money(held), money(budget))} />;
      },
    },
    { key: 'spent', head: words.column.spent, align: 'right', cell: (row) => <Money micros={row.spent_micros} /> },
    {
      key: 'held',
      head: words.column.held,
      align: 'right',
      wide: true,
      cell: (row) => <Money micros={row.held_micros} />,
    },
    { key: 'left', head: words.column.left, align: 'right', cell: (row) => <Money micros={row.remaining_micros} /> },
    {
      key: 'budget',
      head: words.column.budget,
      align: 'right',
      wide: true,
      cell: (row) => <Money micros={row.daily_budget_usd_micros} />,
    },
    {
      key: 'open',
      head: words.column.open,
      align: 'right',
      wide: true,
      cell: (row) => <Count value={row.open_reservations} />,
    },
  ];
  return <Table label={words.title} columns={columns} rows={items} rowKey={keyOf} />;
}

const CAUSES = ['above_hold', 'late', 'unreserved'] as const;

/** Unreserved spend of each budget, by its cause. */
function Overspend({ items }: { items: Api.Limit[] }) {
  const passed = items.filter(({ overspend_micros }) => CAUSES.some((cause) => overspend_micros[cause] > 0));
  if (passed.length === 0) return <p>{words.overspend.none}</p>;
  const columns: Column<Api.Limit>[] = [
    { key: 'scope', head: words.column.scope, cell: (row) => <LimitName limit={row} /> },
    ...CAUSES.map((cause) => ({
      key: cause,
      head: words.overspend[cause],
      align: 'right' as const,
      cell: (row: Api.Limit) => <Money micros={row.overspend_micros[cause]} />,
    })),
  ];
  return (
    <div className={ui['stack']}>
      <p className={ui['hint']}>{words.overspend.text}</p>
      <Table label={words.overspend.title} columns={columns} rows={passed} rowKey={keyOf} />
    </div>
  );
}

const NAMES: Record<Api.Limit['scope'], (limit: Api.Limit) => ReactNode> = {
  workspace: () => <ScopeWord scope="workspace" />,
  agent: ({ scope_id }) => <AgentLink id={scope_id} />,
  plan: ({ scope_id }) => (
    <>
      <ScopeWord scope="plan" /> <span className={ui['id']}>{scope_id}</span>
    </>
  ),
  budget: (limit) => (
    <>
      <span className={ui['name']}>{budgetName(limit)}</span> <span className={ui['hint']}>{limitNoun(limit)}</span>
    </>
  ),
};

function LimitName({ limit }: { limit: Api.Limit }) {
  return NAMES[limit.scope](limit);
}

function ScopeWord({ scope }: { scope: Api.Limit['scope'] }) {
  return <span className={`${ui['name']} ${ui['word']}`}>{words.scope[scope]}</span>;
}

/** A budget with a limit for each value has several rows. */
function keyOf({ scope, scope_id, value = '' }: Api.Limit): string {
  return `${scope} ${scope_id} ${value}`;
}
