import type { Api } from '@tollkeeper/client';
import type { Command } from 'commander';
import { connect, type Globals } from '../connection.ts';
import { download } from '../download.ts';
import { EXIT, Failure } from '../failure.ts';
import { clean, type Column, count, dollars, paint, print, printJson, timeIn } from '../output.ts';
import { action, choice, listed, wholeNumber } from './command.ts';

const RANGES = [
  ...['15s', '30s', '1min', '5min', '10min', '15min', '30min', '45min', 'today', 'yesterday', '1m', '3m'],
  ...['current_month', 'last_week', 'last_month', 'last_quarter'],
];

const EXPORTS = ['csv', 'ndjson', 'focus'];

interface RangeOptions {
  range: string;
  from?: string;
  to?: string;
  limit: number;
}

/** What was spent, what was blocked, and what is left. */
export function addSpendCommands(program: Command): void {
  withRange(program.command('spend'), 20)
    .description('show what was spent, in total or by agent, model, plan or label')
    .option('--by <dimension>', 'agent, model, plan, or a tracked label such as label:team; call with --export')
    .addOption(choice('--export <format>', 'print a file of all days, groups or calls instead', EXPORTS))
    .option('--file <path>', 'write the exported file there instead of to standard output')
    .action(action(spend));
  withRange(program.command('top'), 100).description('show the agents that spent most').action(action(top));
  withRange(program.command('blocked'), 100)
    .description('show the calls that budgets and guards blocked, newest first')
    .option('--agent <agent_id>', 'only calls of this agent')
    .action(action(blocked));
  program
    .command('limits')
    .description('show how much of each budget is spent, held and left in its period')
    .option('--agent <agent_id>', 'only limits for all calls of this agent')
    .action(action(limits));
}

function withRange(command: Command, maxRows: number): Command {
  return command
    .addOption(choice('--range <range>', 'days are those of the workspace, or of --zone', RANGES).default('today'))
    .option('--from <time>', 'start, such as 2026-11-01T00:00:00Z, instead of --range')
    .option('--to <time>', 'end of the time that starts at --from; now if left out')
    .option('--limit <number>', 'the most rows', wholeNumber(1, maxRows), 10);
}

function rangeOf({ range, from, to }: RangeOptions, { zone, zoneGiven }: Globals) {
  return {
    ...(from === undefined ? { range } : { from }),
    ...(to !== undefined && { to }),
    ...(zoneGiven && { timezone: zone }),
  };
}

function windowText(slug: string, { kind, start, end }: Api.Window, { zone }: Globals): string {
  const time = timeIn(zone);
  return paint('dim', `${slug}, ${kind}: ${time(start)} to ${time(end)} (${zone})`);
}

interface SpendOptions extends RangeOptions {
  by?: string;
  export?: string;
  file?: string;
}

async function spend(globals: Globals, options: SpendOptions): Promise<void> {
  const { file, export: format } = options;
  if (file !== undefined && format === undefined) {
    throw new Failure('--file needs --export. Add `--export csv`, `ndjson` or `focus`.', EXIT.usage);
  }
  const connection = await connect(globals);
  const query = rangeOf(options, globals);
  if (format !== undefined) {
    const search = new URLSearchParams({ ...query, format });
    if (options.by !== undefined) search.set('group_by', options.by);
    return download(connection, `/api/v1/dashboard/export?${search.toString()}`, file);
  }
  const { api, slug } = connection;
  if (options.by === undefined) {
    const answer = await api.call('GET /api/v1/dashboard/spend', { query });
    if (globals.output === 'json') return printJson(answer);
    const { total_micros, unique_settlements, input_tokens, output_tokens, budget_used_pct } = answer.metrics;
    print(windowText(slug, answer.window, globals));
    print(`${paint('bold', dollars(total_micros))} for ${count(unique_settlements)} settled calls`);
    print(`${count(input_tokens)} tokens of input, ${count(output_tokens)} of output`);
    if (budget_used_pct > 0) print(`${budget_used_pct}% of the budget of the workspace`);
    const { calls } = answer.unpriced;
    if (calls > 0) print(paint('yellow', `${count(calls)} calls without a price, which count as $0.00`));
    return;
  }
  const { by, limit } = options;
  const answer = await api.call('GET /api/v1/dashboard/spend/breakdown', { query: { ...query, by, limit } });
  if (globals.output !== 'json') print(windowText(slug, answer.window, globals));
  const others = answer.others === null ? [] : [{ ...answer.others, key: `${answer.others.count} others` }];
  const columns: Column<Omit<Api.SpendBreakdown['groups'][number], 'other'>>[] = [
    { title: by.toUpperCase(), cell: ({ key, display_name }) => display_name ?? key ?? '(none)' },
    { title: 'SPEND', cell: ({ total_micros }) => dollars(total_micros), right: true },
    { title: 'SHARE', cell: ({ share_pct }) => `${share_pct}%`, right: true },
    { title: 'CALLS', cell: ({ unique_settlements }) => count(unique_settlements), right: true },
  ];
  listed(globals, answer, [...answer.groups, ...others], columns, 'Nothing was spent.');
}

async function top(globals: Globals, options: RangeOptions): Promise<void> {
  const { api, slug } = await connect(globals);
  const query = { ...rangeOf(options, globals), limit: options.limit };
  const answer = await api.call('GET /api/v1/dashboard/top-agents', { query });
  if (globals.output !== 'json') print(windowText(slug, answer.window, globals));
  const time = timeIn(globals.zone);
  listed(
    globals,
    answer,
    answer.items,
    [
      { title: 'AGENT', cell: ({ agent_id }) => agent_id },
      { title: 'NAME', cell: ({ display_name }) => display_name },
      { title: 'SPEND', cell: ({ total_micros }) => dollars(total_micros), right: true },
      { title: 'SHARE', cell: ({ share_pct }) => `${share_pct}%`, right: true },
      { title: 'CALLS', cell: ({ unique_settlements }) => count(unique_settlements), right: true },
      { title: 'BLOCKED', cell: (agent) => count(agent.budget_blocked + agent.guard_blocked), right: true },
      { title: 'LAST SEEN', cell: ({ last_seen_at }) => time(last_seen_at) },
    ],
    'No agent has made a call.',
  );
}

/** Why a call was blocked, for people. */
export const reasonOf = {
  budget: ({ budget_name, scope, requested_micros }: Api.BudgetBlocked) =>
    `${dollars(requested_micros)} did not fit in ${budget_name ?? `the daily budget of the ${scope}`}`,
  guard: ({ guard, reason }: Api.GuardBlocked) => `${guard}: ${reason}`,
};

async function blocked(globals: Globals, options: RangeOptions & { agent?: string }): Promise<void> {
  const { api, slug } = await connect(globals);
  const { agent, limit } = options;
  const query = { ...rangeOf(options, globals), limit, ...(agent !== undefined && { agent_id: agent }) };
  const [budget, guard] = await Promise.all([
    api.call('GET /api/v1/dashboard/budget-blocked', { query }),
    api.call('GET /api/v1/dashboard/guard-blocked', { query }),
  ]);
  const rows = [
    ...budget.items.map((call) => ({ ...call, by: 'budget', why: reasonOf.budget(call) })),
    ...guard.items.map((call) => ({ ...call, by: 'guard', why: reasonOf.guard(call) })),
  ].toSorted((a, b) => b.occurred_at.localeCompare(a.occurred_at));
  if (globals.output !== 'json') {
    print(windowText(slug, budget.window, globals));
    print(`${count(budget.total)} blocked by budgets, ${count(guard.total)} by guards`);
  }
  const time = timeIn(globals.zone);
  const columns: Column<(typeof rows)[number]>[] = [
    { title: 'TIME', cell: ({ occurred_at }) => time(occurred_at) },
    { title: 'BY', cell: ({ by }) => by },
    { title: 'AGENT', cell: ({ agent_id }) => agent_id },
    { title: 'MODEL', cell: ({ model }) => model ?? '–' },
    { title: 'WHY', cell: ({ why }) => why },
  ];
  listed(globals, { budget, guard }, rows.slice(0, limit), columns, 'No call was blocked.');
}

async function limits(globals: Globals, { agent }: { agent?: string }): Promise<void> {
  const { api } = await connect(globals);
  const query = agent === undefined ? {} : { agent_id: agent };
  const answer = await api.call('GET /api/v1/limits', { query });
  const used = ({ spent_micros, held_micros, limit_micros }: Api.Limit) =>
    limit_micros === 0 ? 100 : Math.floor(((spent_micros + held_micros) * 100) / limit_micros);
  const time = timeIn(globals.zone);
  const columns: Column<Api.Limit>[] = [
    { title: 'BUDGET', cell: ({ budget_name }) => clean(budget_name) },
    { title: 'VALUE', cell: ({ value }) => value ?? '–' },
    { title: 'PERIOD', cell: ({ period }) => period.kind },
    { title: 'SPENT', cell: ({ spent_micros }) => dollars(spent_micros), right: true },
    { title: 'HELD', cell: ({ held_micros }) => dollars(held_micros), right: true },
    { title: 'LIMIT', cell: ({ limit_micros }) => dollars(limit_micros), right: true },
    {
      ...{ title: 'USED', cell: (limit) => `${used(limit)}%`, right: true },
      style: (limit) => (used(limit) >= 100 ? 'red' : used(limit) >= 80 ? 'yellow' : null),
    },
    { title: 'LEFT', cell: ({ remaining_micros }) => dollars(remaining_micros), right: true },
    { title: 'RESETS', cell: ({ resets_at }) => time(resets_at) },
  ];
  listed(globals, answer, answer.items, columns, 'No budget is set. Create one in a file, or on the page Budgets.');
}
