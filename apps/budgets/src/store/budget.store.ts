import { type Connection, Schema, trusted } from 'mongoose';
import type { BudgetStore, DailyBudget, SetAgentBudget } from '../domain/budget.ts';

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

/** Budgets in the database of `connection`. Make it before the connection starts. */
export function createBudgetStore(connection: Connection): BudgetStore {
  const workspaces = connection.model<StoredWorkspaceBudget>('WorkspaceBudget', workspaceBudgetSchema);
  const agents = connection.model<StoredAgentBudget>('AgentBudget', agentBudgetSchema);

  return {
    async ofWorkspace(tenantId) {
      return (await workspaces.findById(tenantId).lean())?.dailyBudgetMicros ?? null;
    },

    async setWorkspace(tenantId, dailyBudgetMicros) {
      await workspaces.updateOne({ _id: tenantId }, { $set: { dailyBudgetMicros } }, { upsert: true });
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

    async setAgent(tenantId, { agentId, ...fields }) {
      await agents.updateOne({ tenantId, agentId }, { $set: fields }, { upsert: true });
    },
  };
}
