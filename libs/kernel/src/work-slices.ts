/** Longest time that work may block everything else in the process. */
const SLICE_MS = 5;

/** Lets long work pause regularly. */
export interface WorkSlices {
  /** Whether the slice is used up. If so, `await next()` before continuing. */
  usedUp(): boolean;
  /** Lets everything else in the process run. Resolves when the next slice starts. */
  next(): Promise<void>;
}

/**
 * Cuts work of unknown length, such as a loop over input, into slices of 5 ms; the first starts now. All sliced work of
 * the process takes turns: between two turns of the event loop one slice runs, however many pieces of work there are.
 *
 *     const slices = startSlices();
 *     for (const item of items) {
 *       handle(item);
 *       if (slices.usedUp()) await slices.next();
 *     }
 */
export function startSlices(): WorkSlices {
  let startedAt = performance.now();
  return {
    usedUp: () => performance.now() - startedAt >= SLICE_MS,
    async next() {
      await turn();
      startedAt = performance.now();
    },
  };
}

/** `items.map(each)` in slices, in order. Rejects with what `each` throws. */
export async function mapInSlices<T, R>(items: readonly T[], each: (item: T, index: number) => R): Promise<R[]> {
  const slices = startSlices();
  const results: R[] = [];
  for (const [index, item] of items.entries()) {
    if (slices.usedUp()) await slices.next();
    results.push(each(item, index));
  }
  return results;
}

const waiting: (() => void)[] = [];

function turn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(giveTurn);
  });
}

function giveTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(giveTurn);
}
