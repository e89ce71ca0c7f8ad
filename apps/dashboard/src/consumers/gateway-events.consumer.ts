import { decodeGatewayEvent, GATEWAY_EVENTS_TOPIC, GATEWAY_EVENTS_TOPIC_OPTIONS } from '@tollkeeper/contracts';
import type { GatewayEventRecord } from '@tollkeeper/contracts';
import { createTransactionalHandler, type DeadLetters, type EventLog, type LogConsumer } from '@tollkeeper/event-log';
import type { OffsetStore } from '@tollkeeper/mongo';
import type { Metrics } from '@tollkeeper/runtime';
import type { ClientSession, Connection } from 'mongoose';
import { BUDGET_BLOCKED, GUARD_BLOCKED, SPEND_SETTLED, type DashboardEvent } from '../domain/event.ts';
import { createWriteCounter, recordEvents, type EventRecorder } from '../domain/record-events.ts';

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

/** Counts the events of the log exactly once: what events change and the offset behind them are committed in one transaction. */
export function createGatewayEventsConsumer(deps: GatewayEventsConsumerDeps): LogConsumer {
  const { eventLog, deadLetters, connection, offsets, recorder } = deps;
  const eventsTotal = deps.metrics.counter({
    name: 'dashboard_events_total',
    help: 'Events read from the log, by what became of them',
    labelNames: ['outcome'],
  });

  const handler = createTransactionalHandler({
    connection,
    offsets,
    deadLetters,
    read: ({ value }) => toDashboardEvent(decodeGatewayEvent(value)),
    documents: createWriteCounter,
    apply: (session: ClientSession, events: DashboardEvent[]) => recordEvents(recorder, session, events),
    applied(counted, events) {
      eventsTotal.inc({ outcome: 'counted' }, counted);
      eventsTotal.inc({ outcome: 'duplicate' }, events.length - counted);
    },
  });

  const consumer = eventLog.consumer({
    group: CONSUMER_GROUP,
    topic: GATEWAY_EVENTS_TOPIC,
    handler,
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

const KEPT_WHOLE: ReadonlySet<string> = new Set([SPEND_SETTLED, BUDGET_BLOCKED, GUARD_BLOCKED]);

/** Of types that the dashboard does not show, only what it counts is kept. */
export function toDashboardEvent({ tenantId, event }: GatewayEventRecord): DashboardEvent {
  const { id, source, type, time, data } = event;
  const { run_id, agent_id } = data;
  const counted = { ...(run_id !== undefined && { run_id }), ...(agent_id !== undefined && { agent_id }) };
  return { tenantId, source, eventId: id, type, time: Date.parse(time), data: KEPT_WHOLE.has(type) ? data : counted };
}
