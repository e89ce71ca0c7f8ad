import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import {
  decodeGatewayEvent,
  GATEWAY_EVENTS_TOPIC,
  GATEWAY_EVENTS_TOPIC_OPTIONS,
  type GatewayEventRecord,
} from '@tollkeeper/contracts';
import { type EmbeddedMongo, startEmbeddedMongo } from '@tollkeeper/embedded-mongo';
import { createConfiguredEventLog, type EventLog } from '@tollkeeper/event-log';
import { startKafka } from '@tollkeeper/embedded-kafka';
import { freePort, killWithOwner } from '@tollkeeper/managed-process';
import { createLogger, createMetrics, type Logger } from '@tollkeeper/runtime';
import { createKeysStandIn } from '@tollkeeper/testing/keys-stand-in';
import { CALLER_TOKEN_SECRET, createPeers } from '@tollkeeper/testing/peers';
import { createBudgetsStandIn } from './budgets.stand-in.ts';
import { createDashboardStandIn } from './dashboard.stand-in.ts';
import { createIdentityStandIn } from './identity.stand-in.ts';

const REPLICAS = 3;
/** Number of lines kept of a replica's error log, the newest. */
const KEPT_ERRORS = 50;
/** So that a budget is filled in several entries. */
const SETTLEMENTS_OF_PAGE = 40;
/** Maximum time for a start and for an election. */
const PATIENCE_MS = 180_000;

export type Stage = Awaited<ReturnType<typeof startStage>>;

/** Where the event log is: in MongoDB with the journal, or in Kafka as in production with replicas. */
type LogKind = 'mongo' | 'kafka';

/** Three replicas of the service on three members of MongoDB, with its peers in this process. */
export async function startStage(logKind: LogKind) {
  const logger = createLogger({ service: 'faults', level: 'silent' });
  const directory = await mkdtemp(join(tmpdir(), 'tollkeeper-faults-'));
  const mongo = await startEmbeddedMongo({ dataDirectory: directory, members: 3, cacheSizeMb: 128 });
  const budgets = createBudgetsStandIn(logger);
  const identity = createIdentityStandIn(logger);
  const issued = createKeysStandIn();
  const keys = createPeers(logger, [issued.service]);
  await Promise.all([budgets.start(), identity.start(), keys.start()]);
  const kafka = logKind === 'kafka' ? await startKafka({ dataDirectory: join(directory, 'kafka') }) : null;
  const eventLog = createConfiguredEventLog({
    config:
      kafka === null
        ? { EVENT_LOG_MONGODB_URI: mongo.uri }
        : { KAFKA_BROKERS: [kafka.brokers], KAFKA_REPLICATION_FACTOR: 1 },
    logger,
    metrics: createMetrics('faults'),
  });
  await eventLog.start();
  await eventLog.ensureTopic(GATEWAY_EVENTS_TOPIC_OPTIONS);
  const dashboard = await startDashboard(eventLog, logger);

  const env = {
    PATH: process.env['PATH'],
    ...{ HOST: '127.0.0.1', LOG_LEVEL: 'error', CALLER_TOKEN_SECRET, DRAIN_DELAY_MS: '0' },
    MONGODB_URI: mongo.uri,
    ...(kafka === null
      ? { EVENT_LOG_MONGODB_URI: mongo.uri }
      : { KAFKA_BROKERS: kafka.brokers, KAFKA_REPLICATION_FACTOR: '1' }),
    ...{ KEYS_GRPC: keys.address, BUDGETS_GRPC: budgets.address, IDENTITY_GRPC: identity.address },
    DASHBOARD_GRPC: dashboard.address,
    ...{ WORKSPACE_CALLS_PER_SECOND: '1000000', WORKSPACE_BURST_CALLS: '1000000' },
  };
  const replicas = await Promise.all(Array.from({ length: REPLICAS }, () => startReplica(env)));
  return {
    ...{ mongo, budgets, identity, issued, eventLog, replicas },
    readEvents: dashboard.readEvents,
    caughtUp: dashboard.caughtUp,
    async stop() {
      await Promise.all(replicas.map((replica) => replica.kill('SIGTERM')));
      await dashboard.stop();
      await eventLog.stop();
      await Promise.all([budgets.stop(), identity.stop(), keys.stop()]);
      await kafka?.stop();
      await mongo.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A stand-in for the dashboard that reads the log. Like the dashboard, it answers only once it has read all of it. */
async function startDashboard(eventLog: EventLog, logger: Logger) {
  const read = new Map<number, number>();
  const readers = new Map<string, (record: GatewayEventRecord) => void>();
  const dashboard = createDashboardStandIn(logger, { page: SETTLEMENTS_OF_PAGE, caughtUp });
  const consumer = eventLog.consumer({
    ...{ group: 'dashboard-of-faults', topic: GATEWAY_EVENTS_TOPIC, maxRecords: 500 },
    handler: {
      position: async (_topic, partition) => read.get(partition) ?? null,
      async handle({ partition, records, nextOffset }) {
        for (const { value } of records) {
          const record = decodeGatewayEvent(value);
          (readers.get(record.tenantId) ?? dashboard.add)(record);
        }
        read.set(partition, nextOffset);
      },
    },
  });
  async function caughtUp(tenantId: string): Promise<void> {
    const { partition, offset } = await consumer.endOf(tenantId);
    await until(async () => (read.get(partition) ?? 0) >= offset);
  }
  await Promise.all([dashboard.start(), consumer.start()]);
  return {
    address: dashboard.address,
    /** Resolves once all events of the workspace are read that are in the log now. */
    caughtUp,
    /** Reads the events of a workspace instead of the dashboard, which keeps all of them in memory. */
    readEvents: (tenantId: string, reader: (record: GatewayEventRecord) => void) => void readers.set(tenantId, reader),
    async stop() {
      await consumer.stop();
      await dashboard.stop();
    },
  };
}

/** Runs the service as its image does, in a separate process with fixed ports. */
async function startReplica(env: NodeJS.ProcessEnv) {
  const [http, grpc, ops] = [await freePort(), await freePort(), await freePort()];
  const main = join(import.meta.dirname, '..', 'src', 'main.ts');
  let child: ReturnType<typeof launch>;
  let unwatch = () => {};
  const errors: string[] = [];

  function launch() {
    const ports = { HTTP_PORT: String(http), GRPC_PORT: String(grpc), OPS_PORT: String(ops) };
    const args = ['--disable-warning=ExperimentalWarning', main];
    const launched = spawn(process.execPath, args, {
      env: { ...env, ...ports },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    createInterface({ input: launched.stdout }).on('line', (line) => {
      errors.push(line);
      errors.splice(0, errors.length - KEPT_ERRORS);
    });
    unwatch = launched.pid === undefined ? () => {} : killWithOwner(launched.pid, 'SIGKILL');
    return launched;
  }
  async function ready(): Promise<void> {
    await until(async () => (await fetch(`http://127.0.0.1:${ops}/readyz`)).ok);
  }
  child = launch();
  await ready();
  return {
    port: http,
    async kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill(signal);
      await exited;
      unwatch();
    },
    async restart(): Promise<void> {
      child = launch();
      await ready();
    },
    /** Its error log and unread records, for finding the cause of a problem. */
    async state(): Promise<string[]> {
      const asked = fetch(`http://127.0.0.1:${ops}/metrics`).then((answer) => answer.text());
      // A dead replica must not hide the problem.
      const metrics = await asked.catch((error: unknown) => `event_log_lag is unknown: ${String(error)}`);
      return [
        ...errors,
        ...metrics.split('\n').filter((line) => /^event_log_(consumed|dead|lag|skipped|standstill)/.test(line)),
      ];
    },
  };
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await holds().catch(() => false))) {
    if (Date.now() > deadline) throw new Error('waited too long');
    await delay(50);
  }
}

/** Kills the primary, and starts it again after another one was elected. */
export async function killPrimary(mongo: EmbeddedMongo, onKill: () => void): Promise<void> {
  const primary = await mongo.primary();
  onKill();
  await primary.kill();
  await until(async () => (await mongo.primary()).host !== primary.host);
  await primary.restart();
}
