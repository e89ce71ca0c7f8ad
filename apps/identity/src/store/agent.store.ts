import type { AuditTrail } from '@tollkeeper/audit-trail';
import type { TenantId } from '@tollkeeper/kernel';
import { changeInTurn, isDuplicateKey } from '@tollkeeper/mongo';
import { type ClientSession, trusted } from 'mongoose';
import { type Agent, type AgentStore, AUDITED_AGENT } from '../domain/agent.ts';
import type { IdentityModels, StoredAgent } from './models.ts';

/** An agent that an event names. */
export interface SeenAgent {
  tenantId: TenantId;
  agentId: string;
  seenAt: Date;
}

export interface MongoAgentStore extends AgentStore {
  /** Stores the agents that are not known yet, within the transaction of `session`. Their ids become their names. */
  registerSeen(session: ClientSession, seen: readonly SeenAgent[]): Promise<void>;
}

export function createAgentStore({ connection, agents }: IdentityModels, trail: AuditTrail): MongoAgentStore {
  return {
    async list(tenantId, { after = '', limit }) {
      const found = await agents
        .find({ tenantId, agentId: trusted({ $gt: after }) })
        .sort({ agentId: 1 })
        .limit(limit)
        .lean();
      return found.map(toAgent);
    },

    async find(tenantId, agentId) {
      const found = await agents.findOne({ tenantId, agentId }).lean();
      return found && toAgent(found);
    },

    // Answers up to 10,000 agents, each with up to 10 labels, so it reads only what was asked for.
    named: (tenantId, { agentIds, limit, withLabels }) =>
      agents
        .find(agentIds.length === 0 ? { tenantId } : { tenantId, agentId: trusted({ $in: agentIds }) })
        .select({ _id: 0, agentId: 1, displayName: 1, ...(withLabels && { labels: 1 }) })
        .sort({ agentId: 1 })
        .limit(limit)
        .lean(),

    async insert(tenantId, agent, cause) {
      try {
        await changeInTurn(connection, tenantId, async (session) => {
          await agents.create([{ tenantId, ...agent }], { session });
          const changed = { target: targetOf(agent), fields: AUDITED_AGENT, before: null, after: agent };
          await trail.recordChange(session, tenantId, cause, changed);
        });
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },

    update: (tenantId, agentId, change, cause) =>
      changeInTurn(connection, tenantId, async (session) => {
        const stored = await agents.findOneAndUpdate({ tenantId, agentId }, { $set: change }, { session }).lean();
        if (stored === null) return null;
        const before = toAgent(stored);
        const { displayName = before.displayName, labels = before.labels } = change;
        const after = { ...before, displayName, labels };
        const changed = { target: targetOf(after), fields: AUDITED_AGENT, before, after };
        await trail.recordChange(session, tenantId, cause, changed);
        return after;
      }),

    async register(tenantId, agentIds, at) {
      const upserts = agentIds.map((agentId) => upsertOf({ tenantId, agentId, seenAt: at }));
      await agents.bulkWrite(upserts, { ordered: false });
    },

    async registerSeen(session, seen) {
      await agents.bulkWrite(seen.map(upsertOf), { session });
    },
  };
}

/** MongoDB itself retries an upsert that conflicts with one of the same agent. */
function upsertOf({ tenantId, agentId, seenAt }: SeenAgent) {
  return {
    updateOne: {
      filter: { tenantId, agentId },
      update: { $setOnInsert: { displayName: agentId, createdAt: seenAt } },
      upsert: true,
    },
  };
}

function targetOf({ agentId, displayName }: Agent) {
  return { type: 'agent', id: agentId, name: displayName };
}

function toAgent({ agentId, displayName, labels = {}, createdAt }: StoredAgent): Agent {
  return { agentId, displayName, labels, createdAt };
}
