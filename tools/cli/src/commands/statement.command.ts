import type { Api } from '@tollkeeper/client';
import type { Command } from 'commander';
import { connect, type Globals } from '../connection.ts';
import { type Column, count, dollars, paint, print, printJson, table, timeIn } from '../output.ts';
import { action } from './command.ts';

/** The statement of a month. */
export function addStatementCommand(program: Command): void {
  program
    .command('statement')
    .description('show what a month cost, beside the month before, with budgets, raises and blocked calls')
    .option('--month <month>', 'such as 2026-11; the last month that has ended if left out')
    .action(action(show));
}

async function show(globals: Globals, { month }: { month?: string }): Promise<void> {
  const { api, slug } = await connect(globals);
  const query = month === undefined ? {} : { month };
  const answer = await api.call('GET /api/v1/dashboard/statement', { query });
  if (globals.output === 'json') return printJson(answer);
  const { total, window, complete } = answer;
  const time = timeIn(window.timezone);
  print(paint('dim', `${slug}, ${answer.month}: ${time(window.start)} to ${time(window.end)} (${window.timezone})`));
  if (!complete) print('The month is still running. It is compared with the same days of the month before.');
  const before = `${dollars(total.previous_micros)} the month before`;
  print(`${paint('bold', dollars(total.total_micros))} for ${count(total.unique_settlements)} calls, ${before}`);
  const { unpriced, unmetered } = total;
  if (unpriced.calls > 0) print(`${count(unpriced.calls)} calls without a price, which count as $0.00`);
  if (unmetered.calls > 0) print(`${count(unmetered.calls)} calls without tokens and cost are not included`);
  for (const each of answer.tables) section(spendRows(each), spendColumns(each.by), 'Nothing was spent.');
  section(answer.budgets.rows, BUDGETS, 'No budget is set.');
  section(answer.raises.rows, raiseColumns(time), 'No limit was raised.');
  section(reasonRows(answer), REASONS, 'No call was blocked.');
}

function section<Row>(rows: readonly Row[], columns: readonly Column<Row>[], none: string): void {
  print(`\n${table(rows, columns, none)}`);
}

interface SpendRow extends Pick<Api.StatementTable['rows'][number], 'total_micros' | 'previous_micros' | 'share_pct'> {
  name: string;
}

function spendRows({ rows, others }: Api.StatementTable): SpendRow[] {
  const named = rows.map(({ key, display_name, other, ...spend }) => {
    return { ...spend, name: display_name ?? key ?? (other ? '(other)' : '(none)') };
  });
  return others === null ? named : [...named, { ...others, name: '(others)' }];
}

function spendColumns(by: string): Column<SpendRow>[] {
  return [
    { title: by.toUpperCase(), cell: ({ name }) => name },
    { title: 'SPEND', cell: ({ total_micros }) => dollars(total_micros), right: true },
    { title: 'BEFORE', cell: ({ previous_micros }) => dollars(previous_micros), right: true },
    { title: 'SHARE', cell: ({ share_pct }) => `${share_pct}%`, right: true },
  ];
}

const BUDGETS: readonly Column<Api.StatementBudget>[] = [
  { title: 'BUDGET', cell: ({ budget_name }) => budget_name },
  { title: 'VALUE', cell: ({ value }) => value ?? '–' },
  { title: 'SPENT', cell: ({ spent_micros }) => dollars(spent_micros), right: true },
  { title: 'LIMIT', cell: ({ month_limit_micros }) => dollars(month_limit_micros), right: true },
  { title: 'USED', cell: ({ used_pct }) => (used_pct === null ? '–' : `${used_pct}%`), right: true },
];

function raiseColumns(time: (text: string) => string): readonly Column<Api.StatementRaise>[] {
  return [
    { title: 'RAISED', cell: ({ budget_name, value }) => (value === null ? budget_name : `${budget_name}: ${value}`) },
    { title: 'AMOUNT', cell: ({ extra_micros }) => dollars(extra_micros), right: true },
    { title: 'UNTIL', cell: ({ until }) => time(until) },
    { title: 'ASKED BY', cell: ({ asked_by }) => asked_by },
    { title: 'GRANTED BY', cell: ({ granted_by }) => granted_by },
  ];
}

interface ReasonRow {
  by: string;
  name: string;
  calls: number;
}

function reasonRows({ blocked: { reasons, others } }: Api.Statement): ReasonRow[] {
  return others.calls === 0 ? reasons : [...reasons, { by: '(others)', name: '', calls: others.calls }];
}

const REASONS: readonly Column<ReasonRow>[] = [
  { title: 'BLOCKED BY', cell: ({ by }) => by },
  { title: 'CALLS', cell: ({ calls }) => count(calls), right: true },
  { title: 'REASON', cell: ({ name }) => name },
];
