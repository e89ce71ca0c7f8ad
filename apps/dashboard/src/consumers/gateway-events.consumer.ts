import { decodeGatewayEvent, GATEWAY_EVENTS_TOPIC, GATEWAY_EVENTS_TOPIC_OPTIONS } from '@tollkeeper/contracts';
import type { GatewayEventRecord } from '@tollkeeper/contracts';
import type { DeadLetters, EventLog, LogConsumer, RecordBatch } from '@tollkeeper/event-log';
import { type OffsetStore, withTransaction } from '@tollkeeper/mongo';
import type { Metrics } from '@tollkeeper/runtime';
import type { ClientSession, Connection } from 'mongoose';
import { BUDGET_BLOCKED, GUARD_BLOCKED, SPEND_SETTLED, type DashboardEvent } from '../domain/event.ts';
import { recordEvents, type EventRecorder } from '../domain/record-events.ts';

/** The group that the dashboard's replicas read as, and under which they keep their offsets. */
export const CONSUMER_GROUP = 'dashboard';

const MAX_RECORDS_PER_BATCH = 1000;

export interface GatewayEventsConsumerDeps {
  eventLog: EventLog;
  deadLetters: DeadLetters;
  connection: Connection;
  offsets: OffsetStore;
  recorder: EventRecorder<ClientSession>;
  metrics: Metrics;
}

/**
 * Counts the events of the log exactly once: what a batch changes and the offset behind it are committed in one
 * transaction, which fails when another owner of the partition came first.
 */
export function createGatewayEventsConsumer(deps: GatewayEventsConsumerDeps): LogConsumer {
  const { eventLog, deadLetters, connection, offsets, recorder } = deps;
  const eventsTotal = deps.metrics.counter({
    name: 'dashboard_events_total',
    help: 'Events read from the log, by what became of them',
    labelNames: ['outcome'],
  });

  async function handle(batch: RecordBatch): Promise<void> {
    const events = await readable(batch, deadLetters);
    const { topic, partition, from, nextOffset: to } = batch;
    const counted = await withTransaction(connection, async (session) => {
      await offsets.advance(session, { topic, partition, from, to });
      return recordEvents(recorder, session, events);
    });
    eventsTotal.inc({ outcome: 'counted' }, counted);
    eventsTotal.inc({ outcome: 'duplicate' }, events.length - counted);
  }

  const consumer = eventLog.consumer({
    group: CONSUMER_GROUP,
    topic: GATEWAY_EVENTS_TOPIC,
    handler: { position: offsets.position, handle },
    maxRecords: MAX_RECORDS_PER_BATCH,
  });
  return {
    ...consumer,
    async start() {
      await eventLog.ensureTopic(GATEWAY_EVENTS_TOPIC_OPTIONS);
      await consumer.start();
    },
  };
}

async function readable(batch: RecordBatch, deadLetters: DeadLetters): Promise<DashboardEvent[]> {
  const events: DashboardEvent[] = [];
  for (const record of batch.records) {
    try {
      events.push(toDashboardEvent(decodeGatewayEvent(record.value)));
    } catch (error) {
      await deadLetters.setAside(batch, record, error instanceof Error ? error.message : String(error));
    }
  }
  return events;
}

const KEPT_WHOLE: ReadonlySet<string> = new Set([SPEND_SETTLED, BUDGET_BLOCKED, GUARD_BLOCKED]);

/** Of types that the dashboard does not show, only what it counts is kept. */
export function toDashboardEvent({ tenantId, event }: GatewayEventRecord): DashboardEvent {
  const { id, source, type, time, data } = event;
  const { run_id, agent_id } = data;
  const counted = { ...(run_id !== undefined && { run_id }), ...(agent_id !== undefined && { agent_id }) };
  return { tenantId, source, eventId: id, type, time: Date.parse(time), data: KEPT_WHOLE.has(type) ? data : counted };
}
