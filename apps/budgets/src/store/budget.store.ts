import type { AuditTrail } from '@tollkeeper/audit-trail';
import { changeInTurn } from '@tollkeeper/mongo';
import type { TenantId } from '@tollkeeper/kernel';
import { type ClientSession, type Connection, Schema } from 'mongoose';
import { AUDITED_BUDGET, type Budget, type BudgetStore } from '../domain/budget.ts';
import type { HistoryStore } from './history.store.ts';

type StoredBudget = Omit<Budget, 'id'> & { _id: string; tenantId: string };

const text = { type: String, required: true } as const;
const number = { type: Number, required: true } as const;
const date = { type: Date, required: true } as const;
const mixed = { type: Schema.Types.Mixed, required: true } as const;

const budgetSchema = new Schema<StoredBudget>(
  {
    _id: text,
    tenantId: text,
    name: text,
    description: { type: String, default: '' },
    selector: mixed,
    each: { type: String, default: null },
    overrides: { type: String, default: null },
    period: mixed,
    limitMicros: number,
    action: text,
    gracePercent: number,
    tellAt: { type: Schema.Types.Mixed, default: null },
    isActive: { type: Boolean, required: true },
    generation: number,
    createdAt: date,
    updatedAt: date,
  },
  // An empty selector must stay one.
  { collection: 'budgets', versionKey: false, minimize: false },
);
budgetSchema.index({ tenantId: 1 });

interface StoredRevision {
  /** The tenant. */
  _id: string;
  /** Number of changes of its budgets. */
  revision: number;
}

const revisionSchema = new Schema<StoredRevision>(
  { _id: text, revision: number },
  { collection: 'budget_revisions', versionKey: false },
);

/** Budgets in the database of `connection`. Make it before the connection starts. */
export function createBudgetStore(connection: Connection, history: HistoryStore, trail: AuditTrail): BudgetStore {
  const budgets = connection.model<StoredBudget>('Budget', budgetSchema);
  const revisions = connection.model<StoredRevision>('BudgetRevision', revisionSchema);

  async function list(tenantId: TenantId, session?: ClientSession): Promise<Budget[]> {
    const found = await budgets
      .find({ tenantId }, null, session && { session })
      .sort({ _id: 1 })
      .lean();
    return found.map(toBudget);
  }

  return {
    list: (tenantId) => list(tenantId),

    async find(tenantId, id) {
      const stored = await budgets.findOne({ _id: id, tenantId }).lean();
      return stored && toBudget(stored);
    },

    change: (tenantId, id, decide, cause) =>
      changeInTurn(connection, tenantId, async (session) => {
        const all = await list(tenantId, session);
        const before = all.find((budget) => budget.id === id) ?? null;
        const others = all.filter((budget) => budget !== before);
        const after = decide(before, others);
        const known = after ?? before;
        if (known === null) return { before, after };
        // Makes concurrent changes conflict in all replicas, so that each decides on the result of the one before.
        await revisions.updateOne({ _id: tenantId }, { $inc: { revision: 1 } }, { session, upsert: true });
        if (after === null) await budgets.deleteOne({ _id: id, tenantId }, { session });
        else await budgets.replaceOne({ _id: id, tenantId }, toStored(tenantId, after), { session, upsert: true });
        await history.record(session, tenantId, {
          scope: 'budget',
          scopeId: id,
          previousMicros: before?.limitMicros ?? null,
          dailyBudgetMicros: after?.limitMicros ?? null,
          changedBy: cause.actor.id,
        });
        const target = { type: 'budget', id, name: known.name };
        await trail.recordChange(session, tenantId, cause, { target, fields: AUDITED_BUDGET, before, after });
        return { before, after };
      }),
  };
}

function toBudget({ _id, tenantId: _tenantId, ...fields }: StoredBudget): Budget {
  return { id: _id, ...fields };
}

function toStored(tenantId: TenantId, { id: _id, ...fields }: Budget): Omit<StoredBudget, '_id'> {
  return { tenantId, ...fields };
}
