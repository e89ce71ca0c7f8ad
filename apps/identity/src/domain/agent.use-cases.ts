import type { Cause } from '@tollkeeper/contracts';
import { AppError, type Clock, type TenantId } from '@tollkeeper/kernel';
import type { Agent, AgentChange, AgentStore } from './agent.ts';

export interface AgentUseCases {
  /** A page of agents, by id. `next` is where the next page starts; null on the last page. */
  list(
    tenantId: TenantId,
    page: { after?: string | undefined; limit: number },
  ): Promise<{ agents: Agent[]; next: string | null }>;
  /** Throws `not_found`. */
  get(tenantId: TenantId, agentId: string): Promise<Agent>;
  /** Throws `conflict` if the workspace already has the agent. */
  create(tenantId: TenantId, agent: Omit<Agent, 'createdAt'>, cause: Cause): Promise<Agent>;
  /** Creates the agents that the workspace does not have yet, with their ids as names. The others stay as they are. */
  register(tenantId: TenantId, agentIds: readonly string[]): Promise<void>;
  /** Throws `not_found`. */
  update(tenantId: TenantId, agentId: string, change: AgentChange, cause: Cause): Promise<Agent>;
}

export function createAgentUseCases({ agents, clock }: { agents: AgentStore; clock: Clock }): AgentUseCases {
  return {
    async list(tenantId, { after, limit }) {
      const found = await agents.list(tenantId, { after, limit: limit + 1 });
      const page = found.slice(0, limit);
      return { agents: page, next: found.length > limit ? (page.at(-1)?.agentId ?? null) : null };
    },

    get: async (tenantId, agentId) => (await agents.find(tenantId, agentId)) ?? unknownAgent(),

    async create(tenantId, fields, cause) {
      const agent = { ...fields, createdAt: new Date(clock()) };
      if (await agents.insert(tenantId, agent, cause)) return agent;
      const details = [{ path: 'agent_id', message: 'is taken; use PATCH to change the agent' }];
      throw new AppError('conflict', 'This workspace already has an agent with that agent_id. Change it with PATCH.', {
        details,
      });
    },

    register: (tenantId, agentIds) => agents.register(tenantId, agentIds, new Date(clock())),

    async update(tenantId, agentId, change, cause) {
      return (await agents.update(tenantId, agentId, change, cause)) ?? unknownAgent();
    },
  };
}

function unknownAgent(): never {
  throw new AppError('not_found', 'This workspace has no agent with that agent_id.');
}
