import { randomOf } from './generated.call.ts';

/** A third of all calls is sent a third time. */
const SENT_AGAIN = [1, 1, 1 / 3];

/** Batches of the numbers below `count`: all twice and some again, each time in another order and other batches. */
export function repeatedOrders(seed: string, count: number, maxBatch: number): Iterable<number[]>[] {
  return SENT_AGAIN.map((part, nth) => batches(randomOf(`${seed}/${nth}`), count, Math.ceil(count * part), maxBatch));
}

function* batches(random: () => number, count: number, end: number, maxBatch: number): Generator<number[]> {
  const offset = Math.floor(random() * count);
  let stride = 1 + Math.floor(random() * count);
  while (greatestCommonDivisor(stride, count) !== 1) stride += 1;
  for (let at = 0; at < end;) {
    const size = Math.min(1 + Math.floor(random() * maxBatch), end - at);
    yield Array.from({ length: size }, (_, index) => (offset + (at + index) * stride) % count);
    at += size;
  }
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
