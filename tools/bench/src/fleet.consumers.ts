import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDashboard, dashboardConfig } from '@tollkeeper/dashboard';
import type { EventLog } from '@tollkeeper/event-log';
import { startKafka } from '@tollkeeper/embedded-kafka';
import { createLogger, createMetrics, loadConfig } from '@tollkeeper/runtime';
import { type AlertsStack, startAlertsStack } from './alerts.stack.ts';
import { runService } from './consumer.runs.ts';
import { fillLog, generateEvents, makeRules, MATCHING_TYPE, sameRules } from './evaluator.traffic.ts';
import { runBareEachBatch } from './kafka.baseline.ts';
import type { RuleSettings } from './rule.settings.ts';
import { generateSpend } from './spend.traffic.ts';
import { whole } from './statistics.ts';
import type { Run } from './stopwatch.ts';

/** A consumer of a service and two bare ones, each over the same topic in every round. */
export interface Compared {
  /** Counts the messages. */
  counting: Run[];
  /** Parses each message's JSON. */
  parsing: Run[];
  service: Run[];
}

export const RULE: RuleSettings = { eventType: MATCHING_TYPE, threshold: 1_000, windowSeconds: 3_600 };

export function compareAlerts(eventCount: number, rounds: number): Promise<Compared> {
  const names = Array.from({ length: rounds }, (_, round) => `alerts_${round}`);
  return onKafka(async (stack, brokers) => {
    for (const name of names) await makeRules(stack, name, sameRules(RULE));
    await fillLog(stack.eventLog, generateEvents(eventCount, Date.now()));
    return compare('alerts', names, {
      ...bareRuns(brokers, eventCount),
      service: (name) => runService(stack.eventLog, (log) => stack.createAlerts(name, log), eventCount),
    });
  });
}

export function compareDashboard(eventCount: number, rounds: number): Promise<Compared> {
  const names = Array.from({ length: rounds }, (_, round) => `dashboard_${round}`);
  return onKafka(async (stack, brokers) => {
    await fillLog(stack.eventLog, generateSpend(eventCount));
    return compare('dashboard', names, {
      ...bareRuns(brokers, eventCount),
      service: (name) => runService(stack.eventLog, (log) => createCounter(stack, name, log), eventCount),
    });
  });
}

async function onKafka<T>(work: (stack: AlertsStack, brokers: string) => Promise<T>): Promise<T> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'tollkeeper-bench-kafka-'));
  const kafka = await startKafka({ dataDirectory });
  try {
    const stack = await startAlertsStack({ kafkaBrokers: kafka.brokers });
    try {
      return await work(stack, kafka.brokers);
    } finally {
      await stack.stop();
    }
  } finally {
    await kafka.stop();
    await rm(dataDirectory, { recursive: true });
  }
}

function bareRuns(brokers: string, eventCount: number): { counting(): Promise<Run>; parsing(): Promise<Run> } {
  return {
    counting: () => runBareEachBatch(brokers, eventCount),
    parsing: () =>
      runBareEachBatch(brokers, eventCount, (messages) => {
        for (const { value } of messages) JSON.parse(value?.toString() ?? 'null');
      }),
  };
}

async function compare(
  what: string,
  names: readonly string[],
  runs: ReturnType<typeof bareRuns> & { service(name: string): ReturnType<typeof runService> },
): Promise<Compared> {
  const compared: Compared = { counting: [], parsing: [], service: [] };
  for (const [round, name] of names.entries()) {
    const counting = await runs.counting();
    const parsing = await runs.parsing();
    const { service, ...run } = await runs.service(name);
    await service.stop();
    compared.counting.push(counting);
    compared.parsing.push(parsing);
    compared.service.push(run);
    const figures = [counting, parsing, run].map(
      ({ eventsPerSecond, cpuMicros }) => `${whole(eventsPerSecond)} events/s, ${cpuMicros.toFixed(1)} µs`,
    );
    console.error(`${what}, round ${round + 1} of ${names.length}: ${figures.join(' / ')}`);
  }
  return compared;
}

/** A dashboard that only consumes. It gets no requests, so it needs no peers. */
function createCounter({ mongodbUri }: AlertsStack, database: string, eventLog: EventLog) {
  const config = loadConfig(dashboardConfig, {
    ...{ HOST: '127.0.0.1', HTTP_PORT: '0', GRPC_PORT: '0', MONGODB_URI: mongodbUri, MONGODB_DATABASE: database },
    ...{ CALLER_TOKEN_SECRET: 'x'.repeat(32), IDENTITY_GRPC: '127.0.0.1:9' },
    ...{ BUDGETS_GRPC: '127.0.0.1:9', ENFORCER_GRPC: '127.0.0.1:9' },
    CHANNEL_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
  });
  const logger = createLogger({ service: 'bench', level: 'warn' });
  return createDashboard({ config, eventLog, logger, metrics: createMetrics('dashboard') });
}
