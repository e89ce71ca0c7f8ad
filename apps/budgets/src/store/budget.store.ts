import type { AuditTrail } from '@tollkeeper/audit-trail';
import type { AuditedFields } from '@tollkeeper/contracts';
import { changeInTurn } from '@tollkeeper/mongo';
import { type Connection, Schema, trusted } from 'mongoose';
import type { BudgetStore, DailyBudget, SetAgentBudget } from '../domain/budget.ts';
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
const REPLACE = { upsert: true, returnDocument: 'before' } as const;

/** Budgets in the database of `connection`. Make it before the connection starts. */
export function createBudgetStore(connection: Connection, history: HistoryStore, trail: AuditTrail): BudgetStore {
  const workspaces = connection.model<StoredWorkspaceBudget>('WorkspaceBudget', workspaceBudgetSchema);
  const agents = connection.model<StoredAgentBudget>('AgentBudget', agentBudgetSchema);

  return {
    async ofWorkspace(tenantId) {
      return (await workspaces.findById(tenantId).lean())?.dailyBudgetMicros ?? null;
    },

    async setWorkspace(tenantId, dailyBudgetMicros, cause) {
      await changeInTurn(connection, tenantId, async (session) => {
        const before = await workspaces
          .findOneAndUpdate({ _id: tenantId }, { $set: { dailyBudgetMicros } }, { ...REPLACE, session })
          .lean();
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
      });
    },

    async ofAgents(tenantId, agentIds) {
      const chosen = agentIds === undefined ? {} : { agentId: trusted({ $in: agentIds }) };
      const found = await agents
        .find({ tenantId, ...chosen })
        .sort({ agentId: 1 })
        .lean();
      return found.map(({ agentId, dailyBudgetMicros, updatedAt }) => ({ agentId, dailyBudgetMicros, updatedAt }));
    },

    async listSetAgents(tenantId, limit) {
      const found = await agents
        .find({ tenantId, dailyBudgetMicros: trusted({ $ne: null }) }, { _id: 0, agentId: 1, dailyBudgetMicros: 1 })
        .sort({ agentId: 1 })
        .limit(limit)
        .lean<SetAgentBudget[]>();
      return found.map(({ agentId, dailyBudgetMicros }) => ({ agentId, dailyBudgetMicros }));
    },

    async setAgent(tenantId, { agentId, displayName, ...fields }, cause) {
      await changeInTurn(connection, tenantId, async (session) => {
        const before = await agents
          .findOneAndUpdate({ tenantId, agentId }, { $set: fields }, { ...REPLACE, session })
          .lean();
        await history.record(session, tenantId, {
          scope: 'agent',
          scopeId: agentId,
          previousMicros: before?.dailyBudgetMicros ?? null,
          dailyBudgetMicros: fields.dailyBudgetMicros,
          changedBy: cause.actor.id,
        });
        const target = { type: 'agent', id: agentId, name: displayName };
        await trail.recordChange(session, tenantId, cause, { target, fields: AUDITED, before, after: fields });
      });
    },
  };
}
