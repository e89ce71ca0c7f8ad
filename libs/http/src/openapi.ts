import { errorBodySchema } from '@tollkeeper/contracts';
import { NEEDED_ROLES } from '@tollkeeper/kernel';
import type { NeededRole } from '@tollkeeper/kernel';
import { createDocument } from 'zod-openapi';
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponsesObject, oas32 } from 'zod-openapi';
import { PROTOBUF_TYPE } from './protobuf-status.ts';
import { bytesBody } from './route.ts';
import type { Access, Route, SecurityScheme } from './route.ts';

export interface ApiInfo {
  title: string;
  version: string;
  description?: string;
}

export type OpenApiDocument = ReturnType<typeof createDocument>;

const SECURITY_SCHEMES = {
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'gw_session',
    description: 'The session cookie that `POST /api/v1/auth/login` sets.',
  },
  workspaceKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'ws_live_<id>.<secret>',
    description: 'A workspace key, only for event ingestion, reservations and leases.',
  },
} as const satisfies Record<SecurityScheme, object>;

/** The URLs of a workspace's operations: with the slug in the path, or without it. */
const WORKSPACE_SERVERS = [
  {
    url: '/w/{slug}',
    description: 'The workspace named by its slug',
    variables: { slug: { default: 'demo', description: 'Slug of the workspace' } },
  },
  { url: '/', description: 'The workspace named by the X-Workspace header, or the only one of the caller' },
];

/** The OpenAPI 3.1 document of `routes`. Every operation's `default` answer is the common error body. */
export function openApiDocument(routes: readonly Route[], info: ApiInfo): OpenApiDocument {
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes) {
    const item = (paths[route.path] ??= {});
    if (item[route.method] !== undefined) throw new Error(`${route.method} ${route.path} is defined twice`);
    item[route.method] = operation(route);
  }
  return createDocument({
    openapi: '3.1.1',
    info: { ...info },
    paths,
    components: { securitySchemes: SECURITY_SCHEMES },
  });
}

function operation(route: Route): ZodOpenApiOperationObject {
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    ...(isRole(route.access) && { servers: WORKSPACE_SERVERS, 'x-required-role': route.access }),
    ...(typeof route.audit === 'string' && { 'x-audit-action': route.audit }),
    security: security(route.access),
    requestParams: {
      ...(route.params !== undefined && { path: route.params }),
      ...(route.query !== undefined && { query: route.query }),
    },
    ...(route.bodies !== undefined && {
      requestBody: {
        required: !route.readsBytes && route.parts === undefined,
        content: Object.fromEntries(Object.entries(route.bodies).map(([type, schema]) => [type, { schema }])),
      },
    }),
    responses: responses(route),
  };
}

function responses(route: Route): ZodOpenApiResponsesObject {
  const declared = Object.entries(route.responses).map(([status, { description, schema, streams, bytes }]) => {
    const content = {
      ...(schema !== undefined && { 'application/json': { schema } }),
      ...Object.fromEntries(Object.entries(streams ?? {}).map(([type, schema]) => [type, { schema }])),
      ...(bytes !== undefined && { [bytes]: { schema: bytesBody } }),
    };
    return [status, { description, ...(Object.keys(content).length > 0 && { content }) }];
  });
  return {
    ...(Object.fromEntries(declared) as ZodOpenApiResponsesObject),
    default: {
      description: 'Any error',
      content: {
        'application/json': { schema: errorBodySchema },
        ...(PROTOBUF_TYPE in (route.bodies ?? {}) && { [PROTOBUF_TYPE]: { schema: bytesBody } }),
      },
    },
  };
}

function security(access: Access): oas32.SecurityRequirementObject[] {
  if (access === 'public') return [];
  if (access === 'visitor') return [{}, { session: [] }];
  return [{ [typeof access === 'object' ? access.scheme : 'session']: [] }];
}

/** True for the access of routes that act in a workspace. */
function isRole(access: Access): access is NeededRole {
  return NEEDED_ROLES.includes(access as NeededRole);
}
