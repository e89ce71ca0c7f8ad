import { startSlices } from '@tollkeeper/kernel';

/** Does `each` for all items in order, in slices. Rejects with the reason of `signal`, and with what `each` throws. */
export async function eachInSlices<T>(
  items: Iterable<T>,
  each: (item: T) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const slices = startSlices();
  for (const item of items) {
    each(item);
    if (!slices.usedUp()) continue;
    await slices.next();
    signal?.throwIfAborted();
  }
}
