import type { Api } from '@tollkeeper/client';
import type { Command } from 'commander';
import { connect, type Globals } from '../connection.ts';
import { type Column, dollars, timeIn } from '../output.ts';
import { action, amount, choice, done, listed, milliseconds } from './command.ts';

const STATES = ['requested', 'active', 'declined', 'ended', 'expired'] as const;

/** Raises limits for a time, and asks for it. */
export function addRaiseCommands(program: Command): void {
  const raises = program.command('raises').description('list raises of limits, ask for them and decide requests');
  raises
    .command('list')
    .description('list raises and requests, newest first')
    .addOption(choice('--state <state>', 'only those in this state', STATES))
    .action(action(list));
  raises
    .command('ask')
    .argument('<budget_id>', 'such as bud_workspace or bud_agent.night-shift; a blocked call names it')
    .description('ask owners to raise a limit; for owners, raise it at once')
    .requiredOption('--extra <usd>', 'US dollars to add to the limit', amount)
    .requiredOption('--for <duration>', 'such as 30m, 8h or 7d; 31 days at most', milliseconds)
    .requiredOption('--reason <text>', 'why; owners read it')
    .option('--value <value>', 'whose limit it is, of a budget with a limit for each value')
    .action(action(ask));
  raises
    .command('approve')
    .argument('<raise_id>')
    .description('grant a request')
    .option('--extra <usd>', 'another amount than was asked for', amount)
    .option('--for <duration>', 'another time than was asked for, from now on', milliseconds)
    .action(action(approve));
  raises
    .command('decline')
    .argument('<raise_id>')
    .description('decline a request')
    .requiredOption('--reason <text>', 'why; the asker reads it')
    .action(action(decline));
  raises.command('end').argument('<raise_id>').description('end a raise before its time').action(action(end));
}

function limitOf({ budget_name, value }: Api.Raise): string {
  return value === null ? budget_name : `${budget_name} for ${value}`;
}

async function list(globals: Globals, { state }: { state?: Api.Raise['state'] }): Promise<void> {
  const { api } = await connect(globals);
  const query = { limit: 100, ...(state !== undefined && { state }) };
  const answer = await api.call('GET /api/v1/raises', { query });
  const time = timeIn(globals.zone);
  const columns: Column<Api.Raise>[] = [
    { title: 'ID', cell: ({ id }) => id },
    { title: 'STATE', cell: (raise) => raise.state },
    { title: 'LIMIT', cell: limitOf },
    { title: 'EXTRA', cell: ({ extra_micros }) => dollars(extra_micros) },
    { title: 'UNTIL', cell: ({ until }) => time(until) },
    { title: 'ASKED BY', cell: ({ asked_by }) => asked_by.name },
    { title: 'REASON', cell: ({ reason }) => reason },
  ];
  listed(globals, answer, answer.items, columns, 'There are no raises.');
}

interface Asked {
  extra: number;
  for: number;
  reason: string;
  value?: string;
}

async function ask(globals: Globals, asked: Asked, budgetId: string): Promise<void> {
  const { api } = await connect(globals);
  const { extra, reason, value } = asked;
  const body = { budget_id: budgetId, extra_micros: extra, until: inMilliseconds(asked.for), reason };
  const raise = await api.call('POST /api/v1/raises', { body: { ...body, ...(value !== undefined && { value }) } });
  const isRequest = raise.state === 'requested';
  done(globals, raise, isRequest ? `Owners are asked to approve ${raise.id}.` : raisedSentence(globals, raise));
}

async function approve(globals: Globals, changed: Partial<Pick<Asked, 'extra' | 'for'>>, id: string): Promise<void> {
  const { api } = await connect(globals);
  const body = {
    ...(changed.extra !== undefined && { extra_micros: changed.extra }),
    ...(changed.for !== undefined && { until: inMilliseconds(changed.for) }),
  };
  const raise = await api.call('POST /api/v1/raises/{raise_id}:approve', { path: { raise_id: id }, body });
  done(globals, raise, raisedSentence(globals, raise));
}

async function decline(globals: Globals, body: { reason: string }, id: string): Promise<void> {
  const { api } = await connect(globals);
  const raise = await api.call('POST /api/v1/raises/{raise_id}:decline', { path: { raise_id: id }, body });
  done(globals, raise, `${raise.id} is declined.`);
}

async function end(globals: Globals, _options: unknown, id: string): Promise<void> {
  const { api } = await connect(globals);
  const raise = await api.call('POST /api/v1/raises/{raise_id}:end', { path: { raise_id: id } });
  done(globals, raise, `${limitOf(raise)} has its own limit again.`);
}

function raisedSentence({ zone }: Globals, raise: Api.Raise): string {
  return `${limitOf(raise)} may spend ${dollars(raise.extra_micros)} more until ${timeIn(zone)(raise.until)}.`;
}

function inMilliseconds(duration: number): string {
  return new Date(Date.now() + duration).toISOString();
}
