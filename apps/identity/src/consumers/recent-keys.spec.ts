import { expect, it } from '@jest/globals';
import { createRecentKeys } from './recent-keys.ts';

it('a full set forgets the key that was used longest ago', () => {
  const keys = createRecentKeys(2);
  keys.add('a');
  keys.add('b');
  expect(keys.has('a')).toBe(true);
  keys.add('c');
  expect([keys.has('a'), keys.has('b'), keys.has('c')]).toEqual([true, false, true]);
});
