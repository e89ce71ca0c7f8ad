import type { Send } from '../src/http.transport.ts';
import { LeasedCalls, type LeaseOptions } from '../src/leased.calls.ts';
import { type AllowedCall, TollkeeperError, TollkeeperUnavailable } from '../src/index.ts';
import { LeaseLedger } from './lease.ledger.ts';
import { VirtualTime } from './virtual.time.ts';

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface WorldSettings {
  seed: number;
  limits: { agents: Record<string, number>; workspace: number };
  leases?: LeaseOptions;
  /** Probability that a request or its answer is lost, and that a request arrives twice. */
  losses?: number;
  maxDelayMs?: number;
}

const REQUEST_MS = 1_000;

/** A ledger, and gateways that ask it over a network that loses, delays and repeats, in virtual time. */
export function createWorld({ seed, limits, leases = {}, losses = 0, maxDelayMs = 20 }: WorldSettings) {
  const random = randomOf(seed);
  const time = new VirtualTime();
  const ledger = new LeaseLedger(limits, () => time.now);
  const problems: string[] = [];
  /** What calls hold and have cost, by lease. */
  const granted = new Map<string, number>();
  let downUntil = 0;
  const lost = () => random() < losses;

  async function exchange(path: string, body: unknown): Promise<object> {
    await time.pause(random() * maxDelayMs);
    if (lost() || time.now < downUntil) {
      await time.pause(REQUEST_MS);
      throw new TollkeeperUnavailable('It is unavailable.', { code: 'timeout' });
    }
    if (lost()) time.after(random() * 5_000, () => ledger.answer(path, body));
    const { status, body: answer } = ledger.answer(path, body);
    await time.pause(random() * maxDelayMs);
    if (lost()) {
      await time.pause(REQUEST_MS);
      throw new TollkeeperUnavailable('Its answer was lost.', { code: 'timeout' });
    }
    if (status >= 400) throw new TollkeeperError('It is refused.', { code: 'refused', status });
    return answer;
  }

  /** As the transport of the client: three attempts with the same ids. */
  const send: Send = async ({ path, body }) => {
    const parsed: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
    for (let attempts = 1; ; attempts += 1) {
      try {
        return await exchange(path, parsed);
      } catch (error) {
        if (attempts === 3 || !(error instanceof TollkeeperUnavailable)) throw error;
      }
    }
  };

  /** A grant from memory is right if its lease is open now, and has room for all that was granted from it. */
  function check(call: AllowedCall, amountMicros: number): void {
    const lease = ledger.leases.get(call.leaseId ?? '');
    if (lease === undefined) return void problems.push(`no lease ${call.leaseId}`);
    if (!ledger.isOpen(lease)) problems.push(`${lease.id} is over at ${time.now}`);
    const total = (granted.get(lease.id) ?? 0) + amountMicros;
    if (total > lease.amountMicros) problems.push(`${total} of ${lease.amountMicros} are granted from ${lease.id}`);
    granted.set(lease.id, total);
  }

  function startGateway(speed = 1) {
    let isAlive = true;
    const clock = time.clockOf({ speed, isAlive: () => isAlive });
    const report = () => Promise.reject(new Error('no settlement is reported as an event'));
    const calls = new LeasedCalls({
      send,
      report,
      clock,
      options: leases,
      timeoutMs: 600_000,
      settleTimeoutMs: 600_000,
    });
    return {
      calls,
      kill() {
        isAlive = false;
      },
      get isAlive() {
        return isAlive;
      },
      /** Reserves from a lease, or undefined if the call is denied or must ask for itself. */
      async reserve(agentId: string, amountMicros: number, ttlSeconds = 600): Promise<AllowedCall | undefined> {
        const request = { agentId, runId: 'run-1', amountMicros, ttlSeconds };
        const call = calls.take(request) ?? (await calls.ask(request).catch(() => undefined));
        if (call?.allowed !== true) return undefined;
        if (isAlive) check(call, amountMicros);
        return call;
      },
      /** Ends a call with its cost. What it does not need of its amount is free again. */
      end(call: AllowedCall, amountMicros: number, costMicros: number | null): Promise<unknown> {
        const { leaseId = '' } = call;
        granted.set(leaseId!, (granted.get(leaseId!) ?? 0) - amountMicros + (costMicros ?? 0));
        return costMicros === null ? call.release() : call.settle({ amountMicros: costMicros });
      },
    };
  }

  return {
    ...{ random, time, ledger, problems, startGateway },
    /** The server answers nothing for a while. */
    goDown(ms: number) {
      downUntil = time.now + ms;
    },
  };
}
