import { describe, expect, it, jest } from '@jest/globals';
import { mapInSlices, startSlices } from './work-slices.ts';

/** Counts the turns of the event loop until it is stopped. */
function countTurns() {
  const turns = { count: 0, stop: () => clearImmediate(next) };
  const count = () => {
    turns.count += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  return turns;
}

function workFor(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('work in slices', () => {
  it('gives everything else its turns, and keeps the order of its items', async () => {
    const turns = countTurns();
    const doubled = await mapInSlices([...Array(40).keys()], (item) => {
      workFor(2);
      return item * 2;
    });
    turns.stop();

    expect(doubled).toEqual([...Array(40).keys()].map((item) => item * 2));
    expect(turns.count).toBeGreaterThanOrEqual(8);
  });

  it('does one slice in a turn, however many pieces of work there are', async () => {
    const turns = countTurns();
    const began: number[] = [];
    const pieces = [...Array(10).keys()].map(async () => {
      const slices = startSlices();
      for (let slice = 0; slice < 3; slice += 1) {
        await slices.next();
        began.push(turns.count);
      }
    });
    await Promise.all(pieces);
    turns.stop();

    expect(began).toHaveLength(30);
    expect(new Set(began).size).toBe(30);
  });

  it('lets short work continue without waiting', async () => {
    jest.spyOn(performance, 'now').mockReturnValue(0);
    const turns = countTurns();
    await mapInSlices([1, 2, 3], (item) => item);
    turns.stop();
    jest.restoreAllMocks();
    expect(turns.count).toBe(0);
  });

  it('rejects with what the work throws', async () => {
    const failing = mapInSlices([1, 2], (item) => {
      if (item === 2) throw new Error('two');
    });
    await expect(failing).rejects.toThrow('two');
  });
});
