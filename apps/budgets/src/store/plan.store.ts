import type { AuditTrail } from '@tollkeeper/audit-trail';
import type { Cause } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { changeInTurn, isDuplicateKey } from '@tollkeeper/mongo';
import { type ClientSession, type Connection, Schema, trusted } from 'mongoose';
import { AUDITED_PLAN, MAX_PLANS, type Plan, type PlanStore } from '../domain/plan.ts';
import type { HistoryStore } from './history.store.ts';

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
// If two plans with one key are created at the same time, only one succeeds.
planSchema.index({ tenantId: 1, key: 1 }, { unique: true });

/** A plan before and after a change; at most one is null. */
type Changed = Record<'before' | 'after', Omit<Plan, 'id'> | null>;

/** Plans in the database of `connection`. Make it before the connection starts. */
export function createPlanStore(connection: Connection, history: HistoryStore, trail: AuditTrail): PlanStore {
  const plans = connection.model<StoredPlan>('Plan', planSchema);

  async function record(session: ClientSession, tenantId: TenantId, cause: Cause, changed: Changed): Promise<void> {
    const { before, after } = changed;
    const { key, displayName } = (after ?? before)!;
    await history.record(session, tenantId, {
      scope: 'plan',
      scopeId: key,
      previousMicros: before?.dailyBudgetMicros ?? null,
      dailyBudgetMicros: after?.dailyBudgetMicros ?? null,
      changedBy: cause.actor.id,
    });
    const target = { type: 'plan', id: key, name: displayName };
    await trail.recordChange(session, tenantId, cause, { target, fields: AUDITED_PLAN, ...changed });
  }

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

    async insert(tenantId, { id, ...fields }, cause) {
      try {
        await changeInTurn(connection, tenantId, async (session) => {
          await plans.create([{ _id: id, tenantId, ...fields }], { session });
          await record(session, tenantId, cause, { before: null, after: fields });
        });
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },

    update: (tenantId, key, changes, cause) =>
      changeInTurn(connection, tenantId, async (session) => {
        const before = await plans.findOne({ tenantId, key }, null, { session }).lean();
        const after = await plans
          .findOneAndUpdate({ tenantId, key }, { $set: changes }, { returnDocument: 'after', session })
          .lean();
        if (before === null || after === null) return null;
        await record(session, tenantId, cause, { before, after });
        return toPlan(after);
      }),

    delete: (tenantId, key, cause) =>
      changeInTurn(connection, tenantId, async (session) => {
        const deleted = await plans.findOneAndDelete({ tenantId, key }, { session }).lean();
        if (deleted === null) return false;
        await record(session, tenantId, cause, { before: deleted, after: null });
        return true;
      }),
  };
}

function toPlan({ _id, tenantId: _tenantId, ...fields }: StoredPlan): Plan {
  return { id: _id, ...fields };
}
