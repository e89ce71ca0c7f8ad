import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'secure-json-parse';
import { z } from 'zod';
import { defineRoute } from '../src/index.ts';
import { MAX_JSON_DEPTH, MAX_JSON_PARTS, MAX_LIST_PARTS, parseJsonBody } from '../src/json-body.ts';
import { validate } from '../src/validation.ts';

/** Makes a body too large to be parsed at once. */
const LONG = 'x'.repeat(70_000);
const list = (text: string) => `["${LONG}",${text}]`;
/** Commas and brackets inside texts, which are not part of the structure. */
const TRICKY = String.raw`"],[{\"\\", "\\", "{", "\u005d", "é😀"`;

const read = (text: string) => parseJsonBody(Buffer.from(text));
const objectsOfDifferentKeys = (objects: number, keys: number) =>
  Array.from({ length: objects }, (_object, index) =>
    Object.fromEntries(Array.from({ length: keys }, (_key, key) => [`${index}_${key}`, 0])),
  );
const refusal = (text: string | Buffer) =>
  parseJsonBody(Buffer.from(text)).then(
    () => 'taken',
    (error: { code: string; details?: { path: string }[] }) => [error.code, error.details?.[0]?.path],
  );

describe('a large body', () => {
  it('is the value that JSON says, whatever stands in its texts and around them', async () => {
    const texts = [
      list(TRICKY),
      list(`${TRICKY},[${TRICKY},{"a":[${TRICKY}]}]`),
      ` \r\n\t[ "${LONG}" , [ ] , { } , -1.5e3 ,null ] \n`,
      `{"a":"${LONG}","b":[${TRICKY}]}`,
      `"${LONG}"`,
      `[${' '.repeat(70_000)}]`,
      `[${'[1,{"a":2}],'.repeat(30_000 / 4)}0]`,
      `[${'"é😀",'.repeat(9_000)}0]`,
    ];
    for (const text of texts) expect(await read(text)).toEqual(JSON.parse(text));
    expect(await read(`\ufeff${list('1')}`)).toEqual([LONG, 1]);
  });

  it('is read as if it were parsed at once, and refused wherever that would be', async () => {
    const pieces = fc.constantFrom(
      '[',
      ']',
      '{',
      '}',
      ',',
      ':',
      '"',
      '\\',
      ' ',
      '1',
      '"a"',
      '"a":1',
      '{"a":1}',
      '\ufeff',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(pieces, { maxLength: 12 }), async (parts) => {
        for (const text of [list(parts.join('')), `[${parts.join('')},"${LONG}"]`, `[1,"${LONG}"${parts.join('')}`]) {
          const atOnce = attempt(() => parse(text) as unknown);
          const inSlices = await read(text).catch(() => 'refused');
          expect(inSlices).toEqual(atOnce);
        }
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['an empty element between two runs', `["${LONG}",,"${LONG}"]`],
    ['a comma at the end', `["${LONG}","${LONG}",]`],
    ['a comma at the beginning', `[,"${LONG}"]`],
    ['brackets that do not match', `["${LONG}",[1},{2]]`],
    ['an end of another kind', `["${LONG}"}`],
    ['no end', `["${LONG}"`],
    ['something behind the end', `["${LONG}"],[1]`],
    ['a byte order mark in the middle', `["${LONG}",\ufeff1]`],
    ['a key that could reach a prototype', `["${LONG}",{"a":{"__proto__":{}}}]`],
    ['a constructor with a prototype', `["${LONG}",{"constructor":{"prototype":{}}}]`],
    ['bytes that are no UTF-8', Buffer.concat([Buffer.from(`["${LONG}","`), Buffer.from([0xff]), Buffer.from('"]')])],
  ])('is malformed_json for %s', async (_case, text) => {
    expect(await refusal(text)).toEqual(['malformed_json', undefined]);
  });

  it('is refused before it is parsed for more parts than can be parsed at a stretch, by the index of the element', async () => {
    const many = (parts: number) => `[${'1,'.repeat(parts - 1)}1]`;
    expect(await refusal(`{"a":"${LONG}","b":${many(MAX_JSON_PARTS + 1)}}`)).toEqual(['invalid_request', '']);
    expect(await refusal(list(`0,${many(MAX_JSON_PARTS + 1)}`))).toEqual(['invalid_request', '[2]']);
    expect(await refusal(list(`${many(MAX_JSON_PARTS)},${many(MAX_JSON_PARTS)}`))).toBe('taken');
    expect(await refusal(`[${'{},'.repeat(1_000_000)}1]`)).toEqual(['invalid_request', '']);
  });

  it('has as many parts and elements as allowed, and an error names the limit with one more', async () => {
    const object = (parts: number) => `{"b":"${LONG}","a":[${'1,'.repeat(parts - 3)}1]}`;
    const elements = (count: number) => `["${LONG}",${'1,'.repeat(count - 2)}1]`;
    expect(await refusal(object(MAX_JSON_PARTS))).toBe('taken');
    expect(await refusal(elements(10_000))).toBe('taken');
    const tenThousandParts = `,[${'1,'.repeat(9_998)}1]`;
    const parts = (tenThousands: number) => `["${LONG}"${tenThousandParts.repeat(tenThousands)}`;
    expect(await refusal(`${parts(MAX_LIST_PARTS / 10_000)}]`)).toBe('taken');
    const message = 'must have at most 20000 fields, elements, objects and lists';
    for (const [text, problem] of [
      [object(MAX_JSON_PARTS + 1), { path: '', message }],
      [list(`[${'1,'.repeat(MAX_JSON_PARTS)}1]`), { path: '[1]', message }],
      [elements(10_001), { path: '', message: 'must have at most 10000 elements' }],
      [
        `${parts(MAX_LIST_PARTS / 10_000)},1]`,
        { path: '', message: 'must have at most 500000 fields, elements, objects and lists' },
      ],
    ] as const) {
      await expect(read(text)).rejects.toMatchObject({
        code: 'invalid_request',
        message: `${problem.path || 'The body'} ${problem.message}.`,
        details: [problem],
      });
    }
    await expect(read('{')).rejects.toMatchObject({ message: 'The request body is not valid JSON.' });
  });

  it.each([
    ['a list', 5, JSON.stringify(objectsOfDifferentKeys(480, 1_000))],
    ['a text', 4, `"${'\\n'.repeat(10_000_000)}"`],
    ['nothing but blanks in a list', 2, `[${' '.repeat(20_000_000)}1]`],
  ])('gives other requests their turns while it is read: %s', async (_case, least, text) => {
    let turns = 0;
    let next = setImmediate(function count() {
      turns += 1;
      next = setImmediate(count);
    });
    await read(text);
    clearImmediate(next);
    expect(turns).toBeGreaterThanOrEqual(least);
  });
});

describe('a body of objects and lists within each other', () => {
  const lists = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  const objects = (depth: number) => '{"a":'.repeat(depth - 1) + '{}' + '}'.repeat(depth - 1);
  const mixed = (depth: number) => '[{"a":'.repeat(depth / 2) + '[]'.repeat(depth % 2) + '}]'.repeat(depth / 2);
  const bodies = (deep: string) => [deep, `{"b":"${LONG}","a":${deep}}`, `["${LONG}",${deep}]`];

  it('is taken down to the deepest level, whatever stands in its texts and beside it', async () => {
    const texts = [
      lists(MAX_JSON_DEPTH),
      objects(MAX_JSON_DEPTH),
      ...bodies(lists(MAX_JSON_DEPTH - 1)),
      `[${`${lists(MAX_JSON_DEPTH - 1)},`.repeat(5)}"${'['.repeat(MAX_JSON_DEPTH)}"]`,
    ];
    for (const text of texts) expect(JSON.stringify(await read(text))).toBe(text);
  });

  it('is refused below it, be it large or small, whole or without an end', async () => {
    const deeper = [
      ...[lists, objects, mixed].flatMap((nested) => bodies(nested(MAX_JSON_DEPTH + 1))),
      '['.repeat(1_000_000),
    ];
    for (const text of deeper) {
      await expect(read(text)).rejects.toMatchObject({
        code: 'invalid_request',
        message: 'The body must have at most 100 levels of objects and lists.',
        details: [{ path: '', message: 'must have at most 100 levels of objects and lists' }],
      });
    }
  });
});

describe('a body that is a list', () => {
  const element = z.int().refine((value) => {
    const end = performance.now() + 1;
    while (performance.now() < end);
    return value !== 7;
  }, 'must not be 7');
  const route = defineRoute({
    method: 'post',
    audit: { unaudited: 'A test' },
    path: '/numbers',
    operationId: 'postNumbers',
    tag: 'Test',
    summary: 'Test',
    access: 'public',
    body: z.array(element).max(100, 'must have at most 100 elements'),
    responses: { 204: { description: 'Taken' } },
    handler: async () => ({ status: 204 }),
  });
  const check = (value: unknown) => validate(route, {}, '/numbers', { contentType: 'application/json', value });

  it('is validated element by element, with turns for other requests', async () => {
    let turns = 0;
    let next = setImmediate(function count() {
      turns += 1;
      next = setImmediate(count);
    });
    const { body } = await check(Array(60).fill(1));
    clearImmediate(next);
    expect(body).toEqual(Array(60).fill(1));
    expect(turns).toBeGreaterThanOrEqual(5);
  });

  it('names the index of each element that is not valid', async () => {
    await expect(check([1, 7, 'x'])).rejects.toMatchObject({
      details: [
        { path: '[1]', message: 'must not be 7' },
        { path: '[2]', message: 'must be a number' },
      ],
    });
  });

  it('is refused for its length before any element is looked at', async () => {
    await expect(check(Array(101).fill('x'))).rejects.toMatchObject({
      details: [{ path: '', message: 'must have at most 100 elements' }],
    });
  });
});

function attempt(work: () => unknown): unknown {
  try {
    return work();
  } catch {
    return 'refused';
  }
}
