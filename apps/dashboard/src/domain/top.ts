import { startSlices } from '@tollkeeper/kernel';

/** The first `limit` items in the order of `compare`, without copying or sorting all items. */
export async function first<T>(items: Iterable<T>, limit: number, compare: (a: T, b: T) => number): Promise<T[]> {
  const slices = startSlices();
  const top: T[] = [];
  for (const item of items) {
    if (slices.usedUp()) await slices.next();
    if (top.length === limit && compare(item, top.at(-1)!) >= 0) continue;
    const behind = top.findIndex((other) => compare(item, other) < 0);
    top.splice(behind === -1 ? top.length : behind, 0, item);
    if (top.length > limit) top.pop();
  }
  return top;
}
