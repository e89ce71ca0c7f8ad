import type { Api } from '@tollkeeper/client';
import { type Command, InvalidArgumentError } from 'commander';
import { connect, type Globals } from '../connection.ts';
import { Failure } from '../failure.ts';
import { MATCHER, MATCHER_HELP, matcherText, toMatcher } from '../matcher.ts';
import { type Column, timeIn } from '../output.ts';
import { action, done, listed, milliseconds } from './command.ts';

/** Holds the messages of alerts back for a time. */
export function addSilenceCommands(program: Command): void {
  const silences = program.command('silences').description('list, create and end silences of alerts');
  silences
    .command('list')
    .description('list silences, newest first')
    .option('--all', 'also those that have ended')
    .action(action(list));
  silences
    .command('create')
    .argument('<matcher...>', `the alerts that fit all of them: ${MATCHER_HELP}`, matchers)
    .description('hold back the messages of alerts that fire from now on, until the silence ends')
    .requiredOption('--reason <text>', 'why; it is shown with each message that is held back')
    .requiredOption('--for <duration>', 'such as 30m, 8h or 7d', milliseconds)
    .action(action(create));
  silences.command('end').argument('<id>', 'the id of a silence').action(action(end));
}

function matchers(text: string, before: string[] = []): string[] {
  if (MATCHER.test(text)) return [...before, text];
  throw new InvalidArgumentError(`It must be a field, = or != and a value, ${MATCHER_HELP}.`);
}

async function list(globals: Globals, { all }: { all?: boolean }): Promise<void> {
  const { api } = await connect(globals);
  const answer = await api.call('GET /api/v1/alerts/silences');
  const time = timeIn(globals.zone);
  const columns: Column<Api.AlertSilence>[] = [
    { title: 'ID', cell: ({ id }) => id },
    { title: 'STATE', cell: ({ state }) => state },
    { title: 'ALERTS', cell: ({ matchers: made }) => made.map(matcherText).join(', ') || 'all' },
    { title: 'FROM', cell: ({ starts_at }) => time(starts_at) },
    { title: 'TO', cell: ({ ends_at }) => time(ends_at) },
    { title: 'BY', cell: ({ created_by }) => created_by.name },
    { title: 'REASON', cell: ({ reason }) => reason },
  ];
  const shown = answer.items.filter(({ state }) => all === true || state !== 'expired');
  listed(globals, { items: shown }, shown, columns, 'No alert is silenced.');
}

async function create(globals: Globals, asked: { reason: string; for: number }, given: string[]): Promise<void> {
  const { api } = await connect(globals);
  const body = {
    ...{ matchers: given.map(toMatcher), reason: asked.reason },
    ends_at: new Date(Date.now() + asked.for).toISOString(),
  };
  const answer = await api.call('POST /api/v1/alerts/silences', { body });
  done(globals, answer, `${answer.id} silences ${given.join(', ')} until ${timeIn(globals.zone)(answer.ends_at)}.`);
}

async function end(globals: Globals, _options: unknown, silence_id: string): Promise<void> {
  const { api } = await connect(globals);
  const { items } = await api.call('GET /api/v1/alerts/silences');
  if (!items.some(({ id }) => id === silence_id)) {
    throw new Failure(`${silence_id} is not the id of a silence. \`tollkeeper silences list\` lists them.`);
  }
  const answer = await api.call('POST /api/v1/alerts/silences/{silence_id}:end', { path: { silence_id } });
  done(globals, answer, `${silence_id} has ended. What it held back is sent.`);
}
