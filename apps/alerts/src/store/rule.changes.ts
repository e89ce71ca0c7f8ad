import type { TenantId } from '@tollkeeper/kernel';
import { driverCollection } from '@tollkeeper/mongo';
import { type ClientSession, type Connection, Schema } from 'mongoose';

interface StoredChange {
  /** The workspace. */
  _id: string;
  /** How often its rules have changed. */
  revision: number;
  /**
   * When the last change began, in whole seconds of the replica set's own time. It never goes back, not even when a
   * server with a slow clock becomes the primary.
   */
  begunAt: Date;
}

/**
 * Changes are not committed in the order in which they began, so one may appear that began before those that were seen.
 * How long before is bounded by `transactionLifetimeLimitSeconds`, a minute by default; this is twice as much.
 */
const LOOK_BACK_MS = 120_000;

const ruleChangeSchema = new Schema<StoredChange>(
  {
    _id: { type: String, required: true },
    revision: { type: Number, required: true },
    begunAt: { type: Date, required: true },
  },
  { collection: 'rule_changes', versionKey: false },
);
ruleChangeSchema.index({ begunAt: 1 });

interface RuleChange {
  tenantId: string;
  /** Another one with each change of the workspace's rules. */
  revision: number;
  begunAt: Date;
}

/** Which workspaces' rules changed. Each workspace has a document of its own, so none waits for the others. */
export interface RuleChanges {
  /**
   * Belongs first in every transaction that changes rules or their channels: such transactions of one workspace then
   * come one after the other.
   */
  record(session: ClientSession, tenantId: TenantId): Promise<void>;
  /**
   * The last changes of all workspaces whose rules may have changed since a call that answered `begunAt` as the latest
   * time; null is before the first call. Many of them were answered before, with the same revision.
   */
  since(begunAt: Date | null): Promise<RuleChange[]>;
}

/** Make it before the connection starts. */
export function createRuleChanges(connection: Connection): RuleChanges {
  const changes = driverCollection(connection, 'RuleChange', ruleChangeSchema);

  return {
    async record(session, tenantId) {
      const revision = { $add: [{ $ifNull: ['$revision', 0] }, 1] };
      const update = [{ $set: { revision, begunAt: { $toDate: '$$CLUSTER_TIME' } } }];
      await changes.updateOne({ _id: tenantId }, update, { session, upsert: true });
    },
    async since(begunAt) {
      const filter = begunAt === null ? {} : { begunAt: { $gte: new Date(begunAt.getTime() - LOOK_BACK_MS) } };
      // A fail-over may take back what no majority has, and another change would then have the same revision.
      const found = await changes.find(filter, { readConcern: { level: 'majority' } }).toArray();
      return found.map(({ _id: tenantId, ...change }) => ({ tenantId, ...change }));
    },
  };
}
