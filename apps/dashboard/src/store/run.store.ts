import type { TenantId } from '@tollkeeper/kernel';
import { driverCollection } from '@tollkeeper/mongo';
import { Schema, type ClientSession, type Connection } from 'mongoose';
import { runKey } from '../domain/run.ts';
import type { RunStartStore } from '../domain/tallies.ts';

export interface RunDocument {
  /** `runKey` of the run. */
  _id: string;
  tenant_id: TenantId;
  first_at: Date;
}

export interface RunStore extends RunStartStore {
  knownStarts(
    session: ClientSession | undefined,
    runs: { tenantId: TenantId; runId: string }[],
  ): Promise<Map<string, number>>;
}

/**
 * The time of each run's first event as releases up to 0.1 stored it, which is only read; kept for `retentionSeconds`
 * after it. A start that has moved since is in chunks, with the time that it had here.
 */
export function createRunStore(connection: Connection, retentionSeconds: number): RunStore {
  const schema = new Schema<RunDocument>(
    {
      _id: { type: String, required: true },
      tenant_id: { type: String, required: true },
      first_at: { type: Date, required: true },
    },
    { collection: 'runs', versionKey: false },
  );
  schema.index({ tenant_id: 1, first_at: 1 });
  schema.index({ first_at: 1 }, { expireAfterSeconds: retentionSeconds });
  const runs = driverCollection<RunDocument>(connection, 'Run', schema);

  return {
    async knownStarts(session, wanted) {
      const ids = [...new Set(wanted.map(({ tenantId, runId }) => runKey(tenantId, runId)))];
      const known = await runs.find({ _id: { $in: ids } }, session && { session }).toArray();
      return new Map(known.map((run) => [run._id, run.first_at.getTime()]));
    },
    async countRunStarts(tenantId, plan) {
      const counts = await Promise.all(
        plan.raw.map(({ start, end }) =>
          runs.countDocuments({ tenant_id: tenantId, first_at: { $gte: new Date(start), $lt: new Date(end) } }),
        ),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
}
