import { displayName, identifier, moment } from '@tollkeeper/contracts';
import { defineRoute, integerQuery, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import type { Agent } from '../domain/agent.ts';
import type { AgentUseCases } from '../domain/agent.use-cases.ts';

const PATH = '/api/v1/agents';
const TAG = 'Agents';

const agentSchema = z
  .object({
    agent_id: z.string(),
    display_name: z.string().meta({ description: 'The `agent_id` until the agent is given a name' }),
    created_at: moment.meta({ description: 'When the agent was created or first seen in an event' }),
  })
  .meta({ id: 'Agent' });
const agentPage = z.object({
  items: z.array(agentSchema),
  next_cursor: z.string().nullable().meta({ description: '`cursor` of the next page; null on the last page' }),
});
const pageQuery = z.object({
  limit: integerQuery({ min: 1, max: 1000, default: 1000, description: 'Maximum number of agents in the response' }),
  cursor: identifier.optional().meta({ description: '`next_cursor` of the previous page' }),
});

/** Agents of a workspace. */
export function createAgentRoutes(agents: AgentUseCases): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: PATH,
      operationId: 'listAgents',
      tag: TAG,
      summary: 'List the agents of the workspace',
      description: 'An agent that an event names is added automatically, shortly after the event.',
      access: 'member',
      query: pageQuery,
      responses: { 200: { description: 'The agents, by id', schema: agentPage } },
      handler: async ({ caller, query }) => {
        const { agents: page, next } = await agents.list(caller.tenantId, { after: query.cursor, limit: query.limit });
        return { status: 200, body: { items: page.map(toAgentBody), next_cursor: next } };
      },
    }),
    defineRoute({
      method: 'post',
      audit: 'agent.create',
      path: PATH,
      operationId: 'createAgent',
      tag: TAG,
      summary: 'Create an agent before it is seen',
      description: '409 if the workspace already has the agent, from an event or a call. Use PATCH to rename it.',
      access: 'owner',
      body: z.strictObject({ agent_id: identifier, display_name: displayName }),
      responses: { 201: { description: 'The new agent', schema: agentSchema } },
      handler: async ({ caller, body, cause }) => {
        const fields = { agentId: body.agent_id, displayName: body.display_name };
        const agent = await agents.create(caller.tenantId, fields, cause);
        return { status: 201, body: toAgentBody(agent) };
      },
    }),
    defineRoute({
      method: 'patch',
      audit: 'agent.update',
      path: `${PATH}/{agent_id}`,
      operationId: 'renameAgent',
      tag: TAG,
      summary: 'Rename an agent',
      access: 'owner',
      params: z.object({ agent_id: identifier }),
      body: z.strictObject({ display_name: displayName }),
      responses: { 200: { description: 'The agent as it is now', schema: agentSchema } },
      handler: async ({ caller, params, body, cause }) => {
        const agent = await agents.rename(caller.tenantId, params.agent_id, body.display_name, cause);
        return { status: 200, body: toAgentBody(agent) };
      },
    }),
  ];
}

function toAgentBody({ agentId, displayName: name, createdAt }: Agent): z.infer<typeof agentSchema> {
  return { agent_id: agentId, display_name: name, created_at: createdAt.toISOString() };
}
