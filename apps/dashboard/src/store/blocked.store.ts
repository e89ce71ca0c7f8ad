import type { TenantId, TimeSpan } from '@tollkeeper/kernel';
import { driverCollection } from '@tollkeeper/mongo';
import { Schema, type ClientSession, type Connection, type mongo } from 'mongoose';
import {
  BLOCKED_TYPES,
  eventKey,
  type BlockedType,
  type DashboardEvent,
  type KnownIdentities,
  type EventData,
  type TrackedLabel,
} from '../domain/event.ts';
import { type BlockedReason, type EventReader, MAX_COUNTED_BLOCKED } from '../domain/event.reader.ts';
import type { RawRead, ReadPlan } from '../domain/read-plan.ts';
import type { ReadMeter } from '../domain/reads.ts';
import { emptyTally, holdTally, type Measure, MEASURES, type Tally } from '../domain/tally.ts';
import { WHOLE_WORKSPACE, type Subject, type TallyStore } from '../domain/tallies.ts';

interface BlockedDocument {
  /** The `eventKey` of the event, so its identity is unique. */
  _id: string;
  tenantId: TenantId;
  eventId: string;
  source: string;
  type: string;
  time: Date;
  /** As received. */
  data: EventData;
  /** The tracked labels, such as `team=growth`; absent without any. */
  labels?: string[];
}

export interface BlockedStore
  extends TallyStore, Pick<EventReader, 'listBlocked' | 'blockedReasons' | 'findBlocked' | 'hasAgent'> {
  /** The identities of those events that are already stored. */
  knownIdentities(session: ClientSession | undefined, events: DashboardEvent[]): Promise<KnownIdentities>;
  insert(session: ClientSession | undefined, events: DashboardEvent[]): Promise<void>;
  /** The oldest events of that type of a run, oldest first, at most `limit`. */
  oldestOfRun(tenantId: TenantId, type: BlockedType, runId: string, limit: number): Promise<DashboardEvent[]>;
}

// The count comes last, so that it can be summed from these indexes alone.
const BY_TIME = { tenantId: 1, type: 1, time: -1, _id: -1, 'data.count': 1 } as const;
const BY_AGENT = { tenantId: 1, type: 1, 'data.agent_id': 1, time: -1, _id: -1, 'data.count': 1 } as const;
const BY_LABEL = { tenantId: 1, type: 1, labels: 1, time: -1, _id: -1, 'data.count': 1 } as const;
const BY_RUN = { tenantId: 1, 'data.run_id': 1, type: 1, time: 1, _id: 1 } as const;
/** What the server counts. Each measure is counted for events of every type, but belongs to one type. */
const COUNTED = (Object.entries(MEASURES) as [keyof Tally, Measure][]).filter(([, { of }]) => isOfBlocked(of));
const ACCUMULATORS = Object.fromEntries(
  COUNTED.map(([name, { of, combine }]) => [name, { [combine === 'sum' ? '$sum' : '$max']: valueOf(of) }]),
);
/** Gives the indexes bounds. */
const OF_ALL_TYPES = { type: { $in: [...BLOCKED_TYPES] } };

/** What blocked a call, as expressions for the server. Earlier releases name neither the budget nor a code. */
const REASONS: Record<BlockedType, { by: BlockedReason['by']; key: unknown; name: unknown; isPause: unknown }> = {
  'budget.blocked': {
    by: 'budget',
    key: { $ifNull: ['$data.pause_id', '$data.budget_id', '$data.scope'] },
    name: { $ifNull: ['$data.pause_reason', '$data.budget_name', '$data.scope'] },
    isPause: { $eq: ['$data.code', 'paused'] },
  },
  'guard.blocked': { by: 'guard', key: '$data.guard', name: '$data.guard', isPause: false },
};

const blockedSchema = (retentionSeconds: number): Schema<BlockedDocument> => {
  const schema = new Schema<BlockedDocument>(
    {
      _id: { type: String, required: true },
      tenantId: { type: String, required: true },
      eventId: { type: String, required: true },
      source: { type: String, required: true },
      type: { type: String, required: true },
      time: { type: Date, required: true },
      data: { type: Schema.Types.Mixed, required: true },
      labels: { type: [String], default: undefined },
    },
    { collection: 'blocked_events', versionKey: false },
  );
  schema.index(BY_TIME);
  schema.index(BY_AGENT);
  schema.index(BY_LABEL, { partialFilterExpression: { labels: { $exists: true } } });
  schema.index(BY_RUN);
  schema.index({ time: 1 }, { expireAfterSeconds: retentionSeconds });
  return schema;
};

/** Blocked events, one document each; kept for `retentionSeconds` after their time. */
export function createBlockedStore(
  connection: Connection,
  retentionSeconds: number,
  mostCounted = MAX_COUNTED_BLOCKED,
): BlockedStore {
  // The driver's collection: this is a hot path, and every value below is typed or made here.
  const blocked = driverCollection<BlockedDocument>(connection, 'Blocked', blockedSchema(retentionSeconds));

  const list = async (match: object, options: mongo.FindOptions): Promise<DashboardEvent[]> =>
    (await blocked.find(match, options).toArray()).map(toEvent);

  /**
   * Tallies over the plan's raw reads, grouped by `by`. The server counts: an agent in a loop is blocked so often that
   * reading its events would take seconds.
   */
  async function counted<Group, Key>(
    tenantId: TenantId,
    subject: Subject,
    plan: ReadPlan,
    meter: ReadMeter,
    by: (raw: RawRead) => unknown,
    keyOf: (group: Group, raw: RawRead) => Key,
  ): Promise<Map<Key, Tally>> {
    const total = new Map<Key, Tally>();
    const { index: hint, filter } = lookupOf(subject);
    await Promise.all(
      plan.raw.map(async (raw) => {
        const match = { tenantId, ...OF_ALL_TYPES, ...filter, time: within(raw) };
        const $group = { _id: { type: '$type', group: by(raw) }, ...ACCUMULATORS };
        type Row = Tally & { _id: { type: BlockedType; group: Group } };
        for await (const row of blocked.aggregate<Row>([{ $match: match }, { $group }], { hint })) {
          holdTally(total, keyOf(row._id.group, raw), toTally(row._id.type, row), meter);
        }
      }),
    );
    return total;
  }

  return {
    async knownIdentities(session, wanted) {
      const ids = wanted.map(eventKey);
      const found = blocked.find({ _id: { $in: ids } }, { ...(session && { session }), projection: { _id: 1 } });
      return new Map((await found.toArray()).map(({ _id }) => [_id, undefined]));
    },
    async insert(session, fresh) {
      if (fresh.length > 0) await blocked.insertMany(fresh.map(fromEvent), session && { session });
    },
    tallySpans: (tenantId, subject, plan, meter) =>
      counted(tenantId, subject, plan, meter, stepOf, (step: number, { firstSpan }) => firstSpan + step),
    tallyAgents: (tenantId, plan, meter) =>
      counted(
        tenantId,
        WHOLE_WORKSPACE,
        plan,
        meter,
        () => '$data.agent_id',
        (agentId: string) => agentId,
      ),
    // Blocked calls have no settlements.
    tallyModels: async () => new Map(),
    divideSpend: async () => undefined,
    listBlocked: (tenantId, type, subject, span, limit, after) => {
      // Only this field gives the index bounds. With $or, the server would read every event before the cursor.
      const end = after === undefined ? span.end : Math.min(span.end, after.time + 1);
      const behind = after && {
        $or: [{ time: { $lt: new Date(after.time) } }, { time: new Date(after.time), _id: { $lt: after.key } }],
      };
      const filter = { tenantId, type, ...lookupOf(subject).filter, time: within({ ...span, end }), ...behind };
      return list(filter, { sort: { time: -1, _id: -1 }, limit });
    },
    async blockedReasons(tenantId, span, limit) {
      const reasonsOf = (type: BlockedType) => countReasons(blocked, { tenantId, type, span, limit, mostCounted });
      const reasons = (await Promise.all(BLOCKED_TYPES.map(reasonsOf))).flat();
      return reasons.sort((a, b) => b.calls - a.calls).slice(0, limit);
    },
    async findBlocked(tenantId, type, eventId) {
      // A key ends with the source, after a '|'. '}' is the character after '|'.
      const key = eventKey({ tenantId, eventId, source: '' });
      const ofId = { $gte: key, $lt: `${key.slice(0, -1)}}` };
      return (await list({ _id: ofId, type }, { sort: { time: -1, _id: -1 }, limit: 1 }))[0] ?? null;
    },
    oldestOfRun: (tenantId, type, runId, limit) =>
      list({ tenantId, 'data.run_id': runId, type }, { sort: { time: 1, _id: 1 }, limit, hint: BY_RUN }),
    async hasAgent(tenantId, agentId) {
      const { index: hint, filter } = lookupOf({ scope: 'agent', agentId });
      const found = await blocked.findOne({ tenantId, ...OF_ALL_TYPES, ...filter }, { projection: { _id: 1 }, hint });
      return found !== null;
    },
  };
}

interface ReasonQuery {
  tenantId: TenantId;
  type: BlockedType;
  span: TimeSpan;
  limit: number;
  /** Most events that are read. */
  mostCounted: number;
}

/** The reasons of blocked calls of a type, most calls first. The server counts, as above. */
async function countReasons(
  blocked: mongo.Collection<BlockedDocument>,
  { tenantId, type, span, limit, mostCounted }: ReasonQuery,
): Promise<BlockedReason[]> {
  const { by, key, name, isPause } = REASONS[type];
  const calls = { $sum: { $ifNull: ['$data.count', 1] } };
  const newest = [
    { $match: { tenantId, type, time: within(span) } },
    { $sort: { time: -1, _id: -1 } },
    { $limit: mostCounted },
    { $group: { _id: key, name: { $first: name }, isPause: { $first: isPause }, calls } },
    { $sort: { calls: -1, _id: 1 } },
    { $limit: limit },
  ];
  const rows = await blocked.aggregate<BlockedReason & { isPause: boolean }>(newest, { hint: BY_TIME }).toArray();
  return rows.map((row) => ({ by: row.isPause ? 'pause' : by, name: row.name, calls: row.calls }));
}

function isOfBlocked(of: Measure['of']): boolean {
  return of === 'time' || BLOCKED_TYPES.some((type) => type === of.type);
}

/** What an event adds to a measure, as an expression for the server: the same as `tallyOf`. */
function valueOf(of: Measure['of']): unknown {
  if (of === 'time') return { $toLong: '$time' };
  return of.amount === undefined ? 1 : { $ifNull: [`$data.${of.amount}`, of.absent ?? 0] };
}

function toTally(type: BlockedType, counted: Tally): Tally {
  const tally = emptyTally();
  for (const [name, { of }] of COUNTED) if (of === 'time' || of.type === type) tally[name] = counted[name];
  return tally;
}

function stepOf({ start, stepMs }: RawRead): object {
  return { $floor: { $divide: [{ $subtract: ['$time', new Date(start)] }, stepMs] } };
}

/** The filter for a subject's events, and the index for counting them. */
function lookupOf(subject: Subject): { filter: object; index: Record<string, 1 | -1> } {
  switch (subject.scope) {
    case 'workspace':
      return { filter: {}, index: BY_TIME };
    case 'agent':
      return { filter: { 'data.agent_id': subject.agentId }, index: BY_AGENT };
    case 'label':
      return { filter: { labels: labelText([subject.name, subject.value]) }, index: BY_LABEL };
  }
}

function within({ start, end }: TimeSpan): { $gte: Date; $lt: Date } {
  return { $gte: new Date(start), $lt: new Date(end) };
}

function fromEvent(event: DashboardEvent): BlockedDocument {
  const { tenantId, eventId, source, type, time, data, tracked } = event;
  const labels = tracked && { labels: tracked.map(labelText) };
  return { _id: eventKey(event), tenantId, eventId, source, type, time: new Date(time), data, ...labels };
}

/** No name of a label contains '='. */
function labelText([name, value]: TrackedLabel): string {
  return `${name}=${value}`;
}

function toEvent({ tenantId, source, eventId, type, time, data }: BlockedDocument): DashboardEvent {
  return { tenantId, source, eventId, type, time: time.getTime(), data };
}
