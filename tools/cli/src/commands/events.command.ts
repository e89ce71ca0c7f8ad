import { setTimeout as wait } from 'node:timers/promises';
import { type ManagementApi, TollkeeperError, TollkeeperUnavailable } from '@tollkeeper/client';
import type { Command } from 'commander';
import { connect, type Globals } from '../connection.ts';
import { clean, dollars, note, paint, print, timeIn } from '../output.ts';
import { action, wholeNumber } from './command.ts';
import { reasonOf } from './spend.commands.ts';

interface TailedEvent {
  id: string;
  type: 'settled' | 'blocked' | 'alert';
  at: string;
  agent_id: string | null;
  text: string;
}

const STYLES = { settled: 'green', blocked: 'red', alert: 'yellow' } as const;
const POLL_MS = 2_000;
/** The longest pause between two attempts while Tollkeeper is unreachable. */
const MAX_PAUSE_MS = 60_000;
/** How far before the last answer each poll looks, for events that arrive late. */
const OVERLAP_MS = 60_000;
/** A poll asks for the settlements of the agents that were seen last. */
const MAX_AGENTS = 20;
const MAX_REMEMBERED = 10_000;

export function addEventsCommand(program: Command): void {
  program
    .command('events')
    .description('follow what happens')
    .command('tail')
    .description('show settled calls, blocked calls and alerts as they happen, until Ctrl-C')
    .option('--count <number>', 'end after this many events', wholeNumber(1, 1_000_000))
    .action(action(tail));
}

async function tail(globals: Globals, { count: most }: { count?: number }): Promise<void> {
  const { api, slug } = await connect(globals);
  const time = timeIn(globals.zone);
  const seen = new Set<string>();
  let shown = 0;
  if (globals.output !== 'json') note(`Events of ${slug} from now on (${globals.zone}). Ctrl-C ends.`);
  let answeredAt = Date.now();
  const earlier = await readEvents(api, answeredAt);
  if (!earlier.withAlerts) note('Alerts are left out: only owners and admins may see them.');
  for (const { id } of earlier.events) seen.add(id);
  let failures = 0;
  for (;;) {
    await wait(Math.min(POLL_MS * 2 ** failures, MAX_PAUSE_MS));
    const askedAt = Date.now();
    const answer = await readEvents(api, answeredAt).catch(unlessItMayPass);
    if (answer instanceof TollkeeperError) {
      if (failures === 0) note(`${clean(answer.message)} Events continue when Tollkeeper answers again. Ctrl-C ends.`);
      failures += 1;
      continue;
    }
    if (failures > 0) note('Tollkeeper answers again.');
    failures = 0;
    answeredAt = askedAt;
    for (const event of answer.events) {
      if (seen.has(event.id)) continue;
      seen.add(event.id);
      if (globals.output === 'json') print(JSON.stringify(event));
      else print(`${time(event.at)}  ${paint(STYLES[event.type], event.type.padEnd(7))}  ${clean(event.text)}`);
      shown += 1;
      if (shown === most) return;
    }
    const [...remembered] = seen;
    for (const id of remembered.slice(0, Math.max(0, remembered.length - MAX_REMEMBERED))) seen.delete(id);
  }
}

/** Returns an error after which a later poll may succeed, and throws others. */
function unlessItMayPass(error: unknown): TollkeeperError {
  if (error instanceof TollkeeperUnavailable || (error instanceof TollkeeperError && error.status === 429))
    return error;
  throw error;
}

/** What happened since the last answer and in the minute before, oldest first; without alerts for members. */
async function readEvents(
  api: ManagementApi,
  answeredAt: number,
): Promise<{ events: TailedEvent[]; withAlerts: boolean }> {
  const from = new Date(answeredAt - OVERLAP_MS).toISOString();
  const query = { from, limit: 100 };
  const [budget, guard, alerts, settled] = await Promise.all([
    api.call('GET /api/v1/dashboard/budget-blocked', { query }),
    api.call('GET /api/v1/dashboard/guard-blocked', { query }),
    api.call('GET /api/v1/alerts', { query }).catch(unlessForbidden),
    readSettlements(api, from),
  ]);
  const blockedBy = <T extends { event_id: string; occurred_at: string; agent_id: string }>(
    calls: T[],
    why: (call: T) => string,
  ) =>
    calls.map((call): TailedEvent => {
      const { event_id: id, occurred_at: at, agent_id } = call;
      return { id, type: 'blocked', at, agent_id, text: `${agent_id}: ${why(call)}` };
    });
  const fired = (alerts?.items ?? []).map(({ id, triggered_at: at, rule_name, severity }): TailedEvent => {
    return { id, type: 'alert', at, agent_id: null, text: `${rule_name} (${severity})` };
  });
  const events = [
    ...[...settled, ...blockedBy(budget.items, reasonOf.budget), ...blockedBy(guard.items, reasonOf.guard), ...fired],
  ].toSorted((a, b) => a.at.localeCompare(b.at));
  return { events, withAlerts: alerts !== null };
}

function unlessForbidden(error: unknown): null {
  if (error instanceof TollkeeperError && error.code === 'forbidden') return null;
  throw error;
}

async function readSettlements(api: ManagementApi, from: string): Promise<TailedEvent[]> {
  const { items } = await api.call('GET /api/v1/dashboard/top-agents', { query: { from, limit: 100 } });
  const active = items.toSorted((a, b) => b.last_seen_at.localeCompare(a.last_seen_at)).slice(0, MAX_AGENTS);
  const details = await Promise.all(
    active.map(({ agent_id }) => api.call('GET /api/v1/dashboard/top-agents/details', { query: { from, agent_id } })),
  );
  return details
    .flatMap(({ recent }) => recent)
    .map(({ event_id: id, occurred_at: at, agent_id, amount_micros, model }): TailedEvent => {
      const text = `${agent_id}: ${dollars(amount_micros)}${model === undefined ? '' : ` for ${model}`}`;
      return { id, type: 'settled', at, agent_id, text };
    });
}
