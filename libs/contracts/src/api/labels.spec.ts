import { describe, expect, it } from '@jest/globals';
import { issueMessage, toErrorDetails } from '../validation.ts';
import { auditedLabels, labels, mergeLabels, trackedLabels } from './labels.ts';

const problemsOf = (input: unknown) => {
  const result = labels.safeParse(input, { error: issueMessage });
  return result.success ? [] : toErrorDetails(result.error.issues);
};
const named = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, nth) => [`label${nth}`, 'x']));
const NAME = 'must be a name of 1 to 32 characters of a-z 0-9 _ . -, starting with a-z';
const VALUE = 'must be 1 to 128 printable characters, without a space at its ends';

describe('labels', () => {
  it.each([
    {},
    named(10),
    { team: 'Zürich 📈', 'cost.center-1_b': 'x'.repeat(128), constructor: 'a', [`a${'b'.repeat(31)}`]: 'a b' },
  ])('are taken as they are: %j', (input) => {
    expect(labels.parse(input)).toEqual(input);
  });

  it.each<[unknown, { path: string; message: string }]>([
    [named(11), { path: '', message: 'must be at most 10 labels' }],
    [{ Team: 'a' }, { path: 'Team', message: NAME }],
    [{ '1st': 'a' }, { path: '1st', message: NAME }],
    [{ '': 'a' }, { path: '', message: NAME }],
    [{ [`a${'b'.repeat(32)}`]: 'a' }, { path: `a${'b'.repeat(32)}`, message: NAME }],
    [{ team: '' }, { path: 'team', message: VALUE }],
    [{ team: 'x'.repeat(129) }, { path: 'team', message: VALUE }],
    [{ team: 'a\nb' }, { path: 'team', message: VALUE }],
    [{ team: 'a\u0085b' }, { path: 'team', message: VALUE }],
    [{ team: '\ud83d' }, { path: 'team', message: VALUE }],
    ...[' a', 'a ', ' ', 'a\u202eb', 'a\u200bb', 'a\u2028b', '\ufeffa', 'a\ue000', '\uffff'].map(
      (team): [unknown, { path: string; message: string }] => [{ team }, { path: 'team', message: VALUE }],
    ),
    [{ team: 7 }, { path: 'team', message: 'must be a string' }],
    [['team'], { path: '', message: 'must be an object' }],
  ])('are refused with a problem that names the label: %j', (input, problem) => {
    expect(problemsOf(input)).toEqual([problem]);
  });
});

it.each([
  [['team', 'cost.center', 'a', 'b', 'c'], []],
  [['a', 'b', 'c', 'd', 'e', 'f'], [{ path: '', message: 'must be at most 5 names' }]],
  [['team', 'team'], [{ path: '', message: 'must not name a label twice' }]],
  [['team', 'Team'], [{ path: '[1]', message: NAME }]],
])('tracked labels are at most five different names: %j', (input, problems) => {
  const { error } = trackedLabels.safeParse(input, { error: issueMessage });
  expect(toErrorDetails(error?.issues ?? [])).toEqual(problems);
});

it('labels are a list in the audit log, and no labels are nothing', () => {
  expect(auditedLabels({ team: 'growth', env: 'prod, test' })).toEqual(['env=prod, test', 'team=growth']);
  expect(auditedLabels({})).toBeNull();
});

describe('the labels of a call', () => {
  it('are those of all sources, and of several with a name that of the first source', () => {
    const key = { env: 'prod' };
    const agent = { team: 'growth', env: 'dev' };
    const call = { user: 'u-7', team: 'other', env: 'test', constructor: 'a' };
    expect(mergeLabels(key, agent, call)).toEqual({ env: 'prod', team: 'growth', user: 'u-7', constructor: 'a' });
    expect([mergeLabels({}, {}, call), mergeLabels({}, {})]).toEqual([call, {}]);
    expect([key, agent]).toEqual([{ env: 'prod' }, { team: 'growth', env: 'dev' }]);
  });
});
