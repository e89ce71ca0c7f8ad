import { expect, it } from '@jest/globals';
import { inParallel } from './apply.ts';

it('results are in the order of the items, and after a failure no further item is begun', async () => {
  const items = Array.from({ length: 100 }, (_, index) => index);
  await expect(inParallel(items, async (item) => 2 * item)).resolves.toEqual(items.map((item) => 2 * item));
  const begun: number[] = [];
  const failing = inParallel(items, async (item) => {
    begun.push(item);
    if (item === 1) throw new Error('not logged in');
    // Workers that are not awaited any more would go on in these turns.
    await new Promise((resolve) => setImmediate(resolve));
  });
  await expect(failing).rejects.toThrow('not logged in');
  for (let turn = 0; turn < items.length; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toEqual([0, 1, 2, 3]);
});
