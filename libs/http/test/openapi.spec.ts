import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineRoute, openApiDocument } from '../src/index.ts';
import { routes } from './api.fixture.ts';

const document = openApiDocument(routes, { title: 'Test', version: '1.0.0' });
const operation = (path: string, method: 'get' | 'put' | 'patch' | 'post') => {
  const found = document.paths?.[path]?.[method];
  if (found === undefined) throw new Error(`${method} ${path} is not in the document`);
  return found;
};

describe('openApiDocument', () => {
  it('is OpenAPI 3.1 with every operation under its own id', () => {
    expect(document.openapi).toMatch(/^3\.1/);
    const ids = Object.values(document.paths ?? {}).flatMap((item) =>
      Object.values(item).map((op: { operationId: string }) => op.operationId),
    );
    expect(ids.toSorted()).toEqual(routes.map(({ operationId }) => operationId).toSorted());
  });

  it('has the title and the version of the API, and how a session and a key are sent', () => {
    expect(document.info).toEqual({ title: 'Test', version: '1.0.0' });
    expect(document.components?.securitySchemes).toMatchObject({
      session: { type: 'apiKey', in: 'cookie', name: 'gw_session' },
      workspaceKey: { type: 'http', scheme: 'bearer', bearerFormat: 'ws_live_<id>.<secret>' },
    });
  });

  it('has the answers of a route, with a body where they have one', () => {
    const { 201: created } = operation('/api/v1/guests', 'post').responses ?? {};
    expect(created).toEqual({
      description: 'The guest',
      content: {
        'application/json': {
          schema: {
            type: 'object',
            properties: { guest: { type: 'string' } },
            required: ['guest'],
            additionalProperties: false,
          },
        },
      },
    });
    expect(operation('/api/v1/items/{id}:close', 'post').responses?.['204']).toEqual({ description: 'Closed' });
  });

  it('describes an operation in the words of its route', () => {
    expect(operation('/api/v1/down', 'get')).toMatchObject({ summary: 'Test', description: 'Never works.' });
    expect(operation('/api/v1/busy', 'get')).not.toHaveProperty('description');
  });

  it('refuses two routes of one method and path', () => {
    const twice = () => openApiDocument([...routes, ...routes], { title: 'Test', version: '1.0.0' });
    expect(twice).toThrow('get /api/v1/public is defined twice');
  });

  it('gives every operation the error body as its default answer', () => {
    expect(operation('/api/v1/public', 'get').responses?.default).toMatchObject({
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    });
  });

  it('says how each operation authenticates and how its workspace is named', () => {
    expect(operation('/api/v1/public', 'get')).toMatchObject({ security: [] });
    expect(operation('/api/v1/me', 'get')).toMatchObject({ security: [{ session: [] }] });
    expect(operation('/api/v1/me', 'get').servers).toBeUndefined();
    expect(operation('/api/v1/guests', 'post')).toMatchObject({ security: [{ workspaceKey: [] }] });
    expect(operation('/api/v1/items/{id}', 'put').servers).toMatchObject([
      { url: '/w/{slug}', variables: { slug: { default: expect.stringMatching(/./) } } },
      { url: '/' },
    ]);
  });

  it('publishes parameters and bodies as they are validated', () => {
    expect(operation('/api/v1/public', 'get').parameters).toContainEqual(
      expect.objectContaining({
        name: 'limit',
        in: 'query',
        schema: expect.objectContaining({ type: 'integer', minimum: 1, maximum: 200, default: 50 }),
      }),
    );
    expect(operation('/api/v1/items/{id}', 'put')).toMatchObject({
      tags: ['Test'],
      'x-required-role': 'admin',
      parameters: [{ name: 'id', in: 'path', required: true }],
    });
    expect(operation('/api/v1/busy', 'get').parameters).toEqual([]);
    expect(operation('/api/v1/items/{id}', 'patch').requestBody).toMatchObject({
      required: true,
      content: { 'application/merge-patch+json': {}, 'application/json': {} },
    });
    expect(JSON.stringify(operation('/api/v1/items/{id}', 'put').requestBody)).toContain(
      '"additionalProperties":false',
    );
  });
});

describe('defineRoute', () => {
  it('refuses a path whose names the params do not match', () => {
    const define = () =>
      defineRoute({
        method: 'get',
        path: '/api/v1/items/{id}',
        operationId: 'getItem',
        tag: 'Test',
        summary: 'Test',
        access: 'public',
        params: z.object({ item_id: z.string() }),
        responses: { 204: { description: 'None' } },
        handler: async () => ({ status: 204 }),
      });
    expect(define).toThrow('getItem: the path /api/v1/items/{id} and the params {item_id} do not agree');
  });
});
