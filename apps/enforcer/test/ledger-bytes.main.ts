// A process of the suite of large ledgers: prints the ratio of the heap that ledgers use to their `bytes`.
import { largeLedger } from './large.ledgers.ts';

/** All that is made: if one were collected while the next is measured, the next would seem to take less. */
const kept: unknown[] = [];

function heapAfter<T>(make: () => T): [number, T] {
  globalThis.gc!();
  const before = process.memoryUsage().heapUsed;
  const made = make();
  kept.push(made);
  globalThis.gc!();
  return [process.memoryUsage().heapUsed - before, made];
}

const now = Date.now();
heapAfter(() => largeLedger(now, { days: 1, agents: 100, holds: 100 }));
const parts = [
  { days: 3, agents: 20_000 },
  { days: 1, agents: 300 },
  { days: 1, agents: 10, holds: 20_000 },
  { days: 1, agents: 10, holds: 20_000, labels: 10 },
].map((size) => {
  const [taken, ledger] = heapAfter(() => largeLedger(now, size));
  return taken / ledger.bytes;
});
process.stdout.write(JSON.stringify(parts));
