import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { auditConfig, createAudit, createRecordStore, runVerifyCommand } from '@tollkeeper/audit';
import { startEmbeddedMongo } from '@tollkeeper/embedded-mongo';
import { createConfiguredEventLog } from '@tollkeeper/event-log';
import { CALLER_HEADER, signCallerToken } from '@tollkeeper/http';
import { connectMongo } from '@tollkeeper/mongo';
import { createLogger, createMetrics, loadConfig } from '@tollkeeper/runtime';
import { markdownTable } from '@tollkeeper/testing/markdown-table';
import {
  ACTORS,
  END,
  FIRST_ACTION,
  LARGE_WORKSPACE,
  loadRecords,
  RARE_ACTION,
  SPAN_MS,
  TARGETS,
} from './audit.loader.ts';
import { describeMachine } from './machine.ts';
import { median, percentile, whole } from './statistics.ts';

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '10000000' },
    rounds: { type: 'string', default: '1000' },
    /** Kept and reused, because loading is slow and leaves memory that hides the memory of an export. */
    data: { type: 'string' },
    'skip-walks': { type: 'boolean', default: false },
  },
});
const count = Number(values.records);
const rounds = Number(values.rounds);

const CACHE_SIZE_MB = 1_024;
const SECRET = randomBytes(32).toString('base64url');
const DATABASE = 'bench_audit';
const PAGE = 50;
const DAY_MS = 86_400_000;
const BUSY_TARGET = 'key_0';

type Query = Record<string, string>;

/** The filters of pages. The two filters of a combination without records each match many. */
const QUESTIONS: readonly (readonly [string, (url: string) => Query | Promise<Query>])[] = [
  ['the newest', () => ({})],
  ['the next page, at a random place', randomPlace],
  ['older than a random time', () => ({ to: randomTime() })],
  ['of a random day', randomDay],
  ['of an actor', () => ({ actor: randomActor() })],
  ['of an action', () => ({ action: 'key.create' })],
  ['of a type of target', () => ({ target_type: 'plan' })],
  ['of a target', () => ({ target_id: `key_${randomOf(TARGETS)}` })],
  ['of a busy target', () => ({ target_id: BUSY_TARGET })],
  ['of an actor and an action, older than a random time', ofAll],
  ['of a rare action', () => ({ action: RARE_ACTION })],
  ['of an actor and a rare action', () => ({ actor: randomActor(), action: RARE_ACTION })],
  ['of an action that only the oldest record has', () => ({ action: FIRST_ACTION })],
  ['of an actor with no record', () => ({ actor: `nobody_${randomOf(ACTORS)}` })],
  ['of an actor and a busy target, no record', () => ({ actor: 'user_1', target_id: BUSY_TARGET })],
  ['of a busy target and another type, no record', () => ({ target_id: BUSY_TARGET, target_type: 'plan' })],
  ['of an actor, before all records', () => ({ actor: randomActor(), to: isoTime(END - SPAN_MS) })],
];

const directory = values.data ?? (await mkdtemp(join(tmpdir(), 'tollkeeper-bench-')));
const mongod = await startEmbeddedMongo({ dataDirectory: directory, cacheSizeMb: CACHE_SIZE_MB });
const logger = createLogger({ service: 'bench', level: 'warn' });
const mongo = connectMongo({ uri: mongod.uri, database: DATABASE, logger });
const store = createRecordStore(mongo.connection);
try {
  await load();
  console.log(`## Audit log\n\n${describeMachine()}\n- ${whole(count)} records of one workspace\n`);
  await withService(reportPages);
  if (!values['skip-walks']) {
    await withService(reportExport);
    await reportVerification();
  }
} finally {
  await mongo.stop();
  await mongod.stop();
  if (values.data === undefined) await rm(directory, { recursive: true });
}

async function load(): Promise<void> {
  const database = { uri: mongod.uri, database: DATABASE };
  const startedAt = performance.now();
  const progress = (what: string) => console.error(`${whole((performance.now() - startedAt) / 1_000)} s: ${what}`);
  await mongo.connection.openUri(mongod.uri, { dbName: DATABASE });
  const known = (await store.head(LARGE_WORKSPACE))?.sequence;
  if (known === undefined) {
    await loadRecords(database, count, progress);
    progress('the indexes are made');
  } else if (known !== count) {
    throw new Error(`${directory} has ${known} records. Remove it, or load into another directory`);
  }
}

async function withService(use: (url: string) => Promise<void>): Promise<void> {
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
    await use(service.httpUrl);
  } finally {
    await service.stop();
    await log.stop();
  }
}

/** Reports pages of each kind in turn, and the driver's own time for as many consecutive records. */
async function reportPages(url: string): Promise<void> {
  const records = mongo.connection.collection('records');
  const bare = async () => {
    const place = { tenantId: LARGE_WORKSPACE, sequence: { $lte: PAGE + randomOf(count) } };
    await records.find(place).sort({ sequence: -1 }).limit(PAGE).toArray();
  };
  const kinds = ['the driver alone, by their sequence', ...QUESTIONS.map(([name]) => name)];
  const times = kinds.map(() => [] as number[]);
  for (let round = 0; round < rounds; round += 1) {
    times[0]!.push(await timed(bare));
    for (const [index, [, ask]] of QUESTIONS.entries()) {
      const query = await ask(url);
      times[index + 1]!.push(await timed(() => pageOf(url, query)));
    }
  }
  const rows = times.map((all, index) => [
    kinds[index]!,
    ...[median(all), percentile(all, 95), percentile(all, 99)].map((ms) => ms.toFixed(1)),
    `${median(all.map((ms, round) => ms / times[0]![round]!)).toFixed(1)}×`,
  ]);
  console.log(markdownTable([`page of ${PAGE}`, 'p50 ms', 'p95 ms', 'p99 ms', 'of the driver'], rows));
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}

async function ask(url: string, query: Query): Promise<Response> {
  const token = await signCallerToken(SECRET, 'audit', { userId: 'user_1', tenantId: LARGE_WORKSPACE, role: 'owner' });
  const answer = await fetch(`${url}/api/v1/audit?${new URLSearchParams(query)}`, {
    headers: { [CALLER_HEADER]: token },
  });
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
  return answer;
}

async function pageOf(url: string, query: Query): Promise<{ next_cursor: string }> {
  return (await (await ask(url, query)).json()) as { next_cursor: string };
}

async function reportExport(url: string): Promise<void> {
  const before = process.memoryUsage.rss();
  const startedAt = performance.now();
  let [bytes, lines, peak] = [0, 0, before];
  for await (const chunk of (await ask(url, { format: 'ndjson' })).body!) {
    bytes += chunk.length;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
    peak = Math.max(peak, process.memoryUsage.rss());
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  if (lines !== count) throw new Error(`The export has ${lines} of ${count} records`);
  console.log(
    `- An export of all (${whole(bytes / 1e6)} MB) took ${whole(seconds)} s, ${whole(lines / seconds)} records/s. ` +
      `The process, client included, grew from ${whole(before / 1e6)} to ${whole(peak / 1e6)} MB at most.`,
  );
}

async function reportVerification(): Promise<void> {
  const config = { MONGODB_URI: mongod.uri, MONGODB_DATABASE: DATABASE };
  const startedAt = performance.now();
  let records = 0;
  const print = (line: string) => void (records += (JSON.parse(line) as { sequence: number }).sequence);
  if (!(await runVerifyCommand([], { config, logger, print }))) throw new Error('A chain is not whole');
  const seconds = (performance.now() - startedAt) / 1_000;
  console.log(
    `- The verification of all ${whole(records)} records, of all workspaces, took ${whole(seconds)} s, ` +
      `${whole(records / seconds)} records/s.`,
  );
}

/** Evenly distributed integers from 0 to `below`, exclusive. */
function randomOf(below: number): number {
  return randomBytes(6).readUIntBE(0, 6) % below;
}

function randomActor(): string {
  return `user_${randomOf(ACTORS)}`;
}

function randomTime(): string {
  return isoTime(END - randomOf(SPAN_MS - DAY_MS));
}

function randomDay(): Query {
  const from = END - DAY_MS - randomOf(SPAN_MS - DAY_MS);
  return { from: isoTime(from), to: isoTime(from + DAY_MS) };
}

function ofAll(): Query {
  return { actor: randomActor(), action: 'key.create', to: randomTime() };
}

async function randomPlace(url: string): Promise<Query> {
  return { cursor: (await pageOf(url, { to: randomTime() })).next_cursor };
}

function isoTime(time: number): string {
  return new Date(time).toISOString();
}
