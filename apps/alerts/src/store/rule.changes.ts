import type { TenantId } from '@tollkeeper/kernel';
import { driverCollection } from '@tollkeeper/mongo';
import { type ClientSession, type Connection, Schema } from 'mongoose';

interface StoredChange {
  /** The workspace. */
  _id: string;
  /** Number of changes of its rules. */
  revision: number;
  /**
   * Start of the last change, in whole seconds of the replica set's cluster time. That never goes back, even if a
   * server with a slow clock becomes the primary.
   */
  begunAt: Date;
}

/**
 * Changes may commit in another order than they began, so an older one may appear after newer ones were seen. How much
 * older is bounded by `transactionLifetimeLimitSeconds`, by default a minute; this is twice as much.
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
  /** Differs after each change of the workspace's rules. */
  revision: number;
  begunAt: Date;
}

/** Tells which workspaces' rules changed. Each workspace has its own document, so none waits for others. */
export interface RuleChanges {
  /**
   * Call it first in every transaction that changes rules or their channels: it serializes these transactions per
   * workspace.
   */
  record(session: ClientSession, tenantId: TenantId): Promise<void>;
  /**
   * The last change of each workspace whose rules may have changed since a call that returned `begunAt` as its latest
   * time, or at all if null. Many repeat earlier results, with the same revision.
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
      // A fail-over may roll back what no majority has, and another change would reuse its revision.
      const found = await changes.find(filter, { readConcern: { level: 'majority' } }).toArray();
      return found.map(({ _id: tenantId, ...change }) => ({ tenantId, ...change }));
    },
  };
}
