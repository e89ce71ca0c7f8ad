import type { Clock, TenantId } from '@tollkeeper/kernel';
import { type ClientSession, type Connection, Schema, trusted, Types } from 'mongoose';
import type { BudgetChange, BudgetHistory } from '../domain/history.ts';

type StoredChange = BudgetChange & { _id: Types.ObjectId; tenantId: TenantId };

/** More than 13 months, so that the same month of the previous year is included. Bounds the number of changes. */
const RETENTION_SECONDS = 400 * 86_400;

const changeSchema = new Schema<StoredChange>(
  {
    tenantId: { type: String, required: true },
    scope: { type: String, required: true },
    scopeId: { type: String, required: true },
    previousMicros: { type: Number, default: null },
    dailyBudgetMicros: { type: Number, default: null },
    changedBy: { type: String, required: true },
    changedAt: { type: Date, required: true },
  },
  { collection: 'budget_changes', versionKey: false },
);
changeSchema.index({ tenantId: 1, changedAt: -1, _id: -1 });
changeSchema.index({ tenantId: 1, scope: 1, changedAt: -1, _id: -1 });
changeSchema.index({ tenantId: 1, scope: 1, scopeId: 1, changedAt: -1, _id: -1 });
changeSchema.index({ changedAt: 1 }, { expireAfterSeconds: RETENTION_SECONDS });

export interface HistoryStore extends BudgetHistory {
  /** Records the change, unless the budget stays the same. Call it in the transaction of the change. */
  record(session: ClientSession, tenantId: TenantId, change: Omit<BudgetChange, 'changedAt'>): Promise<void>;
}

/** Changes of budgets in the database of `connection`. Make it before the connection starts. */
export function createHistoryStore(connection: Connection, clock: Clock): HistoryStore {
  const changes = connection.model<StoredChange>('BudgetChange', changeSchema);

  return {
    async record(session, tenantId, change) {
      if (change.previousMicros === change.dailyBudgetMicros) return;
      // The time of the attempt that commits, so that changes of one budget are listed in order.
      await changes.create([{ tenantId, ...change, changedAt: new Date(clock()) }], { session });
    },

    async list(tenantId, filter, { limit, after }) {
      const chosen = {
        ...(filter.scope !== undefined && { scope: filter.scope }),
        ...(filter.scope !== undefined && filter.scopeId !== undefined && { scopeId: filter.scopeId }),
      };
      const found = await changes
        .find({ tenantId, ...chosen, ...(after && behind(after.time, after.id)) })
        .sort({ changedAt: -1, _id: -1 })
        .limit(limit + 1)
        .lean();
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      return {
        changes: page.map(({ _id, tenantId: _tenantId, ...change }) => change),
        next: last === undefined ? null : { time: last.changedAt.getTime(), id: last._id.toHexString() },
      };
    },
  };
}

/** The condition on the time alone bounds the scan of the index. */
function behind(time: number, id: string): object {
  const at = new Date(time);
  return {
    changedAt: trusted({ $lte: at }),
    $or: [{ changedAt: trusted({ $lt: at }) }, { _id: trusted({ $lt: new Types.ObjectId(id) }) }],
  };
}
