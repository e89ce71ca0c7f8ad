import type { TenantId } from '@tollkeeper/kernel';
import { driverCollection } from '@tollkeeper/mongo';
import { Schema, type ClientSession, type Connection, type mongo } from 'mongoose';
import { bucketKey, GRAINS, type BucketDelta, type BucketScope, type Grain } from '../domain/bucket.ts';
import type { ReadPlan } from '../domain/read-plan.ts';
import { addTallyTo, type Tally } from '../domain/tally.ts';
import type { RunStartStore, Subject, TallyStore } from '../domain/tallies.ts';
import { SUMS_OF_BUCKETS, TALLY_COLUMNS, TALLY_PROJECTION, toTally, toUpdate, type TallyRow } from './tally.row.ts';

interface BucketDocument extends TallyRow {
  /** `bucketKey` of the bucket. */
  _id: string;
  tenant_id: TenantId;
  level: BucketScope['level'];
  agent_id?: string;
  model?: string;
  grain: Grain;
  start: Date;
  runs_started?: number;
}

export interface BucketStore extends TallyStore, RunStartStore {
  /** Adds the deltas to their buckets. Not idempotent: call it in the transaction that inserts the events. */
  add(session: ClientSession | undefined, deltas: BucketDelta[]): Promise<void>;
}

/**
 * An overview compares a range with the span of equal length before it. The longest range has 92 days, so it reaches
 * 184 days back. Roll-ups are kept that long even if raw events, which are many more, have a shorter retention.
 */
const MIN_RETENTION_SECONDS = 190 * 86_400;

/**
 * Roll-ups by minute (of the workspace alone), 15 minutes, hour and day. They are kept for `retentionSeconds` after
 * their start, but at least {@link MIN_RETENTION_SECONDS}.
 */
export function createBucketStore(connection: Connection, retentionSeconds: number): BucketStore {
  const schema = new Schema<BucketDocument>(
    {
      _id: { type: String, required: true },
      tenant_id: { type: String, required: true },
      level: { type: String, required: true },
      agent_id: String,
      model: String,
      grain: { type: String, required: true },
      start: { type: Date, required: true },
      ...TALLY_COLUMNS,
      runs_started: Number,
    },
    { collection: 'buckets', versionKey: false },
  );
  schema.index({ tenant_id: 1, level: 1, grain: 1, start: 1, agent_id: 1 });
  schema.index({ tenant_id: 1, level: 1, agent_id: 1, grain: 1, start: 1 });
  schema.index({ start: 1 }, { expireAfterSeconds: Math.max(retentionSeconds, MIN_RETENTION_SECONDS) });
  // The driver's collection: this is a hot path, and every value below is typed or made here.
  const buckets = driverCollection<BucketDocument>(connection, 'Bucket', schema);

  /** One query per grain, because each is one scan of an index. */
  async function perGrain<T>(
    plan: ReadPlan,
    read: (match: object, spans: Map<number, number>) => Promise<T>,
  ): Promise<T[]> {
    const grains = GRAINS.filter((grain) => plan.buckets[grain].size > 0);
    return Promise.all(
      grains.map((grain) => {
        const spans = plan.buckets[grain];
        return read({ grain, start: { $in: [...spans.keys()].map((start) => new Date(start)) } }, spans);
      }),
    );
  }

  async function grouped<K>(match: object, field: 'agent_id' | 'model', plan: ReadPlan): Promise<Map<K, Tally>> {
    const total = new Map<K, Tally>();
    const parts = await perGrain(plan, (range) =>
      buckets.aggregate<TallyRow & { _id: K }>([{ $match: { ...match, ...range } }, groupBy(field)]).toArray(),
    );
    for (const row of parts.flat()) addTallyTo(total, row._id, toTally(row));
    return total;
  }

  return {
    async add(session, deltas) {
      if (deltas.length === 0) return;
      await buckets.bulkWrite(deltas.map(toUpsert), session && { session });
    },
    async tallySpans(tenantId, subject, plan) {
      const bySpan = new Map<number, Tally>();
      await perGrain(plan, async (range, spans) => {
        const match = { tenant_id: tenantId, ...scopeFilter(subject), ...range };
        const rows = buckets.find<TallyRow & { start: Date }>(match, {
          projection: { _id: 0, start: 1, ...TALLY_PROJECTION },
        });
        for (const row of await rows.toArray()) addTallyTo(bySpan, spans.get(row.start.getTime())!, toTally(row));
      });
      return bySpan;
    },
    tallyAgents: (tenantId, plan) => grouped<string>({ tenant_id: tenantId, level: 'agent' }, 'agent_id', plan),
    tallyModels: (tenantId, agentId, plan) =>
      grouped<string | null>({ tenant_id: tenantId, level: 'model', agent_id: agentId }, 'model', plan),
    async countRunStarts(tenantId, plan) {
      const parts = await perGrain(plan, (range) => {
        const match = { tenant_id: tenantId, level: 'workspace', ...range };
        const sum = { $group: { _id: null, runs: { $sum: '$runs_started' } } };
        return buckets.aggregate<{ runs: number }>([{ $match: match }, sum]).toArray();
      });
      return parts.flat().reduce((total, row) => total + row.runs, 0);
    },
  };
}

function groupBy(field: 'agent_id' | 'model'): object {
  return { $group: { _id: { $ifNull: [`$${field}`, null] }, ...SUMS_OF_BUCKETS } };
}

function scopeFilter(subject: Subject): object {
  return subject === 'workspace' ? { level: 'workspace' } : { level: 'agent', agent_id: subject.agentId };
}

function toUpsert(delta: BucketDelta): mongo.AnyBulkWriteOperation<BucketDocument> {
  const { tenantId, scope, grain, start, tally, runsStarted } = delta;
  const { $inc, $max } = toUpdate(tally);
  return {
    updateOne: {
      filter: { _id: bucketKey(tenantId, scope, grain, start) },
      update: {
        $setOnInsert: {
          tenant_id: tenantId,
          level: scope.level,
          ...(scope.level !== 'workspace' && { agent_id: scope.agentId }),
          ...(scope.level === 'model' && scope.model !== null && { model: scope.model }),
          grain,
          start: new Date(start),
        },
        $inc: { ...$inc, ...(runsStarted !== 0 && { runs_started: runsStarted }) },
        $max,
      },
      upsert: true,
    },
  };
}
