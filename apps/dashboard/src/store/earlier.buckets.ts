import type { TenantId } from '@tollkeeper/kernel';
import type { Connection } from 'mongoose';
import { GRAINS, type Grain } from '../domain/grain.ts';
import type { ReadPlan } from '../domain/read-plan.ts';
import { addTallyTo, type Tally } from '../domain/tally.ts';
import type { RunStartStore, Subject, TallyStore } from '../domain/tallies.ts';
import { SUMS_OF_BUCKETS, TALLY_PROJECTION, toTally, type TallyRow } from './earlier.tally-row.ts';

/** A roll-up as releases up to 0.1 wrote it: one document for each scope and grain. */
export interface BucketDocument extends TallyRow {
  _id: string;
  tenant_id: TenantId;
  level: 'workspace' | 'agent' | 'model';
  agent_id?: string;
  model?: string;
  grain: Grain;
  start: Date;
  runs_started?: number;
}

type GroupField = 'agent_id' | 'model';

/**
 * The roll-ups of releases up to 0.1, which are only read. They expire by the index of those releases, 190 days after
 * their start at the earliest. What is counted since is added to {@link createRollupStore}, also to the same times, so
 * both together are what happened.
 */
export function createEarlierBuckets(connection: Connection): TallyStore & RunStartStore {
  const buckets = connection.collection<BucketDocument>('buckets');

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

  async function grouped<K>(match: object, field: GroupField, plan: ReadPlan): Promise<Map<K, Tally>> {
    const total = new Map<K, Tally>();
    const parts = await perGrain(plan, (range) =>
      buckets.aggregate<TallyRow & { _id: K }>([{ $match: { ...match, ...range } }, groupBy(field)]).toArray(),
    );
    for (const row of parts.flat()) addTallyTo(total, row._id, toTally(row));
    return total;
  }

  return {
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
    async divideSpend(tenantId, by, plan, add) {
      // No release that wrote buckets counted plans.
      const level = by === 'plan' ? 'workspace' : by;
      const key = by === 'plan' ? null : keyOf(by === 'agent' ? 'agent_id' : 'model');
      const match = { tenant_id: tenantId, level, settlements: { $gt: 0 } };
      await perGrain(plan, async (range, spans) => {
        const rows = buckets.aggregate<TallyRow & { _id: { key: string | null; start: Date } }>([
          { $match: { ...match, ...range } },
          { $group: { _id: { key, start: '$start' }, ...SUMS_OF_BUCKETS } },
        ]);
        for await (const row of rows) add(row._id.key, spans.get(row._id.start.getTime())!, toTally(row));
      });
    },
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

function groupBy(field: GroupField): object {
  return { $group: { _id: keyOf(field), ...SUMS_OF_BUCKETS } };
}

function keyOf(field: GroupField): object {
  return { $ifNull: [`$${field}`, null] };
}

function scopeFilter(subject: Subject): object {
  return subject === 'workspace' ? { level: 'workspace' } : { level: 'agent', agent_id: subject.agentId };
}
