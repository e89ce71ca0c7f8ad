import { describe, expect, it } from '@jest/globals';
import { findMismatches, type JsonSchema, STRICT, TOLERANT } from './json-schema.compatibility.ts';

const object = (
  properties: Record<string, JsonSchema>,
  required = Object.keys(properties),
  open = false,
): JsonSchema => ({
  ...{ type: 'object', properties, required },
  ...(!open && { additionalProperties: false }),
});
const text: JsonSchema = { type: 'string' };
const whole: JsonSchema = { type: 'integer' };
const nothing: JsonSchema = { type: 'null' };
const oneOf = (...values: string[]): JsonSchema => ({ type: 'string', enum: values });

function mismatches(written: JsonSchema, read: JsonSchema, strictness = STRICT): string[] {
  const parties = { writer: { name: 'old', document: written }, reader: { name: 'new', document: read } };
  return findMismatches(written, read, parties, strictness).map(({ kind, path }) => `${kind} ${path}`);
}

const FITS: [string, JsonSchema, JsonSchema][] = [
  [
    'itself',
    object({ a: text, b: { type: 'array', items: whole } }),
    object({ a: text, b: { type: 'array', items: whole } }),
  ],
  ['a field more that may be left out', object({ a: text }), object({ a: text, b: text }, ['a'])],
  ['a field that it does not know when it takes such', object({ a: text, b: text }), object({ a: text }, ['a'], true)],
  ['a number in place of an integer', whole, { type: 'number' }],
  ['null beside the type', text, { type: ['string', 'null'] }],
  ['null as an alternative', text, { anyOf: [text, nothing] }],
  ['a value more in an enumeration', oneOf('a', 'b'), oneOf('a', 'b', 'c')],
  ['text in place of an enumeration', oneOf('a', 'b'), { type: 'string', minLength: 1, pattern: '^[ab]$' }],
  ['constants in place of an enumeration', oneOf('a', 'b'), { anyOf: [{ const: 'a' }, { const: 'b' }] }],
  ['a wider limit', { type: 'string', maxLength: 5, minLength: 2 }, { type: 'string', maxLength: 6, minLength: 1 }],
  ['no limit', { type: 'integer', minimum: 1, maximum: 9 }, whole],
  ['anything', object({ a: text }), {}],
  ['an alternative more', { anyOf: [text, whole] }, { anyOf: [whole, text, nothing] }],
];

const DOES_NOT_FIT: [string, JsonSchema, JsonSchema, string[]][] = [
  ['a field that may be missing', object({ a: text }, []), object({ a: text }), ['missing a']],
  ['a field more that is required', object({ a: text }), object({ a: text, b: text }), ['missing b']],
  ['a field that it no longer knows', object({ a: text, b: text }), object({ a: text }), ['unknown b']],
  ['fields of any name', object({}, [], true), object({}), ['unknown *']],
  ['a free field that is checked now', object({}, [], true), object({ a: text }, [], true), ['type a']],
  ['another type', object({ a: text }), object({ a: whole }), ['type a']],
  ['an integer in place of a number', { type: 'number' }, whole, ['type ']],
  ['null no longer', { type: ['string', 'null'] }, text, ['type ']],
  ['an alternative less', { anyOf: [text, whole] }, text, ['type ']],
  ['a value less in an enumeration', oneOf('a', 'b', 'c'), oneOf('a', 'b'), ['value ']],
  ['an enumeration in place of text', text, oneOf('a'), ['value ']],
  ['another constant', { const: 1, type: 'number' }, { const: 2, type: 'number' }, ['value ']],
  ['a lower maximum', { type: 'integer', maximum: 9 }, { type: 'integer', maximum: 8 }, ['value ']],
  ['a higher minimum', { type: 'integer', minimum: 0 }, { type: 'integer', minimum: 1 }, ['value ']],
  ['a limit where there was none', text, { type: 'string', maxLength: 5 }, ['value ']],
  ['a minimum length where there was none', text, { type: 'string', minLength: 1 }, ['value ']],
  ['another pattern', { type: 'string', pattern: '^a' }, { type: 'string', pattern: '^b' }, ['value ']],
  ['another format', text, { type: 'string', format: 'uri' }, ['value ']],
  [
    'a field deep within',
    object({ a: { type: 'array', items: object({ b: text }, []) } }),
    object({ a: { type: 'array', items: object({ b: text }) } }),
    ['missing a[].b'],
  ],
];

describe('a reader takes all that a writer writes', () => {
  it.each(FITS)('when it takes %s', (_case, written, read) => {
    expect(mismatches(written, read)).toEqual([]);
  });

  it.each(DOES_NOT_FIT)('but not with %s', (_case, written, read, expected) => {
    expect(mismatches(written, read)).toEqual(expected);
  });

  it('when it is tolerant, whatever fields and values are new to it', () => {
    const known = object({ a: oneOf('x'), b: { type: 'integer', maximum: 5 } });
    expect(mismatches(object({ a: oneOf('x', 'y'), b: whole, c: text }), known, TOLERANT)).toEqual([]);
    expect(mismatches(object({ a: whole }), known, TOLERANT)).toEqual(['missing b', 'type a']);
  });

  it('when it is tolerant, and one of several alternatives has a name that is new to it', () => {
    const named = (name: string, ...fields: string[]) =>
      object({ type: { const: name }, ...Object.fromEntries(fields.map((field) => [field, text])) });
    const known = { oneOf: [named('a', 'x'), named('b', 'y')] };
    const more = (...fields: string[]) => ({ oneOf: [...known.oneOf, named('c', ...fields)] });
    expect(mismatches(more('z'), known, TOLERANT)).toEqual([]);
    expect(mismatches({ oneOf: [named('a'), named('b', 'y')] }, known, TOLERANT)).toEqual(['missing x']);
    expect(mismatches(named('c'), named('a', 'x'), TOLERANT)).toEqual(['missing x']);
    expect(mismatches(object({ z: text }), known, TOLERANT)).toEqual(['missing type', 'missing x']);
    expect(mismatches(more('x'), known)).toEqual(['value type']);
  });

  it('in the schemas that theirs refer to, recursive ones too', () => {
    const tree = (field: JsonSchema): JsonSchema => ({
      $ref: '#/$defs/node',
      $defs: { node: object({ value: field, next: { $ref: '#/$defs/node' } }, ['value']) },
    });
    expect(mismatches(tree(text), tree(text))).toEqual([]);
    expect(mismatches(tree(text), tree(whole))).toEqual(['type value']);
  });

  it('and says who writes what and who takes what', () => {
    const parties = { writer: { name: 'alerts 1.0.0', document: {} }, reader: { name: 'this version', document: {} } };
    const [mismatch] = findMismatches(object({ a: oneOf('x', 'y') }), object({ a: oneOf('x') }), parties);
    expect(mismatch?.message).toBe('alerts 1.0.0 may write "y", this version takes only "x"');
  });
});
