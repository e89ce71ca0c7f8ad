import type { GatewayEvent } from '@tollkeeper/contracts';
import { RANGE_KINDS } from '@tollkeeper/kernel';
import { withTransaction } from '@tollkeeper/mongo';
import type { Connection } from 'mongoose';
import { toDashboardEvent } from '../src/consumers/gateway-events.consumer.ts';
import { recordEvents } from '../src/domain/record-events.ts';
import { budgetBlocked, guardBlocked, KATHMANDU_TENANT, settled, type useDashboard } from './dashboard.stack.ts';
import { createEarlierCollections, createEarlierRecorder } from './earlier.recorder.ts';

type Dashboard = ReturnType<typeof useDashboard>;

/** The time that a dashboard of the suites has. */
const NOW = Date.parse('2026-11-21T18:34:56.789Z');
const MONTH_MS = 30 * 86_400_000;
const AGENTS = ['planner', 'coder', 'idle', 'rare'];
/** Undefined: that of the workspace. */
const ZONES = [undefined, 'America/St_Johns', 'UTC', 'Australia/Lord_Howe'];
const tenantId = KATHMANDU_TENANT;

/** Events of a month in the order of their times; each of a time of its own. */
const month = Array.from({ length: 2_000 }, (_, index): GatewayEvent => {
  const time = new Date(NOW - MONTH_MS + Math.floor((index * MONTH_MS) / 2_000) + (index % 7)).toISOString();
  const agent_id = index % 97 === 0 ? 'rare' : AGENTS[index % 3]!;
  const ids = { agent_id, run_id: `run-${Math.floor(index / 12) % 120}` };
  if (index % 11 === 3) return budgetBlocked(time, ids);
  if (index % 17 === 5) return guardBlocked(time, ids);
  if (index % 23 === 7) return { ...budgetBlocked(time), type: 'tool.called', data: ids };
  const spent = { input_tokens: index % 900, model: index % 5 === 0 ? undefined : `m${index % 4}`, provider: 'p' };
  return settled(time, 1 + ((index * 7_919) % 90_000), { ...ids, ...(spent.model === undefined ? {} : spent) });
});
/** What comes before an upgrade. Late ones are missing. */
export const before = month.filter((_, index) => index < 1_300 && index % 13 !== 0);
/** The last third; also late ones from everywhere, and some of the others again. */
export const after = [
  ...month.filter((_, index) => index >= 1_300 || index % 13 === 0),
  ...before.filter((_, index) => index % 5 === 0),
];

const PATHS = [
  ...['/overview', '/spend', '/spend/series', '/top-agents', '/budget-blocked?limit=7', '/guard-blocked'],
  ...['agent', 'model', 'plan'].map((by) => `/spend/breakdown?by=${by}`),
  ...[...AGENTS, 'nobody'].map((agent) => `/top-agents/details?agent_id=${agent}`),
  ...[0, 30, 100, 119].flatMap((run) =>
    ['budget', 'guard'].map((kind) => `/${kind}-blocked/details?run_id=run-${run}`),
  ),
  ...month
    .filter(({ type }) => type.endsWith('.blocked'))
    .filter((_, index) => index % 40 === 0)
    .map(({ type, id }) => `/${type.replace('.', '-')}/details?event_id=${id}`),
];

/** Makes a database as 0.1 left it. */
export async function recordEarlier(connection: Connection, events: readonly GatewayEvent[]): Promise<void> {
  await createEarlierCollections(connection);
  const earlier = createEarlierRecorder(connection);
  const receivedAt = new Date(NOW).toISOString();
  const recorded = events.map((event) => toDashboardEvent({ tenantId, receivedAt, event }));
  for (let at = 0; at < recorded.length; at += 300) {
    const batch = recorded.slice(at, at + 300);
    await withTransaction(connection, (session) => recordEvents(earlier, session, batch));
  }
}

/** The bodies of all drilldowns over all ranges, each in one of {@link ZONES}, by what was asked. */
export async function allAnswers({ get }: Dashboard): Promise<[asked: string, status: number, body: string][]> {
  const answers: [string, number, string][] = [];
  for (const path of PATHS) {
    for (const range of RANGE_KINDS) {
      const zone = ZONES[answers.length % ZONES.length];
      const asked = `${path}${path.includes('?') ? '&' : '?'}range=${range}${zone ? `&timezone=${zone}` : ''}`;
      const { status, text } = await get(tenantId, asked);
      // An error names its request.
      answers.push([asked, status, status === 200 ? text : '']);
    }
  }
  return answers;
}
