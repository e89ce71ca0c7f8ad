import { describe, expect, it } from '@jest/globals';
import { first } from './top.ts';

describe('the first of many items', () => {
  const ascending = (a: number, b: number) => a - b;

  it.each([
    [[], 3],
    [[2], 3],
    [[5, 1, 4, 1, 3, 5, 2], 3],
    [[1, 2, 3, 4, 5], 5],
    [[5, 4, 3, 2, 1], 1],
  ])('of %j, %i, are those of all in their order', async (items, limit) => {
    expect(await first(items, limit, ascending)).toEqual([...items].sort(ascending).slice(0, limit));
  });

  it('of those that are alike are in the order in which they come', async () => {
    const items = [...'dbca'].map((name) => ({ name, rank: 1 }));
    const top = await first(items, 2, (a, b) => a.rank - b.rank);
    expect(top.map(({ name }) => name)).toEqual(['d', 'b']);
  });
});
