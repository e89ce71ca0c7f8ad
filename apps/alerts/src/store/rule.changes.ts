import type { TenantId } from '@tollkeeper/kernel';
import { type ClientSession, type Connection, Schema, trusted } from 'mongoose';

interface RuleChange {
  /** The workspace whose rules changed last at `sequence`, or {@link ALL}. */
  _id: string;
  sequence: number;
}

const ALL = '*';

const ruleChangeSchema = new Schema<RuleChange>(
  { _id: { type: String, required: true }, sequence: { type: Number, required: true } },
  { collection: 'rule_changes', versionKey: false },
);
ruleChangeSchema.index({ sequence: 1 });

/** Which workspaces' rules changed, in an order that all replicas agree on. */
export interface RuleChanges {
  /** Makes what `record` counts on; call it once the connection is open. */
  prepare(): Promise<void>;
  /**
   * Belongs first in every transaction that changes rules or their channels: such transactions then come one after the
   * other.
   */
  record(session: ClientSession, tenantId: TenantId): Promise<void>;
  /** The workspaces whose rules changed after `sequence`, and the sequence of the last change. */
  since(sequence: number): Promise<{ sequence: number; tenantIds: string[] }>;
}

export function createRuleChanges(connection: Connection): RuleChanges {
  const changes = connection.model<RuleChange>('RuleChange', ruleChangeSchema);

  return {
    async prepare() {
      // Outside of a transaction, where two replicas that start at once would conflict.
      await changes.updateOne({ _id: ALL }, { $setOnInsert: { sequence: 0 } }, { upsert: true });
    },
    async record(session, tenantId) {
      const options = { session, returnDocument: 'after' } as const;
      const all = await changes.findOneAndUpdate({ _id: ALL }, { $inc: { sequence: 1 } }, options).lean();
      if (all === null) throw new Error('The collection rule_changes lacks its counter; restart the alerts service');
      const { sequence } = all;
      await changes.updateOne({ _id: tenantId }, { $set: { sequence } }, { session, upsert: true });
    },
    async since(sequence) {
      const newer = await changes.find({ sequence: trusted({ $gt: sequence }) }).lean();
      return {
        sequence: Math.max(sequence, ...newer.map((change) => change.sequence)),
        tenantIds: newer.map(({ _id }) => _id).filter((id) => id !== ALL),
      };
    },
  };
}
