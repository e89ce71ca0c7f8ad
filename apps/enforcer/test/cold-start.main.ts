// `npm run bench:cold-start`: how long a replica takes for the first answer of a workspace with very many open
// reservations, with daily limits alone and with 200 budgets, and what it takes to begin budgets beside them.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedMongo } from '@tollkeeper/embedded-mongo';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { connectMongo } from '@tollkeeper/mongo';
import { createLogger, createMetrics } from '@tollkeeper/runtime';
import { markdownTable } from '@tollkeeper/testing/markdown-table';
import { type ActiveBudget, type ActiveBudgets, createActiveBudgets } from '../src/domain/active.budgets.ts';
import type { AccountKey, Op } from '../src/domain/journal.ts';
import { applyOp } from '../src/domain/ledger.ts';
import { createLedger, type LedgerState } from '../src/domain/ledger.state.ts';
import { reserve } from '../src/domain/reserve.ts';
import { createLedgerMetrics } from '../src/ledger/ledger.metrics.ts';
import { createWorkspaceLedger, type WorkspaceLedger } from '../src/ledger/workspace.ledger.ts';
import { createJournalStore } from '../src/store/journal.store.ts';
import { createSnapshotStore } from '../src/store/snapshot.store.ts';
import { UNKNOWN } from './calls.ts';
import { ALONE } from './memory.stores.ts';

const HOLDS = 24_000;
const BUDGETS = 200;
const USERS = 500;
/** Budgets in which a reservation counts. */
const OF_CALL = 8;
const ROUNDS = 5;
const DAY_MS = 86_400_000;
/** Budgets that are made while reservations are open, each of which has all of them. */
const MADE = 8;

const now = Date.now();
const day = Math.floor(now / DAY_MS) * DAY_MS;
const writeLine = (line: string) => void process.stdout.write(`${line}\n`);
const userOf = (index: number) => `user-${index % USERS}`;
const median = (of: number[]) => [...of].sort((a, b) => a - b)[Math.floor(of.length / 2)]!;

const budgets = Array.from({ length: BUDGETS }, (_, index): ActiveBudget => {
  const team = `team-${Math.floor(index / OF_CALL)}`;
  const limit = { limitMicros: 1_000_000_000, grantableMicros: 1_000_000_000, denies: true, tellAt: [] };
  const period = { kind: 'month' as const, startMonth: 1, startDay: 1 + (index % OF_CALL) };
  const of = { id: `bud_${index}`, name: `Budget ${index}`, meter: `bud_${index}.1`, overrides: null };
  return { ...of, ...limit, period, selector: { labels: { team } }, each: 'label:user' };
});
const teamOf = (index: number) => index % (BUDGETS / OF_CALL);

function ledgerWith(hasBudgets: boolean): LedgerState {
  const ledger = createLedger();
  const ops: Op[] = [{ op: 'day', start: day, end: day + DAY_MS, timezone: 'UTC' }];
  const start = day - DAY_MS;
  if (hasBudgets) {
    const meters = budgets.map(({ meter }) => [meter, null] as const);
    ops.push({ op: 'begin', cut: 1, at: now, meters });
    for (const { meter } of budgets)
      ops.push({ op: 'period', meter, start, end: day + 20 * DAY_MS, until: day + 23 * DAY_MS });
  }
  for (let index = 0; index < HOLDS; index += 1) {
    const first = teamOf(index) * OF_CALL;
    const own = budgets.slice(first, first + OF_CALL);
    const accounts = own.map(({ meter }): AccountKey => [meter, start, userOf(index)]);
    ops.push({
      ...{ op: 'grant', id: `rsv_${String(index).padStart(32, '0')}`, requestId: `r-${index}`, runId: 'run-1' },
      ...{ agentId: `agent-${index % 50}`, planKey: 'pro', day, amountMicros: 7, ttlSeconds: 80_000 },
      ...{ createdAt: now, expiresAt: now + 80_000_000 },
      labels: { team: `team-${teamOf(index)}`, user: userOf(index) },
      ...(hasBudgets && { accounts }),
    });
  }
  for (const op of ops) applyOp(ledger, op);
  return ledger;
}

const directory = await mkdtemp(join(tmpdir(), 'tollkeeper-cold-'));
const mongo = await startEmbeddedMongo({ dataDirectory: directory, members: 1, cacheSizeMb: 256 });
const logger = createLogger({ service: 'cold-start', level: 'silent' });
const real = connectMongo({ uri: mongo.uri, database: 'cold', logger });
const journal = createJournalStore(real.connection, { record: async () => undefined });
const snapshots = createSnapshotStore(real.connection);
await real.start();
const metrics = createLedgerMetrics(createMetrics('cold'));

const replica = (tenantId: TenantId) =>
  createWorkspaceLedger(tenantId, {
    ...{ journal, snapshots, timezoneOf: async () => 'UTC', ...ALONE, metrics, clock: () => now, logger },
  });
let asked = 0;
async function ask(of: WorkspaceLedger, tenantId: TenantId, active: ActiveBudgets): Promise<number> {
  const labels = { team: 'team-0', user: 'user-0' };
  const call = { agent: 'agent-0', plan: 'pro', model: null, provider: null, key: null, labels };
  const daily = (['workspace', 'agent', 'plan'] as const).map((scope) => {
    const scopeId = { workspace: tenantId, agent: 'agent-0', plan: 'pro' }[scope];
    return { scope, scopeId, limitMicros: 1_000_000_000 };
  });
  const request = { requestId: `new-${(asked += 1)}`, agentId: 'agent-0', runId: 'run-1', planKey: 'pro' };
  const limits = [...daily, ...active.limitsFor(call, now)];
  const amount = { amountMicros: 1, ttlSeconds: 600 };
  const since = performance.now();
  await of.submit(reserve({ ...request, ...amount, ...UNKNOWN, labels, limits, dryRun: false }, active));
  return performance.now() - since;
}

/** The number of the newest entry of the workspace with the budgets that are made. */
async function newestEntry(): Promise<{ seq: number }> {
  let seq = 0;
  for await (const entry of journal.readAfter(provenTenantId('ws_made'), 1)) seq = entry.seq;
  return { seq };
}

const none = createActiveBudgets([], 0);
const cases = [
  { name: 'three daily limits', tenantId: provenTenantId('ws_daily'), active: none, hasBudgets: false },
  {
    ...{ name: `three daily limits and ${OF_CALL} of ${BUDGETS} budgets`, tenantId: provenTenantId('ws_budgets') },
    ...{ active: createActiveBudgets(budgets, 1), hasBudgets: true },
  },
];
const times = new Map<string, number[]>();
for (const { tenantId, hasBudgets } of cases)
  await snapshots.save(tenantId, { seq: 1, ledger: ledgerWith(hasBudgets) });
for (let round = 0; round < ROUNDS; round += 1) {
  for (const { name, tenantId, active } of cases) {
    times.set(name, [...(times.get(name) ?? []), await ask(replica(tenantId), tenantId, active)]);
  }
}
const base = times.get(cases[0]!.name)!;
const rows = [...times].map(([name, of]) => [
  name,
  median(of).toFixed(0),
  Math.max(...of).toFixed(0),
  median(of.map((time, round) => time / base[round]!)).toFixed(2),
]);
writeLine(`${HOLDS} open reservations, first answer of a cold replica, ${ROUNDS} interleaved rounds:\n`);
writeLine(markdownTable(['', 'median ms', 'longest ms', 'of that with daily limits'], rows));

const made = createActiveBudgets(
  budgets.slice(0, MADE).map((budget) => ({ ...budget, selector: {} })),
  performance.now(),
);
const tenantId = provenTenantId('ws_made');
await snapshots.save(tenantId, { seq: 1, ledger: ledgerWith(false) });
const warm = replica(tenantId);
await ask(warm, tenantId, none);
const since = performance.now();
const answers: string[] = [];
let isAnswered = false;
while (!isAnswered) {
  const before = performance.now();
  isAnswered = await ask(warm, tenantId, { ...made, askedAt: before }).then(
    () => true,
    () => false,
  );
  answers.push(`${isAnswered ? 'granted' : '503'} after ${(performance.now() - before).toFixed(0)} ms`);
}
const seconds = ((performance.now() - since) / 1000).toFixed(1);
const { seq } = await newestEntry();
writeLine(
  `\n${MADE} budgets made beside them, each with all of them, in ${seq - 2} entries, with that of the answer, and ${seconds} s.`,
);
writeLine(`Requests one after the other, which wait at most 5 s here: ${answers.join(', ')}.`);
await real.stop();
await mongo.stop();
await rm(directory, { recursive: true, force: true });
