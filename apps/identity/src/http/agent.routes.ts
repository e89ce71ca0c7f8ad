import { displayName, identifier, labels, MAX_LABELS, moment } from '@tollkeeper/contracts';
import { defineRoute, integerQuery, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import type { Agent } from '../domain/agent.ts';
import type { AgentUseCases } from '../domain/agent.use-cases.ts';

const PATH = '/api/v1/agents';
const ONE = `${PATH}/{agent_id}`;
const TAG = 'Agents';

const agentLabels = labels.meta({
  description:
    `Labels of every call of the agent: at most ${MAX_LABELS}, each with a value of 1–128 printable characters. They ` +
    'override labels of the same name that the call sends; a label pinned to the workspace key overrides theirs',
});
const agentSchema = z
  .object({
    agent_id: z.string(),
    display_name: z.string().meta({ description: 'The `agent_id` until the agent is given a name' }),
    labels: agentLabels,
    created_at: moment.meta({ description: 'When the agent was created or first seen in an event' }),
  })
  .meta({ id: 'Agent' });
const agentParams = z.object({ agent_id: identifier });
const agentChange = z
  .strictObject({ display_name: displayName, labels: agentLabels })
  .partial()
  .refine((body) => Object.values(body).some((value) => value !== undefined), 'must have display_name, labels or both');
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
      description: '409 if the workspace already has the agent, from an event or a call. Use PATCH to change it.',
      access: 'owner',
      body: z.strictObject({ agent_id: identifier, display_name: displayName, labels: agentLabels.default({}) }),
      responses: { 201: { description: 'The new agent', schema: agentSchema } },
      handler: async ({ caller, body, cause }) => {
        const fields = { agentId: body.agent_id, displayName: body.display_name, labels: body.labels };
        const agent = await agents.create(caller.tenantId, fields, cause);
        return { status: 201, body: toAgentBody(agent) };
      },
    }),
    defineRoute({
      method: 'get',
      path: ONE,
      operationId: 'getAgent',
      tag: TAG,
      summary: 'Read an agent',
      access: 'member',
      params: agentParams,
      responses: { 200: { description: 'The agent', schema: agentSchema } },
      handler: async ({ caller, params }) => ({
        status: 200,
        body: toAgentBody(await agents.get(caller.tenantId, params.agent_id)),
      }),
    }),
    defineRoute({
      method: 'patch',
      audit: 'agent.update',
      path: ONE,
      operationId: 'renameAgent',
      tag: TAG,
      summary: 'Change the name or the labels of an agent',
      description:
        'Omitted fields do not change. `labels` replaces all labels of the agent; `{}` removes them. New calls count ' +
        'with the new labels within 2 seconds, as reservations, and within 4, as events. For each name, the first source that has it wins: the key, the agent, ' +
        'the call. So a label of the agent overrides one of the same name that the call sends, and a label pinned to ' +
        'the workspace key overrides that of the agent.',
      access: 'owner',
      params: agentParams,
      body: agentChange,
      responses: { 200: { description: 'The agent as it is now', schema: agentSchema } },
      handler: async ({ caller, params, body, cause }) => {
        const change = { displayName: body.display_name, labels: body.labels };
        const agent = await agents.update(caller.tenantId, params.agent_id, change, cause);
        return { status: 200, body: toAgentBody(agent) };
      },
    }),
  ];
}

function toAgentBody(agent: Agent): z.infer<typeof agentSchema> {
  return {
    agent_id: agent.agentId,
    display_name: agent.displayName,
    labels: agent.labels,
    created_at: agent.createdAt.toISOString(),
  };
}
