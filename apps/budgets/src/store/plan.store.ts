import { isDuplicateKey } from '@tollkeeper/mongo';
import { type Connection, Schema, trusted } from 'mongoose';
import { MAX_PLANS, type Plan, type PlanStore } from '../domain/plan.ts';

type StoredPlan = Omit<Plan, 'id'> & { _id: string; tenantId: string };

const planSchema = new Schema<StoredPlan>(
  {
    _id: { type: String, required: true },
    tenantId: { type: String, required: true },
    key: { type: String, required: true },
    displayName: { type: String, required: true },
    description: { type: String, default: '' },
    dailyBudgetMicros: { type: Number, required: true },
    isActive: { type: Boolean, required: true },
    createdAt: { type: Date, required: true },
    updatedAt: { type: Date, required: true },
  },
  { collection: 'plans', versionKey: false },
);
// When two plans with one key are created at the same time, this lets one through.
planSchema.index({ tenantId: 1, key: 1 }, { unique: true });

/** Plans in the database of `connection`. Make it before the connection starts. */
export function createPlanStore(connection: Connection): PlanStore {
  const plans = connection.model<StoredPlan>('Plan', planSchema);

  return {
    async list(tenantId) {
      return (await plans.find({ tenantId }).sort({ key: 1 }).lean()).map(toPlan);
    },

    async find(tenantId, keys) {
      const found = await plans
        .find({ tenantId, key: trusted({ $in: keys }) })
        .sort({ key: 1 })
        .lean();
      return found.map(toPlan);
    },

    count: (tenantId) => plans.countDocuments({ tenantId }).limit(MAX_PLANS),

    async insert(tenantId, { id, ...fields }) {
      try {
        await plans.create({ _id: id, tenantId, ...fields });
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },

    async update(tenantId, key, changes) {
      const updated = await plans
        .findOneAndUpdate({ tenantId, key }, { $set: changes }, { returnDocument: 'after' })
        .lean();
      return updated === null ? null : toPlan(updated);
    },

    async delete(tenantId, key) {
      return (await plans.deleteOne({ tenantId, key })).deletedCount === 1;
    },
  };
}

function toPlan({ _id, tenantId: _tenantId, ...fields }: StoredPlan): Plan {
  return { id: _id, ...fields };
}
