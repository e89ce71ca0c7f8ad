import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { GATEWAY_EVENTS_TOPIC } from '@tollkeeper/contracts';
import { createConfiguredEventLog, type EventLog } from '@tollkeeper/event-log';
import { type Fleet, startFleet } from '@tollkeeper/fleet';
import { createLogger, createMetrics } from '@tollkeeper/runtime';
import { markdownTable } from '@tollkeeper/testing/markdown-table';
import { type ServiceName, SERVICES, TOPOLOGY } from '@tollkeeper/topology';
import { generateEvents, RULES_PER_WORKSPACE, WORKSPACES } from './evaluator.traffic.ts';
import { compareAlerts, type Compared, compareDashboard, RULE } from './fleet.consumers.ts';
import { BATCH, type IngestRounds, measureIngest } from './fleet.ingest.ts';
import { type Drained, measureReplicas } from './fleet.replicas.ts';
import { makeWorkspaces } from './fleet.workspaces.ts';
import { describeMachine } from './machine.ts';
import { UNLIMITED_EVENTS } from './posted.events.ts';
import { generateSpend } from './spend.traffic.ts';
import { median, whole } from './statistics.ts';
import type { Run } from './stopwatch.ts';

const { values } = parseArgs({
  options: {
    alerts: { type: 'string', default: '1000000' },
    dashboard: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '8' },
    connections: { type: 'string', default: '16' },
  },
});
const alertsEvents = Number(values.alerts);
const dashboardEvents = Number(values.dashboard);
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const connections = Number(values.connections);

console.log(
  `## Fleet\n\n${describeMachine()}\n- a real Apache Kafka of one broker and a real mongod, all on this machine\n`,
);
reportIngest(await ingest());
reportConsumers(
  await compareAlerts(alertsEvents, rounds),
  await compareDashboard(dashboardEvents, Math.min(rounds, 3)),
);
reportReplicas([...(await replicasOfAlerts()), ...(await replicasOfDashboard()), ...(await replicasOfIdentity())]);

function ingest(): Promise<IngestRounds> {
  return withFleet(async (fleet) => {
    await stopReaders(fleet);
    return measureIngest(fleet, { rounds, seconds, connections });
  });
}

function replicasOfAlerts(): Promise<[string, Drained][]> {
  return withFleet(async (fleet, eventLog) => {
    await stopReaders(fleet, 'alerts');
    const rules = Array.from({ length: RULES_PER_WORKSPACE }, () => RULE);
    const tenantIds = await makeWorkspaces(fleet, WORKSPACES, rules);
    const start = Date.now();
    // Each batch continues in time after the previous one, a millisecond per event.
    const events = (count: number, first: number) => generateEvents(count, start + first, { first, tenantIds });
    const drained = await measureReplicas(fleet, { service: 'alerts', eventLog, count: alertsEvents, events });
    return drained.map((each) => ['alerts, 1,000 rules', each]);
  });
}

function replicasOfDashboard(): Promise<[string, Drained][]> {
  return withFleet(async (fleet, eventLog) => {
    await stopReaders(fleet, 'dashboard');
    const events = generateSpend;
    const drained = await measureReplicas(fleet, { service: 'dashboard', eventLog, count: dashboardEvents, events });
    return drained.map((each) => ['dashboard', each]);
  });
}

function replicasOfIdentity(): Promise<[string, Drained][]> {
  return withFleet(async (fleet, eventLog) => {
    await stopReaders(fleet);
    const tenantIds = await makeWorkspaces(fleet, WORKSPACES, []);
    const events = (count: number, first: number) => generateEvents(count, Date.now(), { first, tenantIds });
    const drained = await measureReplicas(fleet, { service: 'identity', eventLog, count: alertsEvents, events });
    return drained.map((each) => ['identity, which learns of agents', each]);
  });
}

/** A separate fleet for each measurement, so that none processes what another left in the log. */
async function withFleet<T>(work: (fleet: Fleet, eventLog: EventLog) => Promise<T>): Promise<T> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'tollkeeper-bench-fleet-'));
  try {
    const fleet = await startFleet({
      dataDirectory,
      // All events belong to one workspace, and its quota is not measured.
      env: { LOG_LEVEL: 'warn', ...UNLIMITED_EVENTS },
      onProgress: (line) => console.error(line),
    });
    const eventLog = createConfiguredEventLog({
      config: { KAFKA_BROKERS: (fleet.kafka?.brokers ?? '').split(','), KAFKA_REPLICATION_FACTOR: 1 },
      logger: createLogger({ service: 'bench', level: 'error' }),
      metrics: createMetrics('bench'),
    });
    try {
      await eventLog.start();
      return await work(fleet, eventLog);
    } finally {
      await eventLog.stop();
      await fleet.stop();
    }
  } finally {
    await rm(dataDirectory, { recursive: true });
  }
}

/**
 * Readers of gateway events would take processor time from the measurement. Identity stays, because it is needed to log
 * in.
 */
async function stopReaders({ services: replicas }: Fleet, measured?: ServiceName): Promise<void> {
  const readers = SERVICES.filter((service) => TOPOLOGY[service].reads.includes(GATEWAY_EVENTS_TOPIC));
  const others = readers.filter((service) => service !== 'identity' && service !== measured);
  await Promise.all(others.flatMap((service) => replicas[service].map((replica) => replica.stop())));
}

function reportIngest({ edge, direct, cpuMicros }: IngestRounds): void {
  const ratios = edge.map(({ eventsPerSecond }, round) => eventsPerSecond / (direct[round]?.recordsPerSecond ?? NaN));
  const edgeRate = median(edge.map(({ eventsPerSecond }) => eventsPerSecond));
  console.log('### Ingest\n');
  console.log(
    `- ${connections} connections, batches of ${BATCH} events of one workspace; ${rounds} rounds of ${seconds} s in turn, medians\n`,
  );
  console.log(
    markdownTable(
      ['', 'events/s', 'of direct', 'p50 ms', 'p99 ms'],
      [
        [
          'kafkajs, idempotent, acks=all',
          whole(median(direct.map(({ recordsPerSecond }) => recordsPerSecond))),
          '100 %',
          '',
          '',
        ],
        [
          'edge: gateway, ingest, keys',
          whole(edgeRate),
          `${Math.round(median(ratios) * 100)} %`,
          whole(median(edge.map(({ p50Ms }) => p50Ms))),
          whole(median(edge.map(({ p99Ms }) => p99Ms))),
        ],
      ],
    ),
  );
  const used = [...cpuMicros].map(([name, micros]) => `${name} ${micros.toFixed(1)}`);
  const ownMicros = median(direct.map(({ cpuMicros: micros }) => micros)).toFixed(1);
  console.log(`\nCPU µs/event through the edge: ${used.join(', ')}; the direct producer: ${ownMicros}.\n`);
}

function reportConsumers(alerts: Compared, dashboard: Compared): void {
  const rates = (runs: Run[]) => runs.map(({ eventsPerSecond }) => eventsPerSecond);
  const row = (name: string, runs: Run[], { counting, parsing }: Compared): string[] => {
    const of = (bare: Run[]) =>
      `${Math.round(median(rates(runs).map((rate, round) => rate / (rates(bare)[round] ?? NaN))) * 100)} %`;
    const cpu = median(runs.map(({ cpuMicros }) => cpuMicros)).toFixed(1);
    return [name, whole(median(rates(runs))), cpu, of(counting), of(parsing)];
  };
  const rows = ([name, compared]: [string, Compared]): string[][] => [
    row(`bare eachBatch that counts, the events of ${name}`, compared.counting, compared),
    row(`bare eachBatch that parses, the events of ${name}`, compared.parsing, compared),
    row(name, compared.service, compared),
  ];
  console.log('### Consumers\n');
  console.log(
    `- alerts: ${whole(alertsEvents)} events, 1,000 rules in 50 workspaces; dashboard: ${whole(dashboardEvents)} events; ` +
      'all in the topic before the start, one process, rounds in turn, medians\n',
  );
  const compared: [string, Compared][] = [
    ['alerts, 1,000 rules', alerts],
    ['dashboard', dashboard],
  ];
  console.log(markdownTable(['', 'events/s', 'CPU µs/event', 'of counting', 'of parsing'], compared.flatMap(rows)));
  console.log('\nGoal: at least 50 % for alerts.\n');
}

function reportReplicas(drained: readonly [string, Drained][]): void {
  console.log('### Replicas\n');
  console.log('- processes of the fleet over a topic of 6 partitions, filled before the start; one run\n');
  console.log(
    markdownTable(
      ['', 'replicas', 'working', 'events/s', 'CPU µs/event', 'mongod µs/event'],
      drained.map(([name, { replicas, working, eventsPerSecond, cpuMicros, mongodMicros }]) => [
        name,
        ...[replicas, working].map(String),
        ...[whole(eventsPerSecond), cpuMicros.toFixed(1), mongodMicros.toFixed(1)],
      ]),
    ),
  );
}
