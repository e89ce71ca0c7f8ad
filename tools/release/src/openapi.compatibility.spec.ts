import { describe, expect, it } from '@jest/globals';
import { findBreakingChanges, type OpenApi } from './openapi.compatibility.ts';
import type { JsonSchema } from './json-schema.compatibility.ts';

type Change = (at: ReturnType<typeof parts>) => void;

/** A document with one operation that uses every feature; `change` makes its next version. */
function api(change: Change = () => undefined): OpenApi {
  const made = parts();
  change(made);
  const { input, record, operation, paths } = made;
  return {
    paths: { '/things/{id}': { post: operation }, ...paths },
    components: { schemas: { Input: input, Thing: record } },
  };
}

function parts() {
  const input = {
    type: 'object',
    properties: {
      name: { type: 'string', maxLength: 80 } as JsonSchema,
      size: { type: 'integer', default: 1 } as JsonSchema,
      colour: { type: 'string', enum: ['red', 'blue'] } as JsonSchema,
    } as Record<string, JsonSchema>,
    required: ['name'],
    additionalProperties: false,
  };
  const record = {
    type: 'object',
    properties: {
      id: { type: 'string' } as JsonSchema,
      colour: { type: 'string', enum: ['red', 'blue'] } as JsonSchema,
      note: { type: 'string' } as JsonSchema,
    } as Record<string, JsonSchema>,
    required: ['id', 'colour'],
    additionalProperties: false,
  };
  const json = (name: string) => ({
    'application/json': { schema: { $ref: `#/components/schemas/${name}` } as JsonSchema },
  });
  const operation = {
    operationId: 'changeThing',
    security: [{ session: [] }] as Record<string, string[]>[],
    'x-required-role': 'admin',
    parameters: [
      { in: 'path', name: 'id', required: true, schema: { type: 'string' } },
      { in: 'query', name: 'limit', required: false, schema: { type: 'integer', maximum: 100 } as JsonSchema },
    ],
    requestBody: { required: true, content: json('Input') as Record<string, { schema: JsonSchema }> },
    responses: { '200': { content: json('Thing') }, '204': {} } as Record<
      string,
      { content?: ReturnType<typeof json> }
    >,
  };
  const get = { operationId: 'readThings', security: [], responses: { '200': {} } };
  return { input, record, operation, paths: { '/things': { get } } as NonNullable<OpenApi['paths']> };
}

const BREAKING: [string, Change, RegExp][] = [
  ['a path that is gone', (at) => delete at.paths['/things'], /^GET \/things: the operation is gone$/],
  ['another operationId', (at) => (at.operation.operationId = 'x'), /operationId changeThing became x/],
  ['a session where none was needed', (at) => (at.paths['/things']!['get']!.security = [{ session: [] }]), /was open/],
  ['a higher role', (at) => (at.operation['x-required-role'] = 'owner'), /needs the role owner now, admin was/],
  ['a parameter that is gone', (at) => at.operation.parameters.pop(), /query parameter limit is no longer taken/],
  ['a parameter that is required now', (at) => (at.operation.parameters[1]!.required = true), /limit is required now/],
  [
    'a new parameter that is required',
    (at) => at.operation.parameters.push({ in: 'query', name: 'at', required: true, schema: {} }),
    /query parameter at is required now/,
  ],
  [
    'a parameter with a lower limit',
    (at) => (at.operation.parameters[1]!.schema['maximum'] = 50),
    /maximum 50.* has 100/,
  ],
  ['a body field that is required now', (at) => at.input.required.push('size'), /request body size: .* requires it/],
  ['a body field that is gone', (at) => delete at.input.properties['size'], /request body size: .* does not know it/],
  ['a body field of another type', (at) => (at.input.properties['size']!.type = 'string'), /request body size: /],
  ['a body field with a lower limit', (at) => (at.input.properties['name']!['maxLength'] = 40), /maxLength 40/],
  ['a value that a body may no longer have', (at) => at.input.properties['colour']!.enum!.pop(), /may write "blue"/],
  ['another default', (at) => (at.input.properties['size']!.default = 2), /size: its default 1 became 2/],
  [
    'a media type of the body that is gone',
    (at) => (at.operation.requestBody.content = { 'text/csv': { schema: {} } }),
    /request body of application\/json is no longer taken/,
  ],
  ['an answer that is gone', (at) => delete at.operation.responses['204'], /the answer 204 is gone/],
  ['an answer without its body', (at) => (at.operation.responses['200'] = {}), /answer 200 no longer comes as/],
  [
    'an answer without a field',
    (at) => {
      delete at.record.properties['colour'];
      at.record.required = ['id'];
    },
    /answer 200 colour: /,
  ],
  [
    'an answer without a field that did not always come',
    (at) => delete at.record.properties['note'],
    /note: no longer comes/,
  ],
  [
    'an answer whose field may be missing now',
    (at) => at.record.required.pop(),
    /answer 200 colour: .* may leave it out/,
  ],
  [
    'an answer whose field may be null now',
    (at) => (at.record.properties['id']!.type = ['string', 'null']),
    /may write null/,
  ],
];

const HARMLESS: [string, Change][] = [
  ['nothing', () => undefined],
  ['a new path', (at) => (at.paths['/more'] = { get: { operationId: 'more' } })],
  [
    'a new parameter that may be left out',
    (at) => at.operation.parameters.push({ in: 'query', name: 'at', required: false, schema: {} }),
  ],
  ['a new body field that may be left out', (at) => (at.input.properties['weight'] = { type: 'integer' })],
  ['a body field that need not be there any more', (at) => (at.input.required = [])],
  ['a new value that a body may have', (at) => at.input.properties['colour']!.enum!.push('green')],
  ['a higher limit', (at) => (at.input.properties['name']!['maxLength'] = 120)],
  ['a lower role', (at) => (at.operation['x-required-role'] = 'member')],
  ['a new field of an answer', (at) => (at.record.properties['size'] = { type: 'integer' })],
  ['a field that always comes now', (at) => at.record.required.push('note')],
  ['a new value in an answer', (at) => at.record.properties['colour']!.enum!.push('green')],
  ['a new answer', (at) => (at.operation.responses['201'] = {})],
  ['a new description', (at) => (at.input.properties['name']!['description'] = 'What it is called')],
];

describe('the public API', () => {
  it.each(BREAKING)('breaks clients by %s', (_case, change, message) => {
    const found = findBreakingChanges(api(), api(change));
    expect(found).toEqual([expect.stringMatching(message)]);
  });

  it.each(HARMLESS)('keeps clients working with %s', (_case, change) => {
    expect(findBreakingChanges(api(), api(change))).toEqual([]);
  });

  it('keeps clients working with more fields in one of the two forms of an answer', () => {
    const answering =
      (...ofSecond: string[]): Change =>
      (at) => {
        const form = (...names: string[]): JsonSchema => ({
          type: 'object',
          required: names,
          properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
          additionalProperties: false,
        });
        at.operation.responses['200'] = {
          content: { 'application/json': { schema: { oneOf: [form('id'), form('id', ...ofSecond)] } } },
        };
      };
    const before = api(answering('denial'));
    expect(findBreakingChanges(before, api(answering('denial', 'budget', 'period')))).toEqual([]);
    expect(findBreakingChanges(before, api(answering('budget')))).not.toEqual([]);
  });
});
