import type { TenantId } from '@tollkeeper/kernel';
import type { ClientSession, Connection, mongo } from 'mongoose';
import { eventKey, settlementKey, SPEND_SETTLED, type DashboardEvent, type EventData } from '../domain/event.ts';
import type { Dimension } from '../domain/breakdown.ts';
import type { EventReader } from '../domain/event.reader.ts';
import type { RawRead, ReadPlan } from '../domain/read-plan.ts';
import type { EventRecorder } from '../domain/record-events.ts';
import { addTallyTo, type Tally } from '../domain/tally.ts';
import type { Subject, TallyStore } from '../domain/tallies.ts';
import { SUMS_OF_EVENTS, toTally, type TallyRow } from './earlier.tally-row.ts';

export interface EventDocument {
  /** `eventKey` of the event. */
  _id: string;
  tenant_id: TenantId;
  event_id: string;
  source: string;
  type: string;
  time: Date;
  data: EventData;
}

type EventStore = EventReader & TallyStore & Pick<EventRecorder<ClientSession | undefined>, 'knownIdentities'>;

/** The field of a settlement's data that names its group. */
const FIELDS: Record<Dimension, string> = { agent: 'agent_id', model: 'model', plan: 'plan_key' };

/**
 * Events of all types as releases up to 0.1 stored them, a document each, which are only read. They expire by the index
 * of those releases.
 */
export function createEarlierEvents(connection: Connection): EventStore {
  const events = connection.collection<EventDocument>('events');

  const list = async (match: object, sort: mongo.Sort, limit: number): Promise<DashboardEvent[]> =>
    (await events.find(match).sort(sort).limit(limit).toArray()).map(toEvent);

  async function grouped<K>(match: object, by: unknown, raw: RawRead): Promise<[K, Tally][]> {
    const within = { time: { $gte: new Date(raw.start), $lt: new Date(raw.end) } };
    const rows = events.aggregate<TallyRow & { _id: K }>([
      { $match: { ...match, ...within } },
      { $group: { _id: by, ...SUMS_OF_EVENTS } },
    ]);
    return (await rows.toArray()).map((row) => [row._id, toTally(row)]);
  }

  const stepOf = (raw: RawRead): object => ({
    $floor: { $divide: [{ $subtract: ['$time', new Date(raw.start)] }, raw.stepMs] },
  });

  async function overPlan<K>(match: object, by: unknown, plan: ReadPlan): Promise<Map<K, Tally>> {
    const total = new Map<K, Tally>();
    for (const rows of await Promise.all(plan.raw.map((raw) => grouped<K>(match, by, raw)))) {
      for (const [key, tally] of rows) addTallyTo(total, key, tally);
    }
    return total;
  }

  return {
    async knownIdentities(session, wanted) {
      const options = session && { session };
      const known = new Set<string>();
      const ids = wanted.map(eventKey);
      const byId = events.find({ _id: { $in: ids } }, { ...options, projection: { _id: 1 } });
      for (const { _id } of await byId.toArray()) known.add(_id);
      for (const [tenantId, settlementIds] of settlementsByTenant(wanted)) {
        const match = { tenant_id: tenantId, type: SPEND_SETTLED, 'data.settlement_id': { $in: settlementIds } };
        const found = events.find(match, { ...options, projection: { 'data.settlement_id': 1 } });
        for (const { data } of await found.toArray()) known.add(settlementKey(tenantId, data.settlement_id ?? ''));
      }
      return known;
    },
    async tallySpans(tenantId, subject, plan) {
      const bySpan = new Map<number, Tally>();
      await Promise.all(
        plan.raw.map(async (raw) => {
          const rows = await grouped<number>({ tenant_id: tenantId, ...subjectFilter(subject) }, stepOf(raw), raw);
          for (const [index, tally] of rows) addTallyTo(bySpan, raw.firstSpan + index, tally);
        }),
      );
      return bySpan;
    },
    tallyAgents: (tenantId, plan) =>
      overPlan<string>({ tenant_id: tenantId, 'data.agent_id': { $exists: true } }, '$data.agent_id', plan),
    tallyModels: (tenantId, agentId, plan) =>
      overPlan<string | null>(
        { tenant_id: tenantId, 'data.agent_id': agentId, type: SPEND_SETTLED },
        { $ifNull: ['$data.model', null] },
        plan,
      ),
    async divideSpend(tenantId, by, plan, add) {
      const match = { tenant_id: tenantId, type: SPEND_SETTLED };
      const key = { $ifNull: [`$data.${FIELDS[by]}`, null] };
      await Promise.all(
        plan.raw.map(async (raw) => {
          const rows = await grouped<{ key: string | null; step: number }>(match, { key, step: stepOf(raw) }, raw);
          for (const [{ key, step }, tally] of rows) add(key, raw.firstSpan + step, tally);
        }),
      );
    },
    listBlocked: (tenantId, type, subject, span, limit, after) => {
      // Only this field gives the index bounds. With $or, the server would read every event before the cursor.
      const end = after === undefined ? span.end : Math.min(span.end, after.time + 1);
      const within = { time: { $gte: new Date(span.start), $lt: new Date(end) } };
      const behind = after && {
        $or: [{ time: { $lt: new Date(after.time) } }, { time: new Date(after.time), _id: { $lt: after.key } }],
      };
      const filter = { tenant_id: tenantId, type, ...subjectFilter(subject), ...within, ...behind };
      return list(filter, { time: -1, _id: -1 }, limit);
    },
    findBlocked: async (tenantId, type, eventId) =>
      (await list({ tenant_id: tenantId, type, event_id: eventId }, { time: -1 }, 1))[0] ?? null,
    listRun: (tenantId, type, runId, limit) =>
      list({ tenant_id: tenantId, 'data.run_id': runId, type }, { time: 1, _id: 1 }, limit),
    listSettlements: (tenantId, agentId, span, limit) => {
      const within = { time: { $gte: new Date(span.start), $lt: new Date(span.end) } };
      return list(
        { tenant_id: tenantId, 'data.agent_id': agentId, type: SPEND_SETTLED, ...within },
        { time: -1 },
        limit,
      );
    },
    hasAgent: async (tenantId, agentId) =>
      (await events.findOne({ tenant_id: tenantId, 'data.agent_id': agentId }, { projection: { _id: 1 } })) !== null,
  };
}

function subjectFilter(subject: Subject): object {
  return subject === 'workspace' ? {} : { 'data.agent_id': subject.agentId };
}

function settlementsByTenant(events: DashboardEvent[]): Map<TenantId, string[]> {
  const byTenant = new Map<TenantId, string[]>();
  for (const { tenantId, type, data } of events) {
    if (type !== SPEND_SETTLED || data.settlement_id === undefined) continue;
    const ids = byTenant.get(tenantId);
    if (ids === undefined) byTenant.set(tenantId, [data.settlement_id]);
    else ids.push(data.settlement_id);
  }
  return byTenant;
}

export function toEvent(document: EventDocument): DashboardEvent {
  return {
    tenantId: document.tenant_id,
    source: document.source,
    eventId: document.event_id,
    type: document.type,
    time: document.time.getTime(),
    data: document.data,
  };
}
