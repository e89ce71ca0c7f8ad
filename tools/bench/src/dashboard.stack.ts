import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { budgetsConfig, createBudgets } from '@tollkeeper/budgets';
import { createDashboard, dashboardConfig, type DashboardService } from '@tollkeeper/dashboard';
import { startEmbeddedMongo } from '@tollkeeper/embedded-mongo';
import { createConfiguredEventLog, type EventLog } from '@tollkeeper/event-log';
import { CALLER_HEADER, signCallerToken } from '@tollkeeper/http';
import { createIdentity, identityConfig } from '@tollkeeper/identity';
import type { Clock, TenantId } from '@tollkeeper/kernel';
import { createLogger, createMetrics, loadConfig, type Component, type Logger } from '@tollkeeper/runtime';
import { mongo } from 'mongoose';

/** Its own managed `mongod`, the real identity and budgets services, and any number of dashboards on it. */
export interface DashboardStack {
  readonly uri: string;
  readonly mongodPid: number;
  readonly logger: Logger;
  readonly tenantId: TenantId;
  readonly retentionSeconds: number;
  /** Makes identity know these workspaces, and that they track these labels. */
  track(tenantIds: readonly TenantId[], names: readonly string[]): Promise<void>;
  /** Opens and starts an event log in a database of that name. */
  openLog(database: string): Promise<EventLog>;
  /** Creates a dashboard service that uses `clock`, without starting it. */
  createDashboard(database: string, eventLog: EventLog, clock?: Clock): DashboardService;
  /** Size of a database on disk, including indexes. */
  storedBytes(database: string): Promise<number>;
  /** Sets the price of a model in the workspace, in USD micros for a million tokens of input and of output. */
  setPrice(model: string, micros: number): Promise<void>;
  /** Sends a request of the owner of the workspace to a dashboard. Throws for an answer of 4xx or 5xx. */
  send<Answer>(dashboard: DashboardService, path: string, body?: object): Promise<Answer>;
  /** The number of bytes of a GET, which are not kept. */
  download(dashboard: DashboardService, path: string): Promise<number>;
  /** Milliseconds of a GET to the dashboard until the answer is read. */
  timeGet(dashboard: DashboardService, path: string): Promise<number>;
  stop(): Promise<void>;
}

/** The size on a small production server; the standalone's own cache is for the data of one team. */
const CACHE_SIZE_MB = 1_024;
const SECRET = randomBytes(32).toString('base64url');

export async function startDashboardStack(): Promise<DashboardStack> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'tollkeeper-bench-'));
  const mongod = await startEmbeddedMongo({ dataDirectory, cacheSizeMb: CACHE_SIZE_MB });
  const logger = createLogger({ service: 'bench', level: 'warn' });
  const started: Component[] = [];
  const environment = {
    HOST: '127.0.0.1',
    HTTP_PORT: '0',
    GRPC_PORT: '0',
    MONGODB_URI: mongod.uri,
    CALLER_TOKEN_SECRET: SECRET,
  };

  async function start(component: Component): Promise<void> {
    await component.start();
    started.unshift(component);
  }

  async function openLog(database: string): Promise<EventLog> {
    const log = createConfiguredEventLog({
      config: { EVENT_LOG_MONGODB_URI: mongod.uri, EVENT_LOG_DATABASE: database },
      logger,
      metrics: createMetrics(database),
    });
    await start(log);
    return log;
  }

  const identity = createIdentity({
    config: loadConfig(identityConfig, { ...environment, PUBLIC_URL: 'http://localhost:8080' }),
    eventLog: await openLog('identity_log'),
    logger,
    metrics: createMetrics('identity'),
  });
  await start(identity);
  const { userId, tenantId } = await identity.ensureOwner({
    email: 'owner@example.com',
    password: 'benchmark-password',
    workspace: { slug: 'bench', name: 'Bench' },
  });

  const identityAddress = { IDENTITY_GRPC: identity.grpcAddress };
  const budgets = createBudgets({
    config: loadConfig(budgetsConfig, { ...environment, ...identityAddress }),
    eventLog: await openLog('budgets_log'),
    logger,
    metrics: createMetrics('budgets'),
  });
  await start(budgets);

  // Only the overview asks the enforcer, and it is not measured.
  const addresses = { ...identityAddress, BUDGETS_GRPC: budgets.grpcAddress, ENFORCER_GRPC: '127.0.0.1:9' };
  const keys = { CHANNEL_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}` };
  const configOf = (database: string) =>
    loadConfig(dashboardConfig, { ...environment, ...addresses, ...keys, MONGODB_DATABASE: database });
  return {
    uri: mongod.uri,
    mongodPid: mongod.pid,
    logger,
    tenantId,
    retentionSeconds: configOf('any').RETENTION_SECONDS,
    openLog,
    track: (tenantIds, trackedLabels) => track(mongod.uri, tenantIds, trackedLabels),
    createDashboard: (database, eventLog, clock) =>
      createDashboard({
        ...{ config: configOf(database), eventLog, logger },
        metrics: createMetrics(database),
        ...(clock && { clock }),
      }),
    storedBytes: (database) => storedBytes(mongod.uri, database),
    ...requestsOf({ userId, tenantId }, budgets.httpUrl),
    async stop() {
      for (const component of started) await component.stop();
      await mongod.stop();
      await rm(dataDirectory, { recursive: true });
    },
  };
}

function requestsOf(
  owner: { userId: string; tenantId: TenantId },
  budgetsUrl: string,
): Pick<DashboardStack, 'setPrice' | 'send' | 'download' | 'timeGet'> {
  return {
    async setPrice(model, micros) {
      const amounts = { input_micros_per_million: micros, output_micros_per_million: micros };
      const body = { model, valid_from: '2020-01-01T00:00:00Z', ...amounts };
      await request(budgetsUrl, 'budgets', owner, { method: 'PUT', path: '/api/v1/prices', body });
    },
    async send<Answer>(dashboard: DashboardService, path: string, body?: object) {
      const method = body === undefined ? 'GET' : 'POST';
      return JSON.parse(await request(dashboard.httpUrl, 'dashboard', owner, { method, path, body })) as Answer;
    },
    async download(dashboard, path) {
      const { body } = await answerTo(dashboard.httpUrl, 'dashboard', owner, { method: 'GET', path });
      let bytes = 0;
      if (body !== null) for await (const chunk of body) bytes += chunk.length;
      return bytes;
    },
    async timeGet(dashboard, path) {
      const startedAt = performance.now();
      await request(dashboard.httpUrl, 'dashboard', owner, { method: 'GET', path });
      return performance.now() - startedAt;
    },
  };
}

interface OwnerRequest {
  method: string;
  path: string;
  body?: object | undefined;
}

/** The answer to a request of an owner. Throws for one of 4xx or 5xx. */
async function answerTo(
  url: string,
  audience: 'budgets' | 'dashboard',
  owner: { userId: string; tenantId: TenantId },
  { method, path, body }: OwnerRequest,
): Promise<Response> {
  const token = await signCallerToken(SECRET, audience, { ...owner, role: 'owner' });
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { [CALLER_HEADER]: token, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return response;
}

async function request(...asked: Parameters<typeof answerTo>): Promise<string> {
  return (await answerTo(...asked)).text();
}

async function storedBytes(uri: string, database: string): Promise<number> {
  const client = await new mongo.MongoClient(uri).connect();
  try {
    await client.db('admin').command({ fsync: 1 });
    const { storageSize, indexSize } = await client.db(database).stats();
    return Number(storageSize) + Number(indexSize);
  } finally {
    await client.close();
  }
}

async function track(uri: string, tenantIds: readonly TenantId[], trackedLabels: readonly string[]): Promise<void> {
  const client = await new mongo.MongoClient(uri).connect();
  try {
    const workspaces = client.db('tollkeeper_identity').collection<{ _id: TenantId }>('workspaces');
    for (const _id of tenantIds) {
      const made = { slug: _id, name: _id, timezone: 'UTC', createdAt: new Date(), memberRevision: 0 };
      await workspaces.updateOne({ _id }, { $set: { trackedLabels }, $setOnInsert: made }, { upsert: true });
    }
  } finally {
    await client.close();
  }
}
