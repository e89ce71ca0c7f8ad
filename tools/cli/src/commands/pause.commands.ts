import type { Api } from '@tollkeeper/client';
import { type Command, InvalidArgumentError } from 'commander';
import { connect, type Globals } from '../connection.ts';
import { Failure } from '../failure.ts';
import { type Column, timeIn } from '../output.ts';
import { action, done, listed, milliseconds } from './command.ts';

type Paused = Pick<Api.Pause, 'scope' | 'value'>;

/** Blocks the calls of an agent, a key or a label for a time. */
export function addPauseCommands(program: Command): void {
  const pauses = program.command('pauses').description('list, create and end pauses of calls');
  const what = 'agent:<agent_id>, key:<key_id> or label:<name>=<value>';
  pauses.command('list').description('list what is paused').action(action(list));
  pauses
    .command('create')
    .argument('<what>', what, pausedOf)
    .description('block calls within 2 seconds; what is paused already gets the new time and reason')
    .requiredOption('--reason <text>', 'why; callers that are blocked read it')
    .option('--for <duration>', 'such as 30m, 8h or 7d; without it, 31 days', milliseconds)
    .action(action(create));
  pauses.command('end').argument('<what>', `${what}, or the id of a pause`).action(action(end));
}

/** Reads `agent:research`, `key:…` and `label:team=growth`. */
function pausedOf(text: string): Paused {
  const [, scope, label, value] = /^(?:(agent|key):|(label:[^=]+)=)(.+)$/s.exec(text) ?? [];
  const paused = scope ?? label;
  if (paused !== undefined && value !== undefined) return { scope: paused, value };
  throw new InvalidArgumentError('It must be agent:<agent_id>, key:<key_id> or label:<name>=<value>.');
}

/** As it is written on the command line. */
function textOf({ scope, value }: Paused): string {
  return `${scope}${scope.startsWith('label:') ? '=' : ':'}${value}`;
}

async function list(globals: Globals): Promise<void> {
  const { api } = await connect(globals);
  const answer = await api.call('GET /api/v1/pauses');
  const time = timeIn(globals.zone);
  const columns: Column<Api.Pause>[] = [
    { title: 'ID', cell: ({ id }) => id },
    { title: 'PAUSED', cell: textOf },
    { title: 'UNTIL', cell: ({ until }) => time(until) },
    { title: 'BY', cell: ({ paused_by }) => paused_by.name },
    { title: 'REASON', cell: ({ reason }) => reason },
  ];
  listed(globals, answer, answer.items, columns, 'Nothing is paused.');
}

async function create(globals: Globals, asked: { reason: string; for?: number }, paused: Paused): Promise<void> {
  const { api } = await connect(globals);
  const until = asked.for === undefined ? {} : { until: new Date(Date.now() + asked.for).toISOString() };
  const answer = await api.call('POST /api/v1/pauses', { body: { ...paused, reason: asked.reason, ...until } });
  done(globals, answer, `${textOf(answer)} is paused until ${timeIn(globals.zone)(answer.until)}.`);
}

async function end(globals: Globals, _options: unknown, what: string): Promise<void> {
  const { api } = await connect(globals);
  const { items } = await api.call('GET /api/v1/pauses');
  const pause = items.find((each) => each.id === what || textOf(each) === what);
  if (pause === undefined) throw new Failure(`${what} is not paused. \`tollkeeper pauses list\` lists what is.`);
  await api.call('DELETE /api/v1/pauses/{pause_id}', { path: { pause_id: pause.id } });
  done(globals, pause, `${textOf(pause)} is resumed.`);
}
