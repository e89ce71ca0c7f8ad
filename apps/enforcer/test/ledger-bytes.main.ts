// A process of the suite of large ledgers: prints the ratio of the heap that ledgers use to their `bytes`.
import { largeLedger } from './large.ledgers.ts';

function heapAfter(make: () => unknown): [number, unknown] {
  globalThis.gc!();
  const before = process.memoryUsage().heapUsed;
  const kept = make();
  globalThis.gc!();
  return [process.memoryUsage().heapUsed - before, kept];
}

const now = Date.now();
largeLedger(now, { days: 1, agents: 100, holds: 100 });
const parts = [
  { days: 3, agents: 20_000 },
  { days: 1, agents: 300 },
  { days: 1, agents: 10, holds: 20_000 },
  { days: 1, agents: 10, holds: 20_000, labels: 10 },
].map((size) => {
  const [taken, ledger] = heapAfter(() => largeLedger(now, size));
  return taken / (ledger as ReturnType<typeof largeLedger>).bytes;
});
process.stdout.write(JSON.stringify(parts));
