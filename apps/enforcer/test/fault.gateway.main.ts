import { setTimeout as delay } from 'node:timers/promises';
import {
  type AllowedCall,
  createTollkeeper,
  type ReserveOptions,
  TollkeeperError,
  TollkeeperUnavailable,
} from '@tollkeeper/client';
import { openJournal } from './fault.journal.ts';
import type { GatewayOrder, GatewayReport, GatewaySettings, Granted } from './fault.processes.ts';
import { createChance } from './fault.record.ts';
import { createWatchedFetch } from './fault.watched.fetch.ts';

// A gateway with the real client, in a separate process that may be killed at any time. It asks before each call,
// takes a while for it, and settles it.

const CALLERS = 8;
const MOST_CALL_MS = 20;
/** Before the next call after a denial, so that these do not take all of the machine. */
const PAUSE_MS = 50;
/** Longer than the election of a primary. Until then, the client repeats a request with the same ids. */
const PATIENCE_MS = 30_000;
const TICK_MS = 10;
const REPORT_EVERY_MS = 100;

const settings = JSON.parse(process.env['FAULT_GATEWAY'] ?? '') as GatewaySettings;
const { ports, apiKey, leases, agents, planKey, maxMicros, name } = settings;
const { next, below, pick } = createChance(settings.seed);
const write = openJournal(settings.journal);
const count = (what: string) => write({ kind: 'count', what });
const problem = (error: unknown) => write({ kind: 'problem', text: `${name}: ${String(error)}` });
const report = (message: GatewayReport) => void process.send?.(message);

/** Decided calls so far, and how many it may make. */
let made = 0;
let most = 0;
let settlements = 0;
let isStopped = false;
let granted: Granted | null = null;
const client = createTollkeeper({
  ...{ url: 'http://tollkeeper.invalid', key: apiKey, timeoutMs: PATIENCE_MS },
  ...(leases !== null && { leases }),
  fetch: createWatchedFetch({
    ...{ port: () => pick(ports), write },
    onGranted: (askedAt) => void (granted = { askedAt, at: Date.now() }),
  }),
});

async function call(): Promise<void> {
  const request = {
    ...{ agentId: pick(agents), runId: name, amountMicros: 1 + below(maxMicros) },
    planKey: next() < 0.5 ? planKey : undefined,
  };
  const answer = await client.reserve(request);
  made += 1;
  if (!answer.allowed) {
    count('denied');
    return delay(PAUSE_MS);
  }
  await delay(below(MOST_CALL_MS));
  if (next() < 0.05) {
    await answer.release();
    count('released');
    return;
  }
  count(answer.leaseId === null ? 'granted call by call' : 'granted from a lease');
  await settle(answer, request);
}

/** Estimates are upper bounds, but for those of one agent, call by call. */
async function settle(answer: AllowedCall, request: ReserveOptions): Promise<void> {
  const { agentId, planKey = null, amountMicros: heldMicros } = request;
  const isAbove = answer.leaseId === null && agentId === settings.careless && next() < 0.1;
  const amountMicros = isAbove ? heldMicros + 1 + below(100) : next() < 0.3 ? heldMicros : below(heldMicros + 1);
  const settlementId = `${name}-${(settlements += 1)}`;
  const from = answer.leaseId ?? answer.reservation!.id;
  write({ kind: 'made', call: { settlementId, from, agentId, planKey, amountMicros, heldMicros } });
  const isDurable = answer.leaseId !== null && next() < 0.02;
  for (;;) {
    try {
      await answer.settle({ amountMicros, settlementId, durable: isDurable });
      if (isDurable) write({ kind: 'durable', settlementId });
      return;
    } catch (error) {
      if (!mayPass(error)) throw error;
      count('settled again');
    }
  }
}

/** A body that arrives too late is refused with 408. */
function mayPass(error: unknown): boolean {
  return error instanceof TollkeeperUnavailable || (error instanceof TollkeeperError && error.status === 408);
}

async function caller(): Promise<void> {
  while (!isStopped) {
    if (made >= most) {
      await delay(TICK_MS);
      continue;
    }
    await call().catch((error: unknown) => (mayPass(error) ? count('unavailable') : problem(error)));
  }
}

const callers = Array.from({ length: CALLERS }, caller);
const ticker = setInterval(() => report({ made, granted }), REPORT_EVERY_MS);

const ORDERS = {
  async flush() {
    isStopped = true;
    await Promise.all(callers);
    await client.flush();
  },
  async close() {
    clearInterval(ticker);
    await client.close();
  },
};

process.on('message', (order: GatewayOrder) => {
  if ('most' in order) {
    most = order.most;
    return;
  }
  void ORDERS[order.end]()
    .catch(problem)
    .then(() => report({ ended: order.end }));
});
process.on('disconnect', () => process.exit());
report({ made, granted });
