import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { DashboardService } from '@tollkeeper/dashboard';
import { loadInBulk } from './bulk.loader.ts';
import { type DashboardStack, startDashboardStack } from './dashboard.stack.ts';
import { MODELS } from './event.generator.ts';
import { describeMachine } from './machine.ts';
import { percentile, whole } from './statistics.ts';

const { values } = parseArgs({ options: { calls: { type: 'string', default: '1000000' } } });
const calls = Number(values.calls);
const DAY_MS = 86_400_000;
const DAYS = 30;
const PATH = '/api/v1/prices:reprice';
const QUERY = '/api/v1/dashboard/spend?range=1m';
const QUERIES = 100;
/** Of a hundred generated events, so many are settlements. */
const SETTLED = 0.97;

interface Job {
  id: string;
  state: string;
  calls: number;
}

const stack = await startDashboardStack();
try {
  console.log(`## Pricing calls again\n\n${describeMachine()}\n`);
  const now = Date.now();
  const [database, count] = ['dashboard_repricing', Math.ceil(calls / SETTLED)];
  const traffic = { count, start: now - DAYS * DAY_MS, end: now, pricedBy: 'override' as const };
  const loadedAt = performance.now();
  await loadInBulk({ ...stack, database }, stack.tenantId, traffic);
  const loadSeconds = seconds(loadedAt);
  for (const model of MODELS) await stack.setPrice(model, 5_000_000);
  const dashboard = stack.createDashboard(database, await stack.openLog('log_repricing'));
  await dashboard.start();
  try {
    await report(stack, dashboard, { from: now - DAYS * DAY_MS, to: now, loadSeconds });
  } finally {
    await dashboard.stop();
  }
} finally {
  await stack.stop();
}

async function report(
  stack: DashboardStack,
  dashboard: DashboardService,
  { from, to, loadSeconds }: { from: number; to: number; loadSeconds: number },
): Promise<void> {
  const span = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
  const idle: number[] = [];
  for (let query = 0; query < QUERIES; query += 1) idle.push(await stack.timeGet(dashboard, QUERY));
  for (const dryRun of [true, false]) {
    const startedAt = performance.now();
    let job = await stack.send<Job>(dashboard, PATH, { ...span, dry_run: dryRun });
    const during: number[] = [];
    while (job.state === 'running') {
      await setTimeout(200);
      during.push(await stack.timeGet(dashboard, QUERY));
      job = await stack.send<Job>(dashboard, `${PATH}/jobs/${job.id}`);
    }
    const took = seconds(startedAt);
    const times = [idle, during].map((of) => [50, 99].map((percent) => percentile(of, percent).toFixed(1)).join(' / '));
    console.log(
      `- ${dryRun ? 'Dry run' : 'Corrected'}: ${whole(job.calls)} calls in ${took.toFixed(1)} s, ` +
        `${whole(job.calls / took)}/s: ${(took / loadSeconds).toFixed(2)} of the time to record them in bulk. ` +
        `GET spend, range=1m, p50 / p99: ${times[0]} ms before, ${times[1]} ms meanwhile`,
    );
  }
  console.log('\nGoal: a million calls in less than 60 s.');
}

function seconds(since: number): number {
  return (performance.now() - since) / 1_000;
}
