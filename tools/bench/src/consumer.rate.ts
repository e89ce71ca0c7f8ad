import { encodeGatewayEvent, GATEWAY_EVENTS_TOPIC, GATEWAY_EVENTS_TOPIC_OPTIONS } from '@tollkeeper/contracts';
import type { EventLog } from '@tollkeeper/event-log';
import { provenTenantId } from '@tollkeeper/kernel';
import type { Component } from '@tollkeeper/runtime';
import { setTimeout as delay } from 'node:timers/promises';
import type { DashboardStack } from './dashboard.stack.ts';
import { generateBatches } from './event.generator.ts';

const WORKSPACES = 16;
/** The records lie as close together as in traffic whose rate matters. */
const SPAN_MS = 3_600_000;

/** Events a second of the dashboard's consumer, and of one that only reads: both over the same full log. */
export async function measureConsumer(
  stack: DashboardStack,
  count: number,
): Promise<{ counted: number; read: number }> {
  const eventLog = await stack.openLog('rate_log');
  await fill(eventLog, count);

  const reader = createBareReader(eventLog, count);
  const read = await rateOf(count, reader, reader.done);

  const dashboard = stack.createDashboard('dashboard_rate', eventLog);
  const counted = await rateOf(count, dashboard, async () => {
    while ((await dashboard.lag()) > 0) await delay(20);
  });
  return { counted, read };
}

async function rateOf(count: number, consumer: Component, done: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await consumer.start();
  await done();
  const seconds = (performance.now() - startedAt) / 1_000;
  await consumer.stop();
  return count / seconds;
}

async function fill(eventLog: EventLog, count: number): Promise<void> {
  await eventLog.ensureTopic(GATEWAY_EVENTS_TOPIC_OPTIONS);
  const end = Date.now();
  const receivedAt = new Date(end).toISOString();
  for (const events of generateBatches({ count, start: end - SPAN_MS, end }, 1_000)) {
    const records = events.map((event, index) =>
      encodeGatewayEvent({ tenantId: provenTenantId(`ws_${index % WORKSPACES}`), receivedAt, event }),
    );
    await eventLog.append(GATEWAY_EVENTS_TOPIC, records);
  }
}

function createBareReader(eventLog: EventLog, count: number): Component & { done(): Promise<void> } {
  const positions = new Map<number, number>();
  const finished = Promise.withResolvers<void>();
  let read = 0;
  const consumer = eventLog.consumer({
    group: 'bare',
    topic: GATEWAY_EVENTS_TOPIC,
    maxRecords: 1_000,
    handler: {
      position: async (_topic, partition) => positions.get(partition) ?? null,
      async handle({ partition, records, nextOffset }) {
        positions.set(partition, nextOffset);
        read += records.length;
        if (read === count) finished.resolve();
      },
    },
  });
  return { ...consumer, done: () => finished.promise };
}
