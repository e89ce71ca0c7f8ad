import { decodeGatewayEvent, GATEWAY_EVENTS_TOPIC_OPTIONS, type GatewayEventRecord } from '@tollkeeper/contracts';
import type { ConsumerGroup, LogConsumer } from '@tollkeeper/event-log';
import type { Clock } from '@tollkeeper/kernel';
import type { Metrics } from '@tollkeeper/runtime';
import type { ClientSession } from 'mongoose';
import { BUDGET_BLOCKED, GUARD_BLOCKED, SPEND_SETTLED, type DashboardEvent } from '../domain/event.ts';
import { createWriteCounter, recordEvents, type EventRecorder } from '../domain/record-events.ts';

/** The consumer group of the replicas. Offsets are stored under this name. */
export const CONSUMER_GROUP = 'dashboard';

/** A consumer that is behind takes this many events at a time: the more, the fewer roll-ups it writes for each. */
const MAX_RECORDS = 5_000;
/** An event may be shown so much later, so that light traffic has not a transaction for each. */
const LINGER_MS = 100;

/** Counts the events of the log exactly once. */
export function createGatewayEventsConsumer(deps: {
  group: ConsumerGroup;
  recorder: EventRecorder<ClientSession>;
  metrics: Metrics;
  clock: Clock;
}): LogConsumer {
  const eventsTotal = deps.metrics.counter({
    name: 'dashboard_events_total',
    help: 'Events read from the log, by what became of them',
    labelNames: ['outcome'],
  });

  return deps.group.consumer({
    topic: GATEWAY_EVENTS_TOPIC_OPTIONS,
    maxRecords: MAX_RECORDS,
    lingerMs: LINGER_MS,
    decode: ({ value }) => toDashboardEvent(decodeGatewayEvent(value)),
    documents: () => createWriteCounter(deps.recorder, deps.clock()),
    apply: (session, events) => recordEvents(deps.recorder, session, events),
    applied(counted, events) {
      eventsTotal.inc({ outcome: 'counted' }, counted);
      eventsTotal.inc({ outcome: 'duplicate' }, events.length - counted);
    },
  });
}

const KEPT_WHOLE: ReadonlySet<string> = new Set([SPEND_SETTLED, BUDGET_BLOCKED, GUARD_BLOCKED]);

/** Events of types that the dashboard does not show are stored with the counted fields only. */
export function toDashboardEvent({ tenantId, event }: GatewayEventRecord): DashboardEvent {
  const { id, source, type, time, data } = event;
  const { run_id, agent_id } = data;
  const counted = { ...(run_id !== undefined && { run_id }), ...(agent_id !== undefined && { agent_id }) };
  return { tenantId, source, eventId: id, type, time: Date.parse(time), data: KEPT_WHOLE.has(type) ? data : counted };
}
