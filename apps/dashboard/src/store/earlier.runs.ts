import type { TenantId } from '@tollkeeper/kernel';
import type { ClientSession, Connection } from 'mongoose';
import type { EventRecorder } from '../domain/record-events.ts';
import { runKey } from '../domain/run.ts';
import type { RunStartStore } from '../domain/tallies.ts';

export interface RunDocument {
  /** `runKey` of the run. */
  _id: string;
  tenant_id: TenantId;
  first_at: Date;
}

/**
 * The time of each run's first event as releases up to 0.1 stored it, which is only read. It expires by the index of
 * those releases. A start that has moved since is in chunks, with the time that it had here.
 */
export function createEarlierRuns(
  connection: Connection,
): RunStartStore & Pick<EventRecorder<ClientSession | undefined>, 'knownRunStarts'> {
  const runs = connection.collection<RunDocument>('runs');

  return {
    async knownRunStarts(session, wanted) {
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
