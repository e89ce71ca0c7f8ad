import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { pathTree, readPaths } from './json-paths.ts';
import { pythonToJson } from './python-literal.ts';
import { MalformedBody } from './record.ts';

const read = (json: string, ...paths: string[]) => Object.fromEntries(readPaths(Buffer.from(json), pathTree(paths)));

describe('paths in JSON', () => {
  it('find values at any depth, and skip the others', () => {
    const json = '{"x":[{"a":1}],"usage":{"details":{"cached":1024,"z":"\\"}"},"total":"12"},"ok":true,"none":null}';
    expect(read(json, 'usage.details.cached', 'usage.total', 'ok', 'none', 'usage', 'missing.path')).toEqual({
      'usage.details.cached': 1024,
      'usage.total': '12',
      ok: true,
    });
  });

  it('collect a value of each element of a list', () => {
    const json = '{"guards":[{"name":"a","n":1},{"n":2,"name":"b"},{}]}';
    expect(read(json, 'guards.*.name', 'guards.*.n')).toEqual({
      'guards.*.name': ['a', 'b'],
      'guards.*.n': ['1', '2'],
    });
  });

  it('find the first value of a repeated key', () => {
    expect(read('{"a":{"b":1,"b":2},"a":{"b":3}}', 'a.b')).toEqual({ 'a.b': 1 });
  });

  it('find the value as a whole under the empty path', () => {
    expect(read('"sess-9"', '')).toEqual({ '': 'sess-9' });
  });

  it('find nothing in the prototype of objects', () => {
    expect(read('{"__proto__":{"a":1},"constructor":{"a":2}}', 'a', 'toString', '__proto__.a')).toEqual({
      '__proto__.a': 1,
    });
  });

  it('find what JSON.parse finds, however keys and texts are written', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.json({ noUnicodeString: false }), (text, other) => {
        const value = { other: JSON.parse(other) as unknown, a: { text, number: 1.5e-7 } };
        for (const json of [JSON.stringify(value), JSON.stringify(value, null, 3)]) {
          expect(read(json, 'a.text', 'a.number')).toEqual({ 'a.text': text, 'a.number': 1.5e-7 });
        }
      }),
    );
  });

  it.each([
    '',
    '{',
    '{"a":1',
    '{"a" 1}',
    '{"a":1}}',
    '{"a":01}',
    '{"a":tru}',
    '{"a":"x}',
    '{a:1}',
    "{'a':1}",
    '{"a":]}',
  ])('are not found in %j', (json) => {
    expect(() => read(json, 'a')).toThrow(MalformedBody);
  });
});

describe('a dictionary of Python', () => {
  it.each(["{'a': 'x", "{'a': \"x", "{'a': 'x\\", "{'a': 1, 'b'"])('that ends too early is not JSON: %s', (text) => {
    expect(() => read(pythonToJson(text), 'a')).toThrow(MalformedBody);
  });

  it('is read like JSON', () => {
    const python = `{'cached': 1024, 'none': None, "it's": 'a "quote"', 'yes': True, 'no': False, 'word': 'None', 'x': 'it\\'s'}`;
    expect(JSON.parse(pythonToJson(python))).toEqual({
      cached: 1024,
      none: null,
      "it's": 'a "quote"',
      yes: true,
      no: false,
      word: 'None',
      x: "it's",
    });
  });
});
