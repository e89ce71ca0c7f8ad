import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { auditConfig, createAudit, createRecordStore } from '@tollkeeper/audit';
import { AUDIT_ACTIONS, auditRecordOf, type Cause } from '@tollkeeper/contracts';
import { startEmbeddedMongo } from '@tollkeeper/embedded-mongo';
import { createConfiguredEventLog } from '@tollkeeper/event-log';
import { CALLER_HEADER, signCallerToken } from '@tollkeeper/http';
import { provenTenantId } from '@tollkeeper/kernel';
import { connectMongo, withTransaction } from '@tollkeeper/mongo';
import { createLogger, createMetrics, loadConfig } from '@tollkeeper/runtime';
import { markdownTable } from '@tollkeeper/testing/markdown-table';
import { describeMachine } from './machine.ts';
import { median, percentile, whole } from './statistics.ts';

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '10000000' },
    queries: { type: 'string', default: '300' },
    /** Kept and used again: loading takes long. */
    data: { type: 'string' },
  },
});
const count = Number(values.records);
const queries = Number(values.queries);

const CACHE_SIZE_MB = 1_024;
const SECRET = randomBytes(32).toString('base64url');
const DATABASE = 'bench_audit';
const BATCH = 1_000;
const ACTORS = 200;
const TARGETS = 20_000;
const SPAN_MS = 390 * 86_400_000;
const tenantId = provenTenantId('ws_bench');
const end = Date.parse('2026-11-24T00:00:00Z');

/** What a page asks for. The rare action is one in a hundred thousand records. */
const RARE_ACTION = 'workspace.update';
const QUESTIONS: readonly (readonly [string, () => Record<string, string>])[] = [
  ['the newest', () => ({})],
  ['older than a random time', () => ({ to: new Date(randomTime()).toISOString() })],
  ['of an actor', () => ({ actor: `user_${randomOf(ACTORS)}` })],
  ['of a target', () => ({ target_id: `key_${randomOf(TARGETS)}` })],
  ['of a rare action', () => ({ action: RARE_ACTION })],
  ['of an actor and a rare action', () => ({ actor: `user_${randomOf(ACTORS)}`, action: RARE_ACTION })],
  [
    'of an actor and an action, older than a random time',
    () => ({
      ...{ actor: `user_${randomOf(ACTORS)}`, action: 'key.create' },
      to: new Date(randomTime()).toISOString(),
    }),
  ],
];

const directory = values.data ?? (await mkdtemp(join(tmpdir(), 'tollkeeper-bench-')));
const mongod = await startEmbeddedMongo({ dataDirectory: directory, cacheSizeMb: CACHE_SIZE_MB });
const logger = createLogger({ service: 'bench', level: 'warn' });
try {
  await load();
  await report();
} finally {
  await mongod.stop();
  if (values.data === undefined) await rm(directory, { recursive: true });
}

/** The records of one workspace, as the consumer of the log stores them, without the log. */
async function load(): Promise<void> {
  const mongo = connectMongo({ uri: mongod.uri, database: DATABASE, logger });
  const store = createRecordStore(mongo.connection);
  await mongo.start();
  const known = (await store.head(tenantId))?.sequence ?? 0;
  for (let first = known; first < count; first += BATCH) {
    const length = Math.min(BATCH, count - first);
    const records = Array.from({ length }, (_, index) => recordAt(first + index));
    await withTransaction(mongo.connection, (session) => store.append(session, records, Date.now()));
    if (first % 100_000 === 0) console.error(`${whole(first)} records are stored`);
  }
  await mongo.stop();
}

function recordAt(index: number) {
  const isRare = index % 100_000 === 99_999;
  const action = isRare ? RARE_ACTION : AUDIT_ACTIONS[index % 7]!;
  const actor = { type: 'user', id: `user_${(index * 31) % ACTORS}`, name: 'Ada Lovelace' } as const;
  const cause: Cause = { action, actor, address: '203.0.113.7', userAgent: 'curl/8.9.1', requestId: `req_${index}` };
  const target = { type: action.split('.')[0]!, id: `key_${(index * 7) % TARGETS}`, name: 'eu-1 gateway' };
  const changes = [{ field: 'daily_budget_usd_micros', from: index, to: index + 1 }];
  return auditRecordOf(tenantId, cause, { target, changes }, end - SPAN_MS + Math.floor((SPAN_MS * index) / count));
}

async function report(): Promise<void> {
  const log = createConfiguredEventLog({
    config: { EVENT_LOG_MONGODB_URI: mongod.uri, EVENT_LOG_DATABASE: 'bench_log' },
    logger,
    metrics: createMetrics('log'),
  });
  const config = loadConfig(auditConfig, {
    ...{ HOST: '127.0.0.1', HTTP_PORT: '0', CALLER_TOKEN_SECRET: SECRET },
    ...{ MONGODB_URI: mongod.uri, MONGODB_DATABASE: DATABASE },
  });
  const service = createAudit({ config, logger, metrics: createMetrics('audit'), eventLog: log });
  await log.start();
  await service.start();
  try {
    const times = new Map<string, number[]>(QUESTIONS.map(([name]) => [name, []]));
    for (let round = 0; round < queries; round += 1) {
      for (const [name, ask] of QUESTIONS) times.get(name)!.push(await timePage(service.httpUrl, ask()));
    }
    console.log(`## Audit log\n\n${describeMachine()}\n- ${whole(count)} records of one workspace, pages of 50\n`);
    const rows = [...times].map(([name, all]) => [
      name,
      ...[median(all), percentile(all, 95), percentile(all, 99)].map((ms) => ms.toFixed(1)),
    ]);
    console.log(markdownTable(['page', 'p50 ms', 'p95 ms', 'p99 ms'], rows));
  } finally {
    await service.stop();
    await log.stop();
  }
}

async function timePage(url: string, query: Record<string, string>): Promise<number> {
  const token = await signCallerToken(SECRET, 'audit', { userId: 'user_1', tenantId, role: 'owner' });
  const startedAt = performance.now();
  const answer = await fetch(`${url}/api/v1/audit?${new URLSearchParams(query)}`, {
    headers: { [CALLER_HEADER]: token },
  });
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
  return performance.now() - startedAt;
}

/** From 0 to `below`, without it; spread evenly. */
function randomOf(below: number): number {
  return randomBytes(6).readUIntBE(0, 6) % below;
}

function randomTime(): number {
  return end - randomOf(SPAN_MS);
}
