import { parseArgs } from 'node:util';
import type { DashboardService } from '@tollkeeper/dashboard';
import { markdownTable } from '@tollkeeper/testing/markdown-table';
import { loadInBulk } from './bulk.loader.ts';
import { measureConsumer } from './consumer.rate.ts';
import { startDashboardStack, type DashboardStack } from './dashboard.stack.ts';
import { LABELS } from './event.generator.ts';
import { type ExportRun, measureExports } from './export.rate.ts';
import { describeMachine } from './machine.ts';
import { percentile, whole } from './statistics.ts';
import { measureVisible } from './visible.latency.ts';

const { values } = parseArgs({
  options: {
    small: { type: 'string', default: '100000' },
    large: { type: 'string', default: '10000000' },
    queries: { type: 'string', default: '1000' },
    records: { type: 'string', default: '200000' },
    agents: { type: 'string', default: '50' },
    labels: { type: 'string', default: '0' },
    'random-ids': { type: 'boolean', default: false },
  },
});
const sizes = [Number(values.small), Number(values.large)];
const queries = Number(values.queries);
const records = Number(values.records);
const agents = Number(values.agents);
/** Labels of each event. They are tracked where queries are measured; the consumer is measured without and with it. */
const labels = Number(values.labels);

const PATHS = [
  'spend?',
  'spend/series?',
  'top-agents?',
  'top-agents/details?agent_id=agent-7&',
  ...(labels === 0 ? [] : ['spend/breakdown?by=label:team&', 'spend?label.team=team-1&']),
].map((question) => `/api/v1/dashboard/${question}range=3m`);
/** The consumer's own batch size, and a smaller one. */
const BATCHES = [5_000, 1_000];
const DAY_MS = 86_400_000;
const QUARTER_MS = 900_000;
const WARM_UP_QUERIES = 20;
const TRICKLE_PER_SECOND = 500;
const TRICKLE_SECONDS = 20;

/** A dashboard with a number of events, and its query times in milliseconds, by path. */
interface Sized {
  count: number;
  dashboard: DashboardService;
  /** Size on disk, including indexes. */
  bytes: number;
  times: Map<string, number[]>;
}

const stack = await startDashboardStack();
try {
  console.log(`## Dashboard\n\n${describeMachine()}`);
  await reportQueries(stack);
  await reportConsumer(stack);
  await reportVisible(stack);
} finally {
  await stack.stop();
}

async function reportQueries(stack: DashboardStack): Promise<void> {
  // The last second of a quarter of an hour is the most expensive time for queries: both ends of the window are read
  // from raw events.
  const now = Math.floor(Date.now() / QUARTER_MS) * QUARTER_MS - 1_000;
  await stack.track([stack.tenantId], Object.keys(LABELS).slice(0, labels));
  const sized: Sized[] = [];
  for (const count of sizes) sized.push(await openSized(stack, count, now));
  for (const { dashboard } of sized) await dashboard.start();
  let exported: ExportRun[] = [];
  try {
    for (const path of PATHS) await timeQueries(stack, sized, path);
    const { count, dashboard } = sized.at(-1)!;
    exported = await measureExports(stack, dashboard, { database: databaseOf(count), calls: count });
  } finally {
    for (const { dashboard } of sized) await dashboard.stop();
  }
  console.log(`- ${queries} requests of each kind and size over HTTP to the service, the sizes in turn, one at a time`);
  console.log(
    '- mongod 6.0 with 1 GB of cache; events written by the bulk path: the functions of the consumer, without log and transactions\n',
  );
  console.log(
    markdownTable(
      queryHead(),
      PATHS.map((path) => queryRow(path, sized)),
    ),
  );
  console.log('\nGoal: the ratio of the two sizes is at most 1.5.\n');
  for (const { count, bytes } of sized) {
    console.log(
      `- ${whole(count)} events take ${(bytes / count).toFixed(0)} bytes each, roll-ups and indexes included`,
    );
  }
  reportExports(exported);
}

function reportExports(runs: readonly ExportRun[]): void {
  const [baseline] = runs;
  console.log(`\nExports of ${whole(sizes.at(-1)!)} events over HTTP, client and service in one process:\n`);
  console.log(
    markdownTable(
      ['', 'events/s', 'CPU µs/event', 'of the baseline', 'MB', 'memory grew by, MB'],
      runs.map(({ what, eventsPerSecond, cpuMicros, bytes, peakBytes }) => [
        what,
        whole(eventsPerSecond),
        cpuMicros.toFixed(1),
        (cpuMicros / baseline!.cpuMicros).toFixed(2),
        whole(bytes / 1e6),
        whole(peakBytes / 1e6),
      ]),
    ),
  );
  console.log('\nGoal: 100,000 calls/s a core, so at most 10 µs.');
}

function databaseOf(count: number): string {
  return `dashboard_${count}`;
}

async function openSized(stack: DashboardStack, count: number, now: number): Promise<Sized> {
  const database = databaseOf(count);
  const startedAt = performance.now();
  let shown = 0;
  // A day more than the longest three months, so that the window's far end is full too.
  const traffic = { count, start: now - 93 * DAY_MS, end: now, agents, labels, randomIds: values['random-ids'] };
  await loadInBulk({ ...stack, database }, stack.tenantId, traffic, (loaded) => {
    if (loaded - shown < count / 20) return;
    shown = loaded;
    console.error(
      `${whole(loaded)} of ${whole(count)} events, ${whole(loaded / ((performance.now() - startedAt) / 1_000))}/s`,
    );
  });
  const eventLog = await stack.openLog(`log_${count}`);
  const dashboard = stack.createDashboard(database, eventLog, () => now);
  return { count, dashboard, bytes: await stack.storedBytes(database), times: new Map() };
}

async function timeQueries(stack: DashboardStack, sized: Sized[], path: string): Promise<void> {
  for (let query = -WARM_UP_QUERIES; query < queries; query += 1) {
    for (const { dashboard, times } of sized) {
      const ms = await stack.timeGet(dashboard, path);
      if (query >= 0) times.set(path, [...(times.get(path) ?? []), ms]);
    }
  }
}

function queryHead(): string[] {
  const [small, large] = sizes.map((count) => whole(count ?? 0));
  return [
    'GET, range=3m',
    `p50 ms, ${small}`,
    `p50 ms, ${large}`,
    'ratio',
    `p99 ms, ${small}`,
    `p99 ms, ${large}`,
    'ratio',
  ];
}

function queryRow(path: string, sized: Sized[]): string[] {
  const cells = [50, 99].flatMap((percent) => {
    const [small = NaN, large = NaN] = sized.map(({ times }) => percentile(times.get(path) ?? [], percent));
    return [small.toFixed(1), large.toFixed(1), (large / small).toFixed(2)];
  });
  return [path.replace('/api/v1/dashboard', '').replace(/[?&]range=3m/, ''), ...cells];
}

async function reportConsumer(stack: DashboardStack): Promise<void> {
  const { parsed, counted } = await measureConsumer(stack, { count: records, agents, labels, batches: BATCHES });
  console.log(
    `\n- ${whole(records)} events of 16 workspaces of ${whole(agents)} agents in one hour, in the log before the start; six partitions, one consumer process\n`,
  );
  console.log(
    markdownTable(
      ['consumer', 'events/s', 'of the bare consumer', 'µs of it', 'µs of mongod'],
      [
        ['bare consumer that parses', whole(parsed), '100 %', '', ''],
        ...counted.map(({ batch, tracked, eventsPerSecond, cpuMicros, mongodMicros }) => [
          `dashboard: decode, count exactly once, batches of ${whole(batch)}${tracked > 0 ? `, ${tracked} labels tracked` : ''}`,
          whole(eventsPerSecond),
          `${Math.round((eventsPerSecond / parsed) * 100)} %`,
          cpuMicros.toFixed(1),
          mongodMicros.toFixed(1),
        ]),
      ],
    ),
  );
}

async function reportVisible(stack: DashboardStack): Promise<void> {
  const milliseconds = await measureVisible(stack, TRICKLE_PER_SECOND, TRICKLE_SECONDS);
  const [p50, p99] = [50, 99].map((percent) => whole(percentile(milliseconds, percent)));
  console.log(
    `\n${TRICKLE_PER_SECOND} events/s, each appended alone: counted ${p50} ms after the append at p50, ${p99} ms at p99. Goal: 300 ms.`,
  );
}
