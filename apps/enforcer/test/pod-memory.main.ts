// A process of the suite of large ledgers, with the heap of its pod. It visits the workspaces in its arguments in turn.
// After each, it reserves in a small workspace, and prints the answer.
import { provenTenantId } from '@tollkeeper/kernel';
import { connectMongo } from '@tollkeeper/mongo';
import { bundledPrices } from '@tollkeeper/prices';
import { createLogger, createMetrics } from '@tollkeeper/runtime';
import { enforcerConfig } from '../src/config.ts';
import { reserve } from '../src/domain/reserve.ts';
import { post } from '../src/domain/settle.ts';
import { createLedgers } from '../src/ledger/ledgers.ts';
import { createJournalStore } from '../src/store/journal.store.ts';
import { createSnapshotStore } from '../src/store/snapshot.store.ts';
import { UNKNOWN } from './calls.ts';

const [uri = '', database = '', ...large] = process.argv.slice(2);
const logger = createLogger({ service: 'pod-memory', level: 'silent' });
const mongo = connectMongo({ uri, database, logger });
const ledgers = createLedgers({
  budgetBytes: enforcerConfig.shape.LEDGER_BUDGET_BYTES.parse(undefined),
  journal: createJournalStore(mongo.connection, { record: async () => undefined }),
  snapshots: createSnapshotStore(mongo.connection),
  timezoneOf: async () => 'UTC',
  metrics: createMetrics('pod-memory'),
  clock: () => Date.now(),
  now: () => performance.now(),
  onInexact: () => undefined,
  logger,
});
// A process of the enforcer has them too.
bundledPrices();
await mongo.start();
await ledgers.start();
const call = { agentId: 'agent', runId: 'run', planKey: null };
const decisions: string[] = [];
await Promise.all(
  large.map(async (name) => {
    const spend = { ...call, settlementId: `s-${name}`, reservationId: null, micros: 5, at: Date.now() };
    await ledgers.submit(provenTenantId(name), post(spend, Date.now()));
    const small = { ...call, ...UNKNOWN, requestId: name, amountMicros: 1, ttlSeconds: 600, limits: [], dryRun: false };
    decisions.push((await ledgers.submit(provenTenantId('ws_small'), reserve(small))).decision);
  }),
);
await ledgers.stop();
await mongo.stop();
process.stdout.write(JSON.stringify(decisions));
