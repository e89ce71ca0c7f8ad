import type { Api } from '@tollkeeper/client';
import type { Command } from 'commander';
import { apiOf, connect, findWorkspace, type Globals, type WorkspaceConnection } from '../connection.ts';
import { EXIT, Failure } from '../failure.ts';
import { ROLES } from '../files/document.ts';
import { allPages } from '../kinds/kind.ts';
import { type Column, dollars, note, print, printJson, timeIn } from '../output.ts';
import { requireSession } from '../session.file.ts';
import { action, amount, choice, done, listed, wholeNumber } from './command.ts';
import { addPauseCommands } from './pause.commands.ts';
import { addRaiseCommands } from './raise.commands.ts';
import { addSilenceCommands } from './silence.commands.ts';

const KEY_ROLES = ['read_only', 'developer', 'admin'] as const;
const STATUSES = ['firing', 'acknowledged', 'resolved'] as const;

/** What a workspace has, and single changes of it. Larger ones are made by files. */
export function addWorkspaceCommands(program: Command): void {
  const budgets = program.command('budgets').description('show and change budgets');
  budgets.command('get [name]').description('list budgets, or those of a name or id').action(action(getBudgets));
  budgets
    .command('set <budget>')
    .description('change a budget: its name or id, workspace, agent:<agent_id> or plan:<plan_key>')
    .option('--limit <usd>', 'US dollars', amount)
    .option('--remove-limit', 'remove the daily budget of the workspace or of an agent')
    .action(action(setBudget));

  program.command('agents').description('list agents').action(action(listAgents));
  program.command('rules').description('list alert rules').action(action(listRules));

  const alerts = program.command('alerts').description('list, acknowledge and resolve alerts');
  alerts
    .command('list')
    .description('list alerts, newest first')
    .addOption(choice('--status <status>', 'only alerts with this status', STATUSES))
    .option('--limit <number>', 'the most rows', wholeNumber(1, 200), 20)
    .action(action(listAlerts));
  alerts
    .command('ack <id...>')
    .description('acknowledge alerts')
    .action(action(changeAlerts('acknowledge')));
  alerts
    .command('resolve <id...>')
    .description('resolve alerts')
    .action(action(changeAlerts('resolve')));

  addSilenceCommands(program);
  const channels = program.command('channels').description('list and test notification channels');
  channels.command('list').description('list channels').action(action(listChannels));
  channels.command('test <channel>').description('send a test to a channel, by name or id').action(action(testChannel));

  const keys = program.command('keys').description('list, create and revoke workspace keys');
  keys.command('list').description('list keys, newest first').action(action(listKeys));
  keys
    .command('create <name>')
    .description('create a key, and print it; it is not shown again')
    .addOption(choice('--role <role>', 'what the key may do', KEY_ROLES).makeOptionMandatory())
    .action(action(createKey));
  keys.command('revoke <id>').description('revoke a key permanently, within 5 seconds').action(action(revokeKey));

  const members = program.command('members').description('list and invite members');
  members.command('list').description('list members').action(action(listMembers));
  members
    .command('invite <email>')
    .description('invite someone, and print the link to share with them')
    .addOption(choice('--role <role>', 'what they may do', ROLES).makeOptionMandatory())
    .action(action(invite));

  addPauseCommands(program);
  addRaiseCommands(program);

  program
    .command('audit')
    .description('show who changed what, newest first')
    .option('--actor <id>', 'only changes by this actor')
    .option('--action <action>', 'only this action, such as budget.update')
    .option('--from <time>', 'only records of this time or later')
    .option('--to <time>', 'only records before this time')
    .option('--limit <number>', 'the most rows', wholeNumber(1, 100), 20)
    .action(action(audit));
}

function readBudgets({ api }: WorkspaceConnection): Promise<Api.Budget[]> {
  return allPages((cursor) =>
    api.call('GET /api/v1/budgets', { query: { limit: 100, ...(cursor !== undefined && { cursor }) } }),
  );
}

async function getBudgets(globals: Globals, _options: unknown, name?: string): Promise<void> {
  const all = await readBudgets(await connect(globals));
  const items = name === undefined ? all : all.filter((budget) => isNamed(budget, name));
  if (name !== undefined && items.length === 0) throw unknown('budget', name, 'budgets get');
  const columns: Column<Api.Budget>[] = [
    { title: 'ID', cell: ({ id }) => id },
    { title: 'NAME', cell: (budget) => budget.name },
    { title: 'LIMIT', cell: ({ limit_micros }) => dollars(limit_micros), right: true },
    { title: 'PERIOD', cell: ({ period }) => period.kind },
    { title: 'EACH', cell: ({ each }) => each ?? '–' },
    { title: 'ACTION', cell: (budget) => budget.action },
    { title: 'STATE', cell: ({ is_active }) => (is_active ? 'active' : 'off') },
  ];
  listed(globals, { items }, items, columns, 'No budgets. Create some with `tollkeeper apply`.');
}

const DAILY = /^(agent|plan):/;

function isNamed({ id, name }: Api.Budget, text: string): boolean {
  return (
    [id, name].includes(text) || id === (text === 'workspace' ? 'bud_workspace' : `bud_${text.replace(DAILY, '$1.')}`)
  );
}

interface SetOptions {
  limit?: number;
  removeLimit?: true;
}

async function setBudget(globals: Globals, { limit, removeLimit }: SetOptions, name: string): Promise<void> {
  if ((limit === undefined) === (removeLimit === undefined)) {
    throw new Failure('Give one of --limit <usd> and --remove-limit.', EXIT.usage);
  }
  const connection = await connect(globals);
  const { api, slug } = connection;
  const [, agent_id] = /^agent:(.+)$/.exec(name) ?? [];
  if (name === 'workspace' || agent_id !== undefined) {
    const account = await apiOf(await requireSession()).call('GET /api/v1/auth/me');
    const path = { tenant_id: findWorkspace(account, slug).id };
    const body = { daily_budget_usd_micros: limit ?? null };
    const answer =
      agent_id === undefined
        ? await api.call('PUT /api/v1/workspaces/{tenant_id}/budgets/workspace', { path, body })
        : await api.call('PUT /api/v1/workspaces/{tenant_id}/budgets/agents/{agent_id}', {
            ...{ path: { ...path, agent_id }, body },
          });
    return done(globals, answer, `The daily budget of ${name} is ${limit === undefined ? 'removed' : dollars(limit)}.`);
  }
  if (limit === undefined) {
    throw new Failure(
      `--remove-limit: ${name} must be workspace or agent:<agent_id>. Remove others by a file.`,
      EXIT.usage,
    );
  }
  const budget = single(await readBudgets(connection), (each) => isNamed(each, name), 'budget', name, 'budgets get');
  const path = { budget_id: budget.id };
  const answer = await api.call('PATCH /api/v1/budgets/{budget_id}', { path, body: { limit_micros: limit } });
  done(globals, answer, `The limit of ${answer.name} is ${dollars(answer.limit_micros)}.`);
}

async function listAgents(globals: Globals): Promise<void> {
  const { api } = await connect(globals);
  const items = await allPages((cursor) =>
    api.call('GET /api/v1/agents', { query: cursor === undefined ? {} : { cursor } }),
  );
  const columns: Column<Api.Agent>[] = [
    { title: 'AGENT', cell: ({ agent_id }) => agent_id },
    { title: 'NAME', cell: ({ display_name }) => display_name },
    { title: 'LABELS', cell: ({ labels }) => pairs(labels) },
  ];
  listed(globals, { items }, items, columns, 'No agents. They appear after their first event.');
}

async function listRules(globals: Globals): Promise<void> {
  const { api } = await connect(globals);
  const answer = await api.call('GET /api/v1/alerts/rules');
  const time = timeIn(globals.zone);
  const columns: Column<Api.AlertRule>[] = [
    { title: 'ID', cell: ({ id }) => id },
    { title: 'NAME', cell: ({ name }) => name },
    { title: 'SEVERITY', cell: ({ severity }) => severity },
    { title: 'KIND', cell: ({ rule_kind }) => rule_kind },
    { title: 'STATE', cell: ({ enabled }) => (enabled ? 'active' : 'paused') },
    { title: 'LAST FIRED', cell: ({ last_fired_at }) => time(last_fired_at) },
  ];
  listed(globals, answer, answer.items, columns, 'No rules. Create some with `tollkeeper apply`.');
}

type AlertOptions = { limit: number; status?: Api.Alert['status'] };

async function listAlerts(globals: Globals, { limit, status }: AlertOptions): Promise<void> {
  const { api } = await connect(globals);
  const answer = await api.call('GET /api/v1/alerts', { query: { limit, ...(status !== undefined && { status }) } });
  const time = timeIn(globals.zone);
  const columns: Column<Api.Alert>[] = [
    { title: 'ID', cell: ({ id }) => id },
    { title: 'TIME', cell: ({ triggered_at }) => time(triggered_at) },
    { title: 'RULE', cell: ({ rule_name }) => rule_name },
    { title: 'SEVERITY', cell: ({ severity }) => severity },
    { title: 'STATUS', cell: (alert) => alert.status, style: (alert) => (alert.status === 'firing' ? 'red' : null) },
    { title: 'EVENTS', cell: ({ event_count }) => String(event_count), right: true },
  ];
  listed(globals, answer, answer.items, columns, 'No alerts.');
}

function changeAlerts(change: 'acknowledge' | 'resolve') {
  return async (globals: Globals, _options: unknown, ids: string[]): Promise<void> => {
    const { api } = await connect(globals);
    const items: Api.Alert[] = [];
    for (const alert_id of ids)
      items.push(await api.call(`POST /api/v1/alerts/{alert_id}:${change}`, { path: { alert_id } }));
    done(globals, { items }, items.map(({ id, status }) => `${id} is ${status}.`).join('\n'));
  };
}

async function listChannels(globals: Globals): Promise<void> {
  const { api } = await connect(globals);
  const answer = await api.call('GET /api/v1/alerts/channels');
  const columns: Column<Api.AlertChannel>[] = [
    { title: 'ID', cell: ({ id }) => id },
    { title: 'NAME', cell: ({ name }) => name ?? '–' },
    { title: 'TYPE', cell: ({ channel_type }) => channel_type },
    { title: 'STATE', cell: ({ enabled }) => (enabled ? 'active' : 'off') },
  ];
  listed(globals, answer, answer.items, columns, 'No channels. Create some with `tollkeeper apply`.');
}

async function testChannel(globals: Globals, _options: unknown, name: string): Promise<void> {
  const { api } = await connect(globals);
  const { items } = await api.call('GET /api/v1/alerts/channels');
  const channel = single(items, (each) => [each.id, each.name].includes(name), 'channel', name, 'channels list');
  const path = { channel_id: channel.id };
  const answer = await api.call('POST /api/v1/alerts/channels/{channel_id}/test', { path });
  const { ResponseStatus: status, ResponseSnippet: snippet } = answer;
  if (status < 200 || status > 299) throw new Failure(`The destination of ${name} answered ${status}: ${snippet}`);
  done(globals, answer, `The destination of ${name} answered ${status}.`);
}

async function listKeys(globals: Globals): Promise<void> {
  const { api } = await connect(globals);
  const answer = await api.call('GET /api/v1/management/workspace-keys');
  const time = timeIn(globals.zone);
  const columns: Column<Api.WorkspaceKey>[] = [
    { title: 'ID', cell: ({ id }) => id },
    { title: 'NAME', cell: ({ name }) => name },
    { title: 'ROLE', cell: ({ role }) => role },
    { title: 'LABELS', cell: ({ labels }) => pairs(labels) },
    { title: 'LAST USED', cell: ({ last_used_at }) => time(last_used_at) },
    { title: 'REVOKED', cell: ({ revoked_at }) => time(revoked_at) },
  ];
  listed(globals, answer, answer.items, columns, 'No keys. Create one with `tollkeeper keys create`.');
}

async function createKey(globals: Globals, { role }: { role: Api.WorkspaceKey['role'] }, name: string): Promise<void> {
  const { api } = await connect(globals);
  const answer = await api.call('POST /api/v1/management/workspace-keys', { body: { name, role } });
  if (globals.output === 'json') return printJson(answer);
  note(`Key ${answer.id} created. Store it now: it is not shown again.`);
  print(answer.api_key);
}

async function revokeKey(globals: Globals, _options: unknown, id: string): Promise<void> {
  const { api } = await connect(globals);
  const answer = await api.call('POST /api/v1/management/workspace-keys/{id}:revoke', { path: { id } });
  done(globals, answer, `Key ${id} is revoked. Requests with it are refused within 5 seconds.`);
}

async function listMembers(globals: Globals): Promise<void> {
  const { api } = await connect(globals);
  const answer = await api.call('GET /api/v1/members');
  const columns: Column<Api.Member>[] = [
    { title: 'E-MAIL', cell: ({ email }) => email },
    { title: 'NAME', cell: ({ name }) => name },
    { title: 'ROLE', cell: ({ role }) => role },
    { title: 'SOURCE', cell: ({ source }) => source },
  ];
  listed(globals, answer, answer.items, columns, '');
}

async function invite(globals: Globals, { role }: { role: Api.Member['role'] }, email: string): Promise<void> {
  const { api } = await connect(globals);
  const answer = await api.call('POST /api/v1/invitations', { body: { email, role } });
  if (globals.output === 'json') return printJson(answer);
  note(`${answer.mailed ? 'Sent by e-mail, too. ' : ''}Share this link with ${email}; it is valid once within 7 days:`);
  print(answer.url);
}

interface AuditOptions {
  limit: number;
  actor?: string;
  action?: string;
  from?: string;
  to?: string;
}

async function audit(globals: Globals, query: AuditOptions): Promise<void> {
  const { api } = await connect(globals);
  const answer = await api.call('GET /api/v1/audit', { query });
  // With `format=ndjson`, which is not asked for, it is a single record.
  if (!('items' in answer)) throw new Failure('The answer is no list of records. Check the address of Tollkeeper.');
  const time = timeIn(globals.zone);
  const columns: Column<Api.AuditRecord>[] = [
    { title: 'TIME', cell: ({ occurred_at }) => time(occurred_at) },
    { title: 'ACTOR', cell: ({ actor }) => actor.name || actor.id },
    { title: 'ACTION', cell: (record) => record.action },
    { title: 'TARGET', cell: ({ target }) => target.name || target.id },
    { title: 'CHANGED', cell: ({ changes }) => changes.map(({ field }) => field).join(', ') },
  ];
  listed(globals, answer, answer.items, columns, 'No records.');
}

/** The one of this name or id. */
function single<T>(all: readonly T[], isMeant: (each: T) => boolean, noun: string, name: string, list: string): T {
  const found = all.filter(isMeant);
  const [first] = found;
  if (first === undefined) throw unknown(noun, name, list);
  if (found.length === 1) return first;
  throw new Failure(`Several have the name ${name}. Give the id, which \`tollkeeper ${list}\` shows.`, EXIT.usage);
}

function unknown(noun: string, name: string, list: string): Failure {
  return new Failure(`There is no ${noun} named ${name}. \`tollkeeper ${list}\` lists them.`);
}

function pairs(labels: Record<string, string>): string {
  const all = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return all.join(' ') || '–';
}
