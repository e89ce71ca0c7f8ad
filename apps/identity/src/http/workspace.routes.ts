import { trackedLabels } from '@tollkeeper/contracts';
import { defineRoute, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import type { WorkspaceUseCases } from '../domain/workspace.use-cases.ts';
import { slug, toWorkspaceBody, workspaceFields, workspaceSchema } from './schemas.ts';

const TAG = 'Workspaces';

const changes = z
  .strictObject({ ...workspaceFields, tracked_labels: trackedLabels })
  .partial()
  .refine(
    (body) => Object.values(body).some((value) => value !== undefined),
    'must have name, timezone or tracked_labels',
  );

export function createWorkspaceRoutes(workspaces: WorkspaceUseCases): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/api/v1/workspaces',
      operationId: 'listWorkspaces',
      tag: TAG,
      summary: 'List the workspaces of the caller',
      access: 'session',
      responses: {
        200: { description: 'The workspaces, by slug', schema: z.object({ items: z.array(workspaceSchema) }) },
      },
      handler: async ({ caller }) => {
        const items = (await workspaces.listOf(caller.userId)).map(toWorkspaceBody);
        return { status: 200, body: { items } };
      },
    }),
    defineRoute({
      method: 'post',
      audit: 'workspace.create',
      path: '/api/v1/workspaces',
      operationId: 'createWorkspace',
      tag: TAG,
      summary: 'Create a workspace',
      description: 'The caller becomes the owner. 409 if the slug is taken.',
      access: 'session',
      body: z.strictObject({ slug, name: workspaceFields.name, timezone: workspaceFields.timezone.default('UTC') }),
      responses: { 201: { description: 'The new workspace', schema: workspaceSchema } },
      handler: async ({ caller, body, cause }) => {
        const workspace = await workspaces.create(caller.userId, body, cause);
        return { status: 201, body: toWorkspaceBody({ workspace, role: 'owner' }) };
      },
    }),
    defineRoute({
      method: 'patch',
      audit: 'workspace.update',
      path: '/api/v1/workspace',
      operationId: 'updateWorkspace',
      tag: TAG,
      summary: 'Change the name, the time zone or the tracked labels of the workspace',
      description:
        'The dashboard uses a new time zone immediately; daily budgets use it from their next day. Tracked labels are replaced as a whole, and count for events that are received 5 seconds later or after that.',
      access: 'owner',
      body: changes,
      responses: { 200: { description: 'The workspace as it is now', schema: workspaceSchema } },
      handler: async ({ caller, body: { tracked_labels: tracked, ...named }, cause }) => {
        const change = { ...named, ...(tracked !== undefined && { trackedLabels: tracked }) };
        const workspace = await workspaces.update(caller.tenantId, change, cause);
        return { status: 200, body: toWorkspaceBody({ workspace, role: caller.role }) };
      },
    }),
  ];
}
