import type { AuditTrail } from '@tollkeeper/audit-trail';
import type { AuditedFields } from '@tollkeeper/contracts';
import { changeInTurn } from '@tollkeeper/mongo';
import { type Connection, Schema, trusted } from 'mongoose';
import type { DailyBudgetStore, DailyBudget, SetAgentBudget } from '../domain/daily-budget.ts';
import type { HistoryStore } from './history.store.ts';

interface StoredWorkspaceBudget {
  /** The tenant. */
  _id: string;
  dailyBudgetMicros: DailyBudget;
}

interface StoredAgentBudget {
  tenantId: string;
  agentId: string;
  dailyBudgetMicros: DailyBudget;
  updatedAt: Date;
}

const workspaceBudgetSchema = new Schema<StoredWorkspaceBudget>(
  { _id: { type: String, required: true }, dailyBudgetMicros: { type: Number, default: null } },
  { collection: 'workspace_budgets', versionKey: false },
);

const agentBudgetSchema = new Schema<StoredAgentBudget>(
  {
    tenantId: { type: String, required: true },
    agentId: { type: String, required: true },
    dailyBudgetMicros: { type: Number, default: null },
    updatedAt: { type: Date, required: true },
  },
  { collection: 'agent_budgets', versionKey: false },
);
agentBudgetSchema.index({ tenantId: 1, agentId: 1 }, { unique: true });

const AUDITED: AuditedFields<{ dailyBudgetMicros: DailyBudget }> = {
  daily_budget_usd_micros: (budget) => budget.dailyBudgetMicros,
};

/** Returns the document before the change; null if there was none. */
const REPLACE = { returnDocument: 'before' } as const;
const LISTED = { _id: 0, agentId: 1, dailyBudgetMicros: 1, updatedAt: 1 } as const;
const IS_SET = { dailyBudgetMicros: trusted({ $ne: null }) };

/** Budgets in the database of `connection`. Make it before the connection starts. */
export function createDailyBudgetStore(
  connection: Connection,
  history: HistoryStore,
  trail: AuditTrail,
): DailyBudgetStore {
  const workspaces = connection.model<StoredWorkspaceBudget>('WorkspaceBudget', workspaceBudgetSchema);
  const agents = connection.model<StoredAgentBudget>('AgentBudget', agentBudgetSchema);

  return {
    async ofWorkspace(tenantId) {
      return (await workspaces.findById(tenantId).lean())?.dailyBudgetMicros ?? null;
    },

    setWorkspace: (tenantId, dailyBudgetMicros, cause, { onlyIfSet = false } = {}) =>
      changeInTurn(connection, tenantId, async (session) => {
        const filter = { _id: tenantId, ...(onlyIfSet && IS_SET) };
        const before = await workspaces
          .findOneAndUpdate(filter, { $set: { dailyBudgetMicros } }, { ...REPLACE, upsert: !onlyIfSet, session })
          .lean();
        if (onlyIfSet && before === null) return false;
        await history.record(session, tenantId, {
          scope: 'workspace',
          scopeId: tenantId,
          previousMicros: before?.dailyBudgetMicros ?? null,
          dailyBudgetMicros,
          changedBy: cause.actor.id,
        });
        const target = { type: 'workspace', id: tenantId, name: '' };
        const after = { dailyBudgetMicros };
        await trail.recordChange(session, tenantId, cause, { target, fields: AUDITED, before, after });
        return true;
      }),

    async ofAgents(tenantId, agentIds) {
      const chosen = agentIds === undefined ? {} : { agentId: trusted({ $in: agentIds }) };
      const found = await agents
        .find({ tenantId, ...chosen })
        .sort({ agentId: 1 })
        .lean();
      return found.map(({ agentId, dailyBudgetMicros, updatedAt }) => ({ agentId, dailyBudgetMicros, updatedAt }));
    },

    listSetAgents: (tenantId, limit, after) =>
      agents
        .find({ tenantId, ...IS_SET, ...(after !== undefined && { agentId: trusted({ $gt: after }) }) }, LISTED)
        .sort({ agentId: 1 })
        .limit(limit)
        .lean<SetAgentBudget[]>(),

    setAgent: (tenantId, { agentId, displayName, ...fields }, cause, { onlyIfSet = false } = {}) =>
      changeInTurn(connection, tenantId, async (session) => {
        const filter = { tenantId, agentId, ...(onlyIfSet && IS_SET) };
        const before = await agents
          .findOneAndUpdate(filter, { $set: fields }, { ...REPLACE, upsert: !onlyIfSet, session })
          .lean();
        if (onlyIfSet && before === null) return false;
        await history.record(session, tenantId, {
          scope: 'agent',
          scopeId: agentId,
          previousMicros: before?.dailyBudgetMicros ?? null,
          dailyBudgetMicros: fields.dailyBudgetMicros,
          changedBy: cause.actor.id,
        });
        const target = { type: 'agent', id: agentId, name: displayName };
        await trail.recordChange(session, tenantId, cause, { target, fields: AUDITED, before, after: fields });
        return true;
      }),
  };
}
