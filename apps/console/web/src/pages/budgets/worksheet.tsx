import { type ReactNode, useEffect, useEffectEvent, useMemo, useState } from 'react';
import { type Api, useRead } from '../../api/api.ts';
import { useAllBudgets } from '../../api/use-all.ts';
import { useMay, useWorkspace } from '../../app/account.tsx';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { ChoiceField, TextField } from '../../ui/field.tsx';
import { Card, Loaded, Note } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import ui from '../../ui/ui.module.css';
import { BudgetDialog } from './budget-dialog.tsx';
import { ORIGINS, type Sort, SORTS } from './budgets-search.ts';
import { mediansOf } from './medians.ts';
import { PasteDialog } from './paste-dialog.tsx';
import { type SheetActions, sheetColumns } from './sheet-columns.tsx';
import { isShown, orderOf, rowsOf, type SheetRow, valueRowsOf } from './sheet-rows.ts';
import { useBudgetsSearch, useLedTo } from './use-budgets-search.ts';
import { useLimitChanges } from './use-limit-changes.ts';
import { UnsetWorkspaceBudget } from './workspace-budget.tsx';

const words = text.budgets.sheet;

export interface WorksheetProps {
  /** The form of a new budget is open. */
  isCreating: boolean;
  onCreated: () => void;
  /** What is below it, drawn together with it, because it would move. */
  children: ReactNode;
}

/** All budgets with what is used of them, those at risk first. Owners change them where they stand. */
export function Worksheet({ isCreating, onCreated, children }: WorksheetProps) {
  const budgets = useAllBudgets();
  const limits = useRead('GET /api/v1/limits', { query: {} }, { live: true });
  // Whole days: they change at midnight, and with late events.
  const medians = useRead('GET /api/v1/dashboard/budget-medians', {}, { live: 'hourly' });
  return (
    <Loaded query={budgets} with={[limits]} height={640}>
      {(all) => (
        <>
          <Sheet
            budgets={all}
            limits={limits.data?.items ?? []}
            medianOf={mediansOf(medians.data, medians.isError)}
            now={limits.dataUpdatedAt}
          />
          {children}
          {isCreating && <BudgetDialog budget={null} budgets={all} onClose={onCreated} />}
        </>
      )}
    </Loaded>
  );
}

interface SheetProps {
  budgets: readonly Api.Budget[];
  limits: readonly Api.Limit[];
  medianOf: ReturnType<typeof mediansOf>;
  now: number;
}

function Sheet({ budgets, limits, medianOf, now }: SheetProps) {
  const { timezone: zone } = useWorkspace();
  const mayEdit = useMay('owner');
  const { search } = useBudgetsSearch();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [drafts] = useState(() => new Map<string, string>());
  const [editing, setEditing] = useState<Api.Budget | null>(null);
  const { change, undoLast } = useLimitChanges();
  const ledTo = useLedTo();
  const rows = useMemo(() => rowsOf({ budgets, limits, zone }), [budgets, limits, zone]);
  const isHeld = selected.size > 0 || drafts.size > 0;
  const shown = useOrdered(rows, search.sort ?? 'risk', search.budget, { now, isHeld }).filter((row) =>
    isShown(row, search.origin, search.find ?? ''),
  );
  const actions: SheetActions = {
    edit: ({ budget }) => setEditing(budget),
    change,
    selected,
    select(keys, on) {
      const rest = [...selected].filter((key) => !keys.includes(key));
      setSelected(new Set(on ? [...rest, ...keys] : rest));
    },
    cell: (id) => ({ kept: { drafts, id }, ...ledTo(id) }),
  };
  return (
    <Card
      title={words.title}
      link={
        mayEdit && (
          <Button onClick={undoLast} disabled={undoLast === undefined}>
            {words.undo}
          </Button>
        )
      }
    >
      <div className={ui['stack']}>
        {mayEdit && !budgets.some(({ origin }) => origin === 'workspace') && <UnsetWorkspaceBudget />}
        {search.budget !== undefined && !budgets.some(({ id }) => id === search.budget) && <p>{words.gone}</p>}
        {budgets.length === 0 ? (
          <Note title={words.none.title}>
            {words.none.text} {words.none.agents}
          </Note>
        ) : (
          <>
            <Filters />
            {shown.length === 0 ? (
              <p>{words.noMatch}</p>
            ) : (
              <SheetTable rows={shown} {...{ limits, medianOf }} actions={mayEdit ? actions : undefined} />
            )}
            <p className={ui['hint']}>
              {words.forecastText} {words.median.text}
            </p>
          </>
        )}
        <Selection
          budgets={shown.filter(({ key }) => selected.has(key)).map(({ budget }) => budget)}
          change={change}
          clear={() => setSelected(new Set())}
        />
      </div>
      {editing !== null && <BudgetDialog budget={editing} budgets={budgets} onClose={() => setEditing(null)} />}
    </Card>
  );
}

interface SheetTableProps extends Pick<SheetProps, 'limits' | 'medianOf'> {
  rows: readonly SheetRow[];
  actions: SheetActions | undefined;
}

/** The rows, one of which may be open to those of its values. */
function SheetTable({ rows, limits, medianOf, actions }: SheetTableProps) {
  const [opened, setOpened] = useState<string | null>(null);
  const open = rows.find(({ key }) => key === opened);
  const values = useValues(open, limits);
  return (
    <Table
      label={words.title}
      columns={sheetColumns({ rows, medianOf, actions, opened, open: setOpened })}
      rows={rows.flatMap((row) => (row === open ? [row, ...values] : [row]))}
      rowKey={({ key }) => key}
    />
  );
}

const MINUTE_MS = 60_000;

/**
 * The rows in their order, which follows the figures once a minute, and not while people select rows or type limits:
 * a row that moves is the wrong one under the pointer.
 */
function useOrdered(
  rows: readonly SheetRow[],
  sort: Sort,
  ledTo: string | undefined,
  { now, isHeld }: { now: number; isHeld: boolean },
): SheetRow[] {
  const [order, setOrder] = useState({ of: '', minute: 0, places: new Map<string, number>() });
  const of = `${sort} ${ledTo ?? ''} ${rows.length}`;
  const minute = Math.floor(now / MINUTE_MS);
  if (order.of !== of || (order.minute !== minute && !isHeld)) {
    setOrder({ of, minute, places: new Map(orderOf(rows, sort, ledTo).map((key, place) => [key, place])) });
  }
  const placeOf = ({ key }: SheetRow): number => order.places.get(key) ?? rows.length;
  return rows.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** The rows of all values of the opened budget; until they are loaded, those among all limits. */
function useValues(row: SheetRow | undefined, limits: readonly Api.Limit[]): SheetRow[] {
  const budget_id = row?.key ?? '';
  const all = useRead('GET /api/v1/limits', { query: { budget_id } }, { live: true, enabled: row !== undefined });
  if (row === undefined) return [];
  return valueRowsOf(row, all.data?.items ?? limits.filter((limit) => limit.budget_id === budget_id));
}

function Filters() {
  const { search, show } = useBudgetsSearch();
  return (
    <div className={ui['filters']}>
      <TextField
        label={words.search}
        type="search"
        value={search.find ?? ''}
        onChange={({ target }) => show({ find: target.value || undefined })}
      />
      <ChoiceField
        label={words.origin}
        value={search.origin ?? 'all'}
        options={(['all', ...ORIGINS] as const).map((each) => [each, text.budgets.origins[each]] as const)}
        onChange={(origin) => show({ origin: origin === 'all' ? undefined : origin })}
      />
      <ChoiceField
        label={words.sort}
        value={search.sort ?? 'risk'}
        options={SORTS.map((sort) => [sort, words.sorts[sort]] as const)}
        onChange={(sort) => show({ sort })}
      />
    </div>
  );
}

interface SelectionProps {
  /** In the order of the rows. */
  budgets: readonly Api.Budget[];
  change: ReturnType<typeof useLimitChanges>['change'];
  clear: () => void;
}

/** What can be done with the selected rows. A column that is pasted anywhere else than in a field is for them. */
function Selection({ budgets, change, clear }: SelectionProps) {
  const [pasted, setPasted] = useState<string | null>(null);
  const isSome = budgets.length > 0;
  const onPaste = useEffectEvent((event: ClipboardEvent) => {
    if (pasted !== null || (event.target as HTMLElement).matches('input:not([type="checkbox"]), textarea')) return;
    event.preventDefault();
    setPasted(event.clipboardData?.getData('text/plain') ?? '');
  });
  useEffect(() => {
    if (!isSome) return;
    const listener = (event: ClipboardEvent) => onPaste(event);
    document.addEventListener('paste', listener);
    return () => document.removeEventListener('paste', listener);
  }, [isSome]);
  if (!isSome) return null;
  return (
    <div className={ui['selection']}>
      <span role="status">{words.selected(budgets.length)}</span>
      <Button look="primary" onClick={() => setPasted('')}>
        {words.paste}
      </Button>
      <Button onClick={clear}>{words.clear}</Button>
      {pasted !== null && <PasteDialog {...{ budgets, pasted, change }} onClose={() => setPasted(null)} />}
    </div>
  );
}
