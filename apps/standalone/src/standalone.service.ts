import { encodeGatewayEvent, GATEWAY_EVENTS_TOPIC, type GatewayEvent } from '@tollkeeper/contracts';
import { type Clock, systemClock, type TenantId } from '@tollkeeper/kernel';
import { connectMongo } from '@tollkeeper/mongo';
import {
  type Component,
  createLifecycle,
  createOpsServer,
  type Logger,
  type Metrics,
  type Tracing,
} from '@tollkeeper/runtime';
import type { StandaloneConfig } from './config.ts';
import { writeHistory } from './demo/history.writer.ts';
import { createLiveTraffic } from './demo/live-traffic.ts';
import { writeSampleSettings } from './demo/sample-settings.ts';
import { completeFirstStart, type Installation } from './first-start.ts';
import { createFirstStartStore } from './first-start.store.ts';
import { createMongo } from './mongo.component.ts';
import { createServices, type Services } from './services.ts';
import type { Terminal } from './terminal.ts';

const DATABASE = 'tollkeeper_standalone';

export interface StandaloneDeps {
  config: StandaloneConfig;
  /** Port of the gateway; equals `config.PORT` unless that is 0. */
  port: number;
  /** Port of OTLP over gRPC; equals `config.OTLP_PORT` unless that is 0 or taken. */
  otlpPort: number;
  /** The logger of the named service. */
  loggerOf: (service: string) => Logger;
  /** Metrics of the process itself; the services have their own. */
  metrics: Metrics;
  tracing: Tracing;
  terminal: Terminal;
  /** Called when MongoDB has ended, without which the process cannot run. */
  onFatal: (reason: string) => void;
  clock?: Clock;
}

/** All services in one process behind the gateway. After the start, the terminal has said that it is ready. */
export function createStandalone(deps: StandaloneDeps): Component {
  const { config, port, otlpPort, loggerOf, metrics, tracing, terminal, onFatal } = deps;
  const logger = loggerOf('standalone');
  const launchedAt = performance.now();
  const publicUrl = config.PUBLIC_URL ?? `http://localhost:${port}`;
  const mongo = createMongo({ config, onProgress: terminal.progress, onUnexpectedExit: onFatal });
  const services = createServices({
    config,
    port,
    otlpPort,
    publicUrl,
    mongodbUri: () => mongo.uri,
    loggerOf,
    tracing,
  });
  const stopping = new AbortController();
  const workspace = createWorkspace(deps, services, () => mongo.uri, stopping.signal);
  const stack = createLifecycle([mongo, ...services.inOrder, workspace], logger, {
    name: 'standalone',
  });
  const ops = createOpsServer({
    ...{ host: '127.0.0.1', port: config.OPS_PORT, metrics: [metrics, ...services.metrics], logger },
    ready: async () => stack.ready?.(),
    impaired: async () => stack.impaired?.(),
  });
  const all = createLifecycle([tracing, ops, stack], logger, { name: 'tollkeeper' });
  return {
    ...all,
    async start() {
      await all.start();
      const seconds = (performance.now() - launchedAt) / 1000;
      terminal.ready({ url: publicUrl, ownerEmail: workspace.ownerEmail, seconds });
    },
    stop() {
      // A stop waits for the component that is starting, and a month of sample traffic takes long.
      stopping.abort(new Error('stopped while the sample traffic was being written'));
      return all.stop();
    },
  };
}

/** The workspace of the first start, with sample traffic if requested. */
function createWorkspace(deps: StandaloneDeps, services: Services, mongodbUri: () => string, signal: AbortSignal) {
  const { config, loggerOf, terminal, clock = systemClock } = deps;
  const logger = loggerOf('standalone');
  let installation: Installation | undefined;
  let traffic: Component | undefined;

  async function append(tenantId: TenantId, events: GatewayEvent[]): Promise<void> {
    const receivedAt = new Date(clock()).toISOString();
    const records = events.map((event) => encodeGatewayEvent({ tenantId, receivedAt, event }));
    await services.eventLog.made.append(GATEWAY_EVENTS_TOPIC, records);
  }

  async function install(): Promise<Installation> {
    const mongo = connectMongo({ uri: mongodbUri(), database: DATABASE, logger, maxPoolSize: 1 });
    await mongo.start();
    try {
      return await completeFirstStart({
        ...{ config, terminal, clock },
        store: createFirstStartStore(mongo),
        ensureOwner: services.identity.made.ensureOwner,
        keys: services.keys.made.useCases,
        writeSample: async (owner, until) => {
          const { callerTokenSecret, identity, budgets, alerts, notifier } = services;
          const urls = {
            identity: identity.made.httpUrl,
            budgets: budgets.made.httpUrl,
            alerts: alerts.made.httpUrl,
            notifier: notifier.made.httpUrl,
          };
          await writeSampleSettings({ owner, callerTokenSecret, urls });
          await writeHistory(until, {
            append: (events) => append(owner.tenantId, events),
            lag: services.dashboard.made.lag,
            onProgress: terminal.progress,
            signal,
          });
        },
      });
    } finally {
      await mongo.stop();
    }
  }

  return {
    name: 'workspace',
    get ownerEmail() {
      return installation?.ownerEmail ?? config.TOLLKEEPER_OWNER_EMAIL;
    },
    async start() {
      installation = await install();
      const { tenantId, demo } = installation;
      if (!demo || !config.TOLLKEEPER_DEMO) return;
      const { reservations } = services.enforcer.made;
      traffic = createLiveTraffic({
        ...{ tenantId, reservations, clock, logger },
        append: (events) => append(tenantId, events),
      });
      await traffic.start();
    },
    stop: async () => traffic?.stop(),
  };
}
