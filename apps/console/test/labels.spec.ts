import { describe, expect, it } from '@jest/globals';
import { labels as accepted } from '@tollkeeper/contracts';
import fc from 'fast-check';
import { labelList, readLabels } from '../web/src/format/labels.ts';

const NAME = /^[a-z][a-z0-9_.-]{0,31}$/;
const value = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .filter((text) => accepted.safeParse({ a: text }).success);
const someLabels = fc.dictionary(fc.stringMatching(NAME), value, { maxKeys: 10 });
const lines = (count: number) => Array.from({ length: count }, (_, nth) => `label${nth}=x`).join('\n');

describe('typed labels', () => {
  it('are read back as they are written, whatever they are', () => {
    fc.assert(
      fc.property(someLabels, (labels) => {
        expect(readLabels(labelList(labels).join('\n'))).toEqual({ labels });
      }),
    );
  });

  it('are valid only if the API accepts them', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'A', '1', '=', '\n', ' ', '\u0007', '\ud83d', '📈', '.', '\u202e', '\u00a0'),
    });
    fc.assert(
      fc.property(text, (typed) => {
        const { labels = {} } = readLabels(typed);
        expect(accepted.parse(labels)).toEqual(labels);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['', {}],
    [' \n\r\n', {}],
    ['team=growth', { team: 'growth' }],
    ['  team = growth and more \r\n\n\tenv=prod', { team: 'growth and more', env: 'prod' }],
    ['query=a=b==', { query: 'a=b==' }],
    ['constructor=a', { constructor: 'a' }],
    [`${'n'.repeat(32)}=${'v'.repeat(128)}`, { ['n'.repeat(32)]: 'v'.repeat(128) }],
    [
      lines(10),
      Object.fromEntries(
        lines(10)
          .split('\n')
          .map((line) => line.split('=')),
      ),
    ],
  ])('%j are %j', (typed, labels) => {
    expect(readLabels(typed)).toEqual({ labels });
  });

  const FORM = 'Enter a name, “=” and a value, such as team=growth.';
  const BAD_NAME = 'A name starts with a lowercase letter and has at most 32 characters: a–z, 0–9, “_”, “.” and “-”.';
  const BAD_VALUE = 'A value has 1 to 128 printable characters.';
  it.each([
    ['env=prod\n\nteam', `Line 3: ${FORM}`],
    ['Team=growth', `Line 1: ${BAD_NAME}`],
    ['=growth', `Line 1: ${BAD_NAME}`],
    ['cost center=1', `Line 1: ${BAD_NAME}`],
    [`${'n'.repeat(33)}=a`, `Line 1: ${BAD_NAME}`],
    ['team= ', `Line 1: ${BAD_VALUE}`],
    [`env=prod\nteam=${'v'.repeat(129)}`, `Line 2: ${BAD_VALUE}`],
    ['team=a\tb', `Line 1: ${BAD_VALUE}`],
    ['team=a\nenv=b\nteam=a', 'Line 3: “team” already has a value on line 1.'],
    [lines(11), 'Line 11: At most 10 labels are allowed.'],
  ])('%j have a problem: %s', (typed, problem) => {
    expect(readLabels(typed)).toEqual({ problem });
  });
});

it('labels are listed in order of their names', () => {
  expect(labelList({ team: 'growth', 'team.a': 'x', env: 'prod' })).toEqual(['env=prod', 'team=growth', 'team.a=x']);
});
