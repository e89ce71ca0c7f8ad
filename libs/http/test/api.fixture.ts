import { AppError } from '@tollkeeper/kernel';
import type { Caller } from '@tollkeeper/kernel';
import { createLogger, createMetrics } from '@tollkeeper/runtime';
import { z } from 'zod';
import { createHttpServer, defineRoute, integerQuery, signCallerToken } from '../src/index.ts';
import type { Authenticator, Route } from '../src/index.ts';

export const secret = 'a-secret-of-more-than-32-characters!';

/** Settings of a server on a free port, without logs. */
export const quietServer = {
  name: 'test',
  config: { HOST: '127.0.0.1', HTTP_PORT: 0, CALLER_TOKEN_SECRET: secret },
  logger: createLogger({ service: 'test', level: 'silent' }),
};

const id = z.string().regex(/^[a-z]{1,10}$/, 'must be 1 to 10 of a-z');
const item = z.strictObject({ name: z.string().min(1).max(5), tags: z.array(z.string()).optional() });
const echo = z.object({ value: z.unknown() });

const doorman: Authenticator<{ guest: string }> = {
  scheme: 'workspaceKey',
  authenticate: async ({ headers }) => {
    if (headers.authorization === undefined) throw new AppError('unauthenticated', 'Name yourself.');
    return { guest: headers.authorization };
  },
  senderOf: ({ guest }) => guest,
};

const about = { tag: 'Test', summary: 'Test' };

export const routes: Route[] = [
  defineRoute({
    ...about,
    method: 'get',
    path: '/api/v1/public',
    operationId: 'getPublic',
    access: 'public',
    query: z.object({
      limit: integerQuery({ min: 1, max: 200, default: 50, description: 'How many' }),
      status: z.string().optional(),
      label: z.record(z.string(), z.string()).optional(),
    }),
    responses: {
      200: {
        description: 'The request',
        schema: z.object({
          limit: z.number(),
          address: z.string(),
          label: z.record(z.string(), z.string()).optional(),
        }),
      },
    },
    handler: async ({ query, clientAddress }) => ({
      status: 200,
      body: { limit: query.limit, address: clientAddress, label: query.label },
    }),
  }),
  defineRoute({
    ...about,
    method: 'get',
    path: '/api/v1/me',
    operationId: 'getMe',
    access: 'session',
    responses: { 200: { description: 'The caller', schema: echo } },
    handler: async ({ caller }) => ({ status: 200, body: { value: caller } }),
  }),
  defineRoute({
    ...about,
    method: 'get',
    path: '/api/v1/visit',
    operationId: 'getVisit',
    access: 'visitor',
    responses: { 200: { description: 'The caller, if there is one', schema: echo } },
    handler: async ({ caller }) => ({ status: 200, body: { value: caller?.userId ?? null } }),
  }),
  defineRoute({
    ...about,
    method: 'put',
    audit: { unaudited: 'A test' },
    path: '/api/v1/items/{id}',
    operationId: 'putItem',
    access: 'admin',
    params: z.object({ id }),
    body: z.strictObject({ items: z.array(item), note: z.string().optional() }),
    responses: { 200: { description: 'The item', schema: echo } },
    handler: async ({ body, caller, params }) => ({
      status: 200,
      body: { value: { ...body, id: params.id, tenant: caller.tenantId } },
    }),
  }),
  defineRoute({
    ...about,
    method: 'patch',
    audit: { unaudited: 'A test' },
    path: '/api/v1/items/{id}',
    operationId: 'patchItem',
    access: 'public',
    params: z.object({ id }),
    body: {
      'application/merge-patch+json': z.record(z.string(), z.null()),
      'application/json': z.record(z.string(), z.unknown()),
    },
    bodyLimitBytes: 64,
    responses: { 200: { description: 'The patch', schema: echo } },
    handler: async ({ body }) => ({ status: 200, body: { value: body } }),
  }),
  defineRoute({
    ...about,
    method: 'get',
    path: '/api/v1/items/list',
    operationId: 'listItems',
    access: 'public',
    responses: { 200: { description: 'The items', schema: echo } },
    handler: async () => ({ status: 200, body: { value: 'list' } }),
  }),
  defineRoute({
    ...about,
    method: 'post',
    audit: { unaudited: 'A test' },
    path: '/api/v1/items/{id}:close',
    operationId: 'closeItem',
    access: 'public',
    params: z.object({ id }),
    responses: { 204: { description: 'Closed' } },
    handler: async () => ({ status: 204, headers: { 'x-closed': 'yes' } }),
  }),
  defineRoute({
    ...about,
    method: 'post',
    audit: { unaudited: 'A test' },
    path: '/api/v1/guests',
    operationId: 'addGuest',
    access: doorman,
    body: z.strictObject({}),
    charge: ({ guest }) => {
      if (guest === 'spent') throw new AppError('rate_limited', 'Enough for today.');
    },
    responses: { 201: { description: 'The guest', schema: z.object({ guest: z.string() }) } },
    handler: async ({ caller }) => ({ status: 201, body: { guest: caller.guest } }),
  }),
  defineRoute({
    ...about,
    method: 'get',
    path: '/api/v1/broken',
    operationId: 'getBroken',
    access: 'public',
    responses: { 204: { description: 'Never' } },
    handler: async () => {
      throw new Error('mongodb://user:hunter2@db failed');
    },
  }),
  defineRoute({
    ...about,
    method: 'get',
    path: '/api/v1/busy',
    operationId: 'getBusy',
    access: 'public',
    responses: { 204: { description: 'Never' } },
    handler: async () => {
      throw new AppError('rate_limited', 'Too many.', { retryAfterSeconds: 7 });
    },
  }),
  defineRoute({
    ...about,
    method: 'get',
    path: '/api/v1/down',
    operationId: 'getDown',
    description: 'Never works.',
    access: 'public',
    responses: { 204: { description: 'Never' } },
    handler: async () => {
      throw new AppError('service_unavailable', 'The database is down.', { cause: new Error('connect to 10.0.0.1') });
    },
  }),
];

/** The server of {@link routes} on a free port; `logs` holds its lines. */
export function testServer() {
  const logs: string[] = [];
  const metrics = createMetrics('test');
  const logger = createLogger({
    service: 'test',
    level: 'debug',
    destination: { write: (line) => void logs.push(line) },
  });
  const server = createHttpServer({
    routes,
    name: 'test',
    config: { HOST: '127.0.0.1', HTTP_PORT: 0, CALLER_TOKEN_SECRET: secret },
    logger,
    metrics,
    bodyLimitBytes: 1024,
  });
  return { server, logs, metrics };
}

export function as(role: Caller['role']): Promise<string> {
  return signCallerToken(secret, 'test', {
    userId: 'user_1',
    tenantId: role === null ? null : ('ws_1' as Caller['tenantId']),
    role,
  });
}
