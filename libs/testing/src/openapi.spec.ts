import { describe, expect, it } from '@jest/globals';
import { expectMatchesOpenApi } from './openapi.ts';

const json = (schema: unknown) => ({ description: '', content: { 'application/json': { schema } } });
const error = json({ $ref: '#/components/schemas/Error' });
const document = {
  openapi: '3.1.0',
  paths: {
    '/api/v1/keys': {
      get: {
        responses: { 200: json({ type: 'array', items: { $ref: '#/components/schemas/Key' } }), default: error },
      },
    },
    '/api/v1/keys/{id}:revoke': { post: { responses: { 204: { description: '' }, default: error } } },
    '/api/v1/keys/{id}': { get: { responses: { 200: json({ $ref: '#/components/schemas/Key' }) } } },
  },
  components: {
    schemas: {
      Error: { type: 'object', required: ['error'], properties: { error: { type: 'string' } } },
      Key: {
        type: 'object',
        required: ['id', 'revoked_at'],
        properties: { id: { type: 'string' }, revoked_at: { type: ['string', 'null'], format: 'date-time' } },
        additionalProperties: false,
      },
    },
  },
};
const key = { id: 'k', revoked_at: '2026-11-21T18:00:00.000Z' };
const check = (method: string, path: string, status: number, body?: unknown) => () =>
  expectMatchesOpenApi(document, { method, path, status, body });

describe('expectMatchesOpenApi', () => {
  it('lets answers pass that are as described, whatever prefix and query the request had', () => {
    expect(check('GET', '/api/v1/keys', 200, [key])).not.toThrow();
    expect(check('GET', '/w/demo/api/v1/keys?limit=1', 200, [])).not.toThrow();
    expect(check('GET', '/api/v1/keys/key_1', 200, { ...key, revoked_at: null })).not.toThrow();
    expect(check('POST', '/api/v1/keys/key_1:revoke', 204)).not.toThrow();
  });

  it('describes other statuses by the default answer', () => {
    expect(check('GET', '/api/v1/keys', 403, { error: 'No.' })).not.toThrow();
    expect(check('GET', '/api/v1/keys', 403, { message: 'No.' })).toThrow(/must have required property 'error'/);
  });

  it.each([
    ['a property that is not described', 'GET', '/api/v1/keys', 200, [{ ...key, api_key: 'x' }]],
    ['a wrong type, down in a reference', 'GET', '/api/v1/keys', 200, [{ ...key, id: 1 }]],
    ['a timestamp that is none', 'GET', '/api/v1/keys/k', 200, { ...key, revoked_at: 'yesterday' }],
    ['a body where none is described', 'POST', '/api/v1/keys/k:revoke', 204, {}],
    ['a missing body', 'GET', '/api/v1/keys', 200, undefined],
    ['an unknown path', 'GET', '/api/v1/other', 200, []],
    ['an unknown method', 'DELETE', '/api/v1/keys/k', 204, undefined],
    ['a status without a description', 'GET', '/api/v1/keys/k', 404, { error: 'No.' }],
  ])('refuses %s', (_what, method, path, status, body) => {
    expect(check(method, path, status, body)).toThrow();
  });
});
