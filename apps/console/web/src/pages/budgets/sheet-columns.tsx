import type { ReactNode } from 'react';
import { money } from '../../format/money.ts';
import { shortPercent } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { raises } from '../../text/raises.ts';
import { AgentLink } from '../../ui/agent-link.tsx';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/cells.tsx';
import { Ago, Money } from '../../ui/figures.tsx';
import { Meter, Tag } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';
import { RaiseButton } from '../raises/raise-dialog.tsx';
import { Raised } from '../raises/raised.tsx';
import { BudgetCell, type BudgetCellProps } from './budget-cell.tsx';
import { type Origin, originOf } from './budget-reads.ts';
import type { Median } from './medians.ts';
import { raisedLimit } from './risk.ts';
import type { SheetRow } from './sheet-rows.ts';
import type { LimitChange } from './use-limit-changes.ts';

const words = text.budgets.sheet;

export interface SheetActions {
  /** Opens the form of a budget. */
  edit: (row: SheetRow) => void;
  change: (changes: readonly LimitChange[]) => Promise<void>;
  selected: ReadonlySet<string>;
  /** Selects these rows, or no longer. */
  select: (keys: readonly string[], on: boolean) => void;
  /** What a cell needs to keep its typed text, and to be found by a link. */
  cell: (id: string) => Pick<BudgetCellProps, 'kept' | 'isLedTo' | 'onArrived'>;
}

export interface SheetColumnsProps {
  rows: readonly SheetRow[];
  medianOf: (row: SheetRow) => Median;
  /** Undefined for people who only read. */
  actions: SheetActions | undefined;
  /** Key of the row whose values are shown. */
  opened: string | null;
  open: (key: string | null) => void;
}

export function sheetColumns({ rows, medianOf, actions, opened, open }: SheetColumnsProps): Column<SheetRow>[] {
  return [
    ...(actions === undefined ? [] : [selectColumn(rows, actions)]),
    {
      key: 'name',
      head: words.column.name,
      cell: (row) => <NameCell {...{ row, actions, open }} isOpen={row.key === opened} />,
    },
    { key: 'used', head: words.column.used, cell: (row) => <UsedCell row={row} /> },
    {
      key: 'spent',
      head: words.column.spent,
      align: 'right',
      wide: true,
      cell: ({ limit }) => (limit === undefined ? text.common.none : <Money micros={limit.spent_micros} />),
    },
    {
      key: 'limit',
      head: words.column.limit,
      align: 'right',
      cell: (row) => (
        <>
          {actions === undefined || row.value !== undefined ? (
            <Money micros={row.budget.limit_micros} />
          ) : (
            <LimitCell row={row} actions={actions} />
          )}
          <Raised limit={row.limit} />
        </>
      ),
    },
    {
      key: 'forecast',
      head: words.column.forecast,
      align: 'right',
      wide: true,
      cell: (row) => <ForecastCell row={row} />,
    },
    {
      key: 'median',
      head: <span className={ui['lines']}>{words.column.median}</span>,
      align: 'right',
      wide: true,
      cell: (row) => <MedianCell median={medianOf(row)} />,
    },
    { key: 'reset', head: words.column.reset, wide: true, cell: (row) => <ResetCell row={row} /> },
  ];
}

function selectColumn(rows: readonly SheetRow[], { selected, select }: SheetActions): Column<SheetRow> {
  const keys = rows.filter(({ value }) => value === undefined).map(({ key }) => key);
  return {
    key: 'select',
    wide: true,
    head: (
      <input
        type="checkbox"
        aria-label={words.selectAll}
        checked={keys.length > 0 && keys.every((key) => selected.has(key))}
        onChange={({ target }) => select(keys, target.checked)}
      />
    ),
    cell: ({ key, value, budget }) =>
      value === undefined && (
        <input
          type="checkbox"
          aria-label={words.select(budget.name)}
          checked={selected.has(key)}
          onChange={({ target }) => select([key], target.checked)}
        />
      ),
  };
}

interface NameCellProps extends Pick<SheetColumnsProps, 'actions' | 'open'> {
  row: SheetRow;
  isOpen: boolean;
}

function NameCell({ row, actions, isOpen, open }: NameCellProps) {
  const { key, budget, value, limit, says } = row;
  const raise = budget.is_active && (
    <RaiseButton
      limit={{ budgetId: budget.id, name: raises.nameOf({ budget_name: budget.name, value }), value: asked(row) }}
    />
  );
  if (value !== undefined) {
    return (
      <>
        <span className={ui['inner']}>{value}</span> {raise}
      </>
    );
  }
  return (
    <>
      {NAMES[originOf(budget)](row, actions)} {!budget.is_active && <Tag>{words.inactive}</Tag>}
      <div className={ui['hint']}>{says}</div>
      {raise !== false && <div className={ui['hint']}>{raise}</div>}
      {limit?.value !== undefined && (
        <div className={ui['hint']}>
          <Button
            look="quiet"
            aria-expanded={isOpen}
            aria-label={`${isOpen ? words.hideValues : words.showValues}: ${budget.name}`}
            onClick={() => open(isOpen ? null : key)}
          >
            {isOpen ? words.hideValues : words.showValues}
          </Button>
          {words.worst(limit.value)}
        </div>
      )}
    </>
  );
}

/** The value to raise: that of the row; null to ask for it, if the budget has a limit for each value. */
function asked({ value, budget }: SheetRow): string | null | undefined {
  return value ?? (budget.each === null ? undefined : null);
}

/** Owners open the form of a budget by its name; the budget of an agent is on the page of the agent. */
const NAMES: Record<Origin, (row: SheetRow, actions: SheetActions | undefined) => ReactNode> = {
  none: editable,
  workspace: editable,
  plan: editable,
  agent: ({ budget }) => <AgentLink id={budget.selector.agent ?? ''} name={budget.name} />,
};

function editable(row: SheetRow, actions: SheetActions | undefined): ReactNode {
  const { name } = row.budget;
  if (actions === undefined) return <span className={ui['name']}>{name}</span>;
  return (
    <button
      type="button"
      className={ui['linkButton']}
      aria-label={text.budgets.edit(name)}
      onClick={() => actions.edit(row)}
    >
      {name}
    </button>
  );
}

function UsedCell({ row: { limit, used } }: { row: SheetRow }) {
  if (limit === undefined) return <span className={ui['hint']}>{words.unused}</span>;
  const { spent_micros: spent, held_micros: held } = limit;
  const budget = raisedLimit(limit);
  return (
    <>
      <div className={ui['used']}>
        <div data-wide="true">
          <Meter {...{ spent, held, budget }} label={words.usage(money(spent), money(held), money(budget))} />
        </div>
        <span>{shortPercent(used)}</span>
      </div>
      {limit.state === 'filling' && <div className={ui['hint']}>{words.filling(limit.filled_percent)}</div>}
    </>
  );
}

/** Without actions beyond the limit, a low limit blocks nothing. */
const BLOCKS: Record<SheetRow['budget']['action'], boolean> = { deny: true, warn: false };

function LimitCell({ row: { key, budget, limit }, actions }: { row: SheetRow; actions: SheetActions }) {
  return (
    <BudgetCell
      {...actions.cell(key)}
      name={budget.name}
      label={text.budgets.field(budget.name)}
      optional={false}
      micros={budget.limit_micros}
      usedMicros={limit && BLOCKS[budget.action] ? limit.spent_micros + limit.held_micros : undefined}
      save={(micros) => actions.change([{ budget, micros: micros ?? budget.limit_micros }])}
    />
  );
}

function ForecastCell({ row: { limit, forecast } }: { row: SheetRow }) {
  if (limit === undefined || forecast === null) return text.common.none;
  const amount = <Money micros={forecast} />;
  if (forecast <= raisedLimit(limit)) return amount;
  return <Tag tone="bad">{amount}</Tag>;
}

function MedianCell({ median }: { median: Median }) {
  if ('micros' in median) return <Money micros={median.micros} />;
  return (
    <span title={median.why}>
      {text.common.none}
      <span className="heard">{median.why}</span>
    </span>
  );
}

function ResetCell({ row: { budget, limit } }: { row: SheetRow }) {
  return (
    <>
      {limit === undefined ? text.common.none : <Ago at={limit.resets_at} />}
      <div className={ui['hint']}>
        <span className={ui['word']}>{words.periods[budget.period.kind]}</span>
      </div>
    </>
  );
}
