import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parseArgs } from 'node:util';
import {
  encodeGatewayEvent,
  GATEWAY_EVENTS_TOPIC,
  GATEWAY_EVENTS_TOPIC_OPTIONS,
  type GatewayEvent,
} from '@tollkeeper/contracts';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { type AlertsStack, type RuleSettings, startAlertsStack } from './alerts.stack.ts';
import { rateOfCountQueries } from './count-queries.ts';
import { measureDeliveries } from './delivery.latency.ts';
import { describeMachine } from './machine.ts';
import { markdownTable, whole } from './markdown.table.ts';
import { percentile } from './statistics.ts';

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    queried: { type: 'string', default: '5000' },
    threshold: { type: 'string', default: '1000' },
  },
});
const eventCount = Number(values.events);
const queriedCount = Number(values.queried);

const WORKSPACES = 50;
const RULES_PER_WORKSPACE = 20;
const MATCHING_TYPE = 'tool.failed';
/** One event in so many is of the type that all rules of its workspace count. */
const ONE_IN = 10;
const EVENTS_PER_SECOND = 1_000;
const APPENDED_AT_ONCE = 5_000;
const rule: RuleSettings = { eventType: MATCHING_TYPE, threshold: Number(values.threshold), windowSeconds: 3_600 };

interface Measured {
  eventsPerSecond: number;
  /** What the heap and the windows hold after the run, above what they held before. */
  heldBytes: number;
}

const stack = await startAlertsStack();
try {
  console.log(`## Alerts\n\n${describeMachine()}`);
  await prepare(stack);
  const parsed = await measureBareConsumer(stack);
  const evaluated = await measureEvaluator(stack);
  const rules = Array.from({ length: RULES_PER_WORKSPACE }, () => rule);
  const events = generateEvents(Math.min(queriedCount, eventCount), Date.now());
  const queried = await rateOfCountQueries({ mongodbUri: stack.mongodbUri, events, rules });
  report(evaluated, parsed, queried);
} finally {
  await stack.stop();
}
await reportDeliveries();

/** Rules first, then the whole log: a rule counts what is received after it was made. */
async function prepare(stack: AlertsStack): Promise<void> {
  const preparing = stack.createAlerts();
  await preparing.start();
  for (const tenantId of tenants()) {
    for (let count = 0; count < RULES_PER_WORKSPACE; count += 1) await stack.createRule(preparing, tenantId, rule);
  }
  await preparing.stop();
  await fillLog(stack);
}

/** From the start of the service until all events are evaluated and that is stored. */
async function measureEvaluator(stack: AlertsStack): Promise<Measured> {
  const alerts = stack.createAlerts();
  const heldBefore = await heldBytes();
  const startedAt = performance.now();
  await alerts.start();
  while ((await alerts.lag()) > 0) await delay(200);
  const seconds = (performance.now() - startedAt) / 1_000;
  const held = (await heldBytes()) - heldBefore;
  await alerts.stop();
  return { eventsPerSecond: eventCount / seconds, heldBytes: held };
}

/** A consumer of the same log that parses each event and does nothing with it. */
async function measureBareConsumer({ eventLog }: AlertsStack): Promise<number> {
  const positions = new Map<number, number>();
  const finished = Promise.withResolvers<void>();
  let read = 0;
  const consumer = eventLog.consumer({
    group: 'bare',
    topic: GATEWAY_EVENTS_TOPIC,
    maxRecords: 2_000,
    handler: {
      position: async (_topic, partition) => positions.get(partition) ?? null,
      async handle({ partition, records, nextOffset }) {
        for (const { value } of records) JSON.parse(value.toString());
        positions.set(partition, nextOffset);
        read += records.length;
        if (read === eventCount) finished.resolve();
      },
    },
  });
  const startedAt = performance.now();
  await consumer.start();
  await finished.promise;
  const seconds = (performance.now() - startedAt) / 1_000;
  await consumer.stop();
  return eventCount / seconds;
}

async function fillLog({ eventLog }: AlertsStack): Promise<void> {
  await eventLog.ensureTopic(GATEWAY_EVENTS_TOPIC_OPTIONS);
  let records: { key: string; value: Buffer }[] = [];
  let appended = 0;
  const append = async () => {
    await eventLog.append(GATEWAY_EVENTS_TOPIC, records);
    appended += records.length;
    if (appended % 100_000 === 0) console.error(`${whole(appended)} of ${whole(eventCount)} events in the log`);
    records = [];
  };
  for (const { tenantId, event } of generateEvents(eventCount, Date.now())) {
    records.push(encodeGatewayEvent({ tenantId, event, receivedAt: event.time }));
    if (records.length === APPENDED_AT_ONCE) await append();
  }
  if (records.length > 0) await append();
}

function* generateEvents(count: number, start: number): Generator<{ tenantId: TenantId; event: GatewayEvent }> {
  const workspaces = tenants();
  for (let index = 0; index < count; index += 1) {
    const tenantId = workspaces[index % WORKSPACES]!;
    const matching = Math.floor(index / WORKSPACES) % ONE_IN === 0;
    const time = new Date(start + (index * 1_000) / EVENTS_PER_SECOND).toISOString();
    const known = { run_id: `run-${index % 997}`, agent_id: `agent-${index % 40}` };
    const data = matching ? { ...known, tool: 'search' } : { ...known, tool: 'search', took_ms: index % 900 };
    const type = matching ? MATCHING_TYPE : 'tool.called';
    yield { tenantId, event: { specversion: '1.0', id: `e-${index}`, source: '/gateways/bench', type, time, data } };
  }
}

function tenants(): TenantId[] {
  return Array.from({ length: WORKSPACES }, (_, index) => provenTenantId(`ws_bench${index}`));
}

/** Bytes of the heap and of array buffers that are still in use, once what was in flight is gone. */
async function heldBytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  for (let round = 0; round < 5; round += 1) {
    collectGarbage();
    await delay(200);
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function report({ eventsPerSecond, heldBytes: held }: Measured, parsed: number, queried: number): void {
  const rules = WORKSPACES * RULES_PER_WORKSPACE;
  console.log(
    `- ${whole(rules)} rules (threshold ${whole(rule.threshold)}) in ${WORKSPACES} workspaces; ${whole(eventCount)} events in the log before ` +
      `the start, every ${ONE_IN}th matches all ${RULES_PER_WORKSPACE} rules of its workspace; one process`,
  );
  console.log(`- the count queries ran over ${whole(Math.min(queriedCount, eventCount))} events`);
  console.log(`- held in memory after the run, above what was held before: ${(held / 2 ** 20).toFixed(1)} MiB\n`);
  console.log(
    markdownTable(
      ['', 'events/s', 'evaluator in comparison'],
      [
        ['evaluator: decode, evaluate, store', whole(eventsPerSecond), ''],
        ['bare consumer that parses', whole(parsed), `${Math.round((eventsPerSecond / parsed) * 100)} %`],
        ['a count query per event and rule', whole(queried), `${whole(eventsPerSecond / queried)}×`],
      ],
    ),
  );
  console.log('\nGoals: at least 50 % of the bare consumer, at least 100 times the count queries.');
}

async function reportDeliveries(): Promise<void> {
  const { milliseconds, missing, backgroundPerSecond } = await measureDeliveries();
  console.log(
    `\nEvent accepted (202) → webhook received, standalone, https on loopback, ${backgroundPerSecond} events/s in the background, ` +
      `${milliseconds.length} alerts one by one, ${missing} missing:\n`,
  );
  const [p50, p99] = [percentile(milliseconds, 50), percentile(milliseconds, 99)];
  console.log(markdownTable(['p50 ms', 'p99 ms'], [[whole(p50), whole(p99)]]));
  console.log('\nGoal: p99 below 1,000 ms.');
}
