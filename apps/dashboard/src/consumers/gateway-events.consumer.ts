import {
  decodeGatewayEvent,
  GATEWAY_EVENTS_TOPIC_OPTIONS,
  isCall,
  isSpendRepriced,
  isSpendSettled,
  MAX_TRACKED_LABELS,
  type GatewayEvent,
  type GatewayEventRecord,
} from '@tollkeeper/contracts';
import type { ConsumerGroup, GroupConsumer } from '@tollkeeper/event-log';
import { roomFor, type Clock, type TenantId } from '@tollkeeper/kernel';
import type { Logger, Metrics } from '@tollkeeper/runtime';
import { LRUCache } from 'lru-cache';
import type { ClientSession } from 'mongoose';
import { isKeptWhole, SPEND_REPRICED, type DashboardEvent, type EventData } from '../domain/event.ts';
import { MAX_NAMES, type OtherNames } from '../domain/names.ts';
import { toCorrectionData } from '../domain/corrections.ts';
import { createWriteCounter, recordEvents, type EventRecorder } from '../domain/record-events.ts';
import { toSettlementData } from '../domain/settlement-data.ts';
import { withTracked, type TrackedLabels } from '../domain/tracked-labels.ts';

/** The consumer group of the replicas. Offsets are stored under this name. */
export const CONSUMER_GROUP = 'dashboard';

/** A consumer that is behind takes this many events at a time. Larger batches write fewer roll-ups per event. */
const MAX_RECORDS = 5_000;
/** Delay before an event is shown. With light traffic, several events then share a transaction. */
const LINGER_MS = 100;
/** Milliseconds between two log lines about a workspace with too many names, and how many workspaces are remembered. */
const WARN_EVERY_MS = 60_000;
const MAX_WARNED = 1_000;
const NAMED: Record<OtherNames['kind'], string> = { model: 'models', plan: 'plans', label: 'values of a label' };

/** Counts the events of the log exactly once. */
export function createGatewayEventsConsumer(deps: {
  group: ConsumerGroup;
  recorder: EventRecorder<ClientSession>;
  trackedLabels: TrackedLabels;
  metrics: Metrics;
  logger: Logger;
  clock: Clock;
}): GroupConsumer {
  const { trackedLabels } = deps;
  const eventsTotal = deps.metrics.counter({
    name: 'dashboard_events_total',
    help: 'Events read from the log, by outcome',
    labelNames: ['outcome'],
  });
  const settledAgainTotal = deps.metrics.counter({
    name: 'dashboard_duplicate_settlements_total',
    help: 'Settlements read from the log that had been counted before, by whether their amount differs from that one',
    labelNames: ['differs'],
  });
  const overLimitTotal = deps.metrics.counter({
    name: 'dashboard_names_over_limit_total',
    help: 'Events counted as "other" because the workspace named too many models, plans or values of a label in a day',
    labelNames: ['kind'],
  });
  const warned = new LRUCache<TenantId, true>({
    ...{ ...roomFor(MAX_WARNED), ttl: WARN_EVERY_MS, ttlResolution: 0 },
    perf: { now: deps.clock },
  });

  function warn({ tenantId, kind, events }: OtherNames): void {
    overLimitTotal.inc({ kind }, events);
    if (warned.has(tenantId)) return;
    warned.set(tenantId, true);
    const reason = `its events name more than ${MAX_NAMES} ${NAMED[kind]} in a day`;
    deps.logger.warn({ tenant_id: tenantId, reason }, 'a workspace uses too many names; the rest are counted as one');
  }

  /** A correction counts by the labels by which its settlement was counted. */
  function trackedOf({ tenantId, type, data }: DashboardEvent): readonly string[] | undefined {
    return type === SPEND_REPRICED ? (data.tracked?.split(',') ?? []) : trackedLabels.lastKnown(tenantId);
  }

  return deps.group.consumer({
    topic: GATEWAY_EVENTS_TOPIC_OPTIONS,
    maxRecords: MAX_RECORDS,
    lingerMs: LINGER_MS,
    decode: ({ value }) => toDashboardEvent(decodeGatewayEvent(value)),
    documents() {
      const count = createWriteCounter(deps.recorder, deps.clock());
      return (event) => count(withTracked(event, trackedOf(event) ?? mostTracked(event)));
    },
    applyAhead: (events) =>
      trackedLabels.refresh(new Set(events.flatMap(({ tenantId, data }) => (data.labels ? [tenantId] : [])))),
    apply(session, events) {
      const tracked = events.map((event) => withTracked(event, trackedOf(event) ?? []));
      return recordEvents(deps.recorder, session, tracked);
    },
    applied({ counted, settledAgain, others }, events) {
      eventsTotal.inc({ outcome: 'counted' }, counted);
      eventsTotal.inc({ outcome: 'duplicate' }, events.length - counted);
      settledAgainTotal.inc({ differs: 'false' }, settledAgain.alike);
      settledAgainTotal.inc({ differs: 'true' }, settledAgain.differing);
      others.forEach(warn);
    },
  });
}

/** The most labels of the event that a workspace can track. */
function mostTracked({ data }: DashboardEvent): string[] {
  return Object.keys(data.labels ?? {}).slice(0, MAX_TRACKED_LABELS);
}

/** The event with what the drilldowns show and count of it. */
export function toDashboardEvent({ tenantId, keyId, event }: GatewayEventRecord): DashboardEvent {
  const { id, source, type, time } = event;
  return { tenantId, source, eventId: id, type, time: Date.parse(time), data: dataOf(event, keyId) };
}

function dataOf(event: GatewayEvent, keyId: string | undefined): EventData {
  const whole = wholeOf(event);
  if (whole !== undefined) return keyId === undefined ? whole : { ...whole, key_id: keyId };
  const { run_id, agent_id } = event.data;
  const labels = isCall(event) ? event.data.labels : undefined;
  return {
    ...(run_id !== undefined && { run_id }),
    ...(agent_id !== undefined && { agent_id }),
    ...(labels !== undefined && { labels }),
  };
}

/** The data of events that are stored with their fields. */
function wholeOf(event: GatewayEvent): EventData | undefined {
  if (isSpendSettled(event)) return toSettlementData(event.data);
  if (isSpendRepriced(event)) return toCorrectionData(event.data);
  return isKeptWhole(event.type) ? event.data : undefined;
}
