import { setTimeout as delay } from 'node:timers/promises';
import type { Decider } from './deciders/decider.ts';
import type { TimedCall } from './machine.pauses.ts';
import { percentile } from './statistics.ts';

/** Requests decisions until there are enough, or the time is over. */
export interface DecisionLoad {
  /** Callers, each of which waits for its answer before the next request. */
  callers: number;
  seconds: number;
  decisions: number;
  /** Whether each reservation is settled before its caller's next request. */
  settles?: boolean;
  /** Request rate with up to 250 calls in flight, instead of waiting callers. */
  perSecond?: number;
}

export interface DecisionResult {
  decisions: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Processor time of the calling process, in seconds. */
  cpuSeconds: number;
  /** Each call, of a load at a rate; else empty. */
  calls: TimedCall[];
}

/** Sends requests to a decider, and releases what it granted. */
export interface DecisionLoader {
  run(load: DecisionLoad): Promise<DecisionResult>;
  /** Releases all reservations, so that the next run starts in the same state. */
  free(callers: number): Promise<void>;
}

const TICK_MS = 1;
/** The enforcer answers 256 requests of a workspace at a time, and refuses more. */
const MOST_IN_FLIGHT = 250;

/** Request ids start with `prefix`, which no other loader may use. */
export function createDecisionLoader(decider: Decider, prefix: string): DecisionLoader {
  let asked = 0;
  let held: string[] = [];

  async function ask(calls: TimedCall[], since: number, settles: boolean): Promise<void> {
    const id = await decider.decide(`${prefix}-${asked++}`);
    calls.push({ since: performance.timeOrigin + since, tookMs: performance.now() - since });
    if (settles) await decider.settle(id);
    else held.push(id);
  }

  async function inTurn({ callers, seconds, decisions, settles = false }: DecisionLoad, made: TimedCall[]) {
    const deadline = performance.now() + seconds * 1_000;
    const last = asked + decisions;
    const caller = async (): Promise<void> => {
      while (asked < last && performance.now() < deadline) await ask(made, performance.now(), settles);
    };
    await Promise.all(Array.from({ length: callers }, caller));
  }

  /**
   * Times count from when a call was due, so that they show a decider that falls behind, even by calls that wait here
   * until fewer are in flight.
   */
  async function atRate({ seconds, decisions, settles = false }: DecisionLoad, perSecond: number, made: TimedCall[]) {
    const startedAt = performance.now();
    const total = Math.min(decisions, Math.floor(seconds * perSecond));
    const calls: Promise<void>[] = [];
    let inFlight = 0;
    while (calls.length < total) {
      const due = Math.min(total, Math.ceil(((performance.now() - startedAt) / 1_000) * perSecond));
      while (calls.length < due && inFlight < MOST_IN_FLIGHT) {
        inFlight += 1;
        const dueAt = startedAt + (calls.length / perSecond) * 1_000;
        calls.push(ask(made, dueAt, settles).then(() => void (inFlight -= 1)));
      }
      await delay(TICK_MS);
    }
    await Promise.all(calls);
  }

  return {
    async run(load) {
      const made: TimedCall[] = [];
      const startedAt = performance.now();
      const cpu = process.cpuUsage();
      await (load.perSecond === undefined ? inTurn(load, made) : atRate(load, load.perSecond, made));
      const { user, system } = process.cpuUsage(cpu);
      const times = made.map(({ tookMs }) => tookMs);
      return {
        decisions: times.length,
        perSecond: times.length / ((performance.now() - startedAt) / 1_000),
        p50Ms: percentile(times, 50),
        p99Ms: percentile(times, 99),
        cpuSeconds: (user + system) / 1e6,
        calls: load.perSecond === undefined ? [] : made,
      };
    },
    async free(callers) {
      const ids = held;
      held = [];
      const caller = async (): Promise<void> => {
        for (let id = ids.pop(); id !== undefined; id = ids.pop()) await decider.release(id);
      };
      await Promise.all(Array.from({ length: callers }, caller));
    },
  };
}
