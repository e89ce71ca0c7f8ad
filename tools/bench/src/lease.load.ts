import type { Tollkeeper } from '@tollkeeper/client';
import { AGENT_ID, AMOUNT_MICROS, PLAN_KEY } from './deciders/call.ts';
import { percentile } from './statistics.ts';

export interface LeaseLoad {
  seconds: number;
  decisions: number;
}

export interface LeaseResult {
  decisions: number;
  /** How many were decided by the enforcer alone. */
  byCall: number;
  /** Until the last decision. */
  decidedSeconds: number;
  /** Until the last settlement is durable. */
  settledSeconds: number;
  p50Micros: number;
  p99Micros: number;
}

/** After so many calls, the gateway does its other work: it sends settlements and reads answers. */
const CALLS_PER_TURN = 100;
const CALL = { agentId: AGENT_ID, runId: 'run-bench', planKey: PLAN_KEY, amountMicros: AMOUNT_MICROS };

/** A gateway that settles each call at once, one call after the other. */
export async function spendLeases(tollkeeper: Tollkeeper, { seconds, decisions }: LeaseLoad): Promise<LeaseResult> {
  const times: number[] = [];
  let byCall = 0;
  const startedAt = performance.now();
  const deadline = startedAt + seconds * 1_000;
  while (times.length < decisions && performance.now() < deadline) {
    const askedAt = performance.now();
    const call = await tollkeeper.reserve(CALL);
    times.push(performance.now() - askedAt);
    if (!call.allowed) throw new Error(call.denial.message);
    const settled = call.settle({ amountMicros: AMOUNT_MICROS });
    if (call.leaseId === null) {
      byCall += 1;
      await settled;
    }
    if (times.length % CALLS_PER_TURN === 0) await new Promise(setImmediate);
  }
  const decidedAt = performance.now();
  await tollkeeper.flush();
  return {
    decisions: times.length,
    byCall,
    decidedSeconds: (decidedAt - startedAt) / 1_000,
    settledSeconds: (performance.now() - startedAt) / 1_000,
    p50Micros: percentile(times, 50) * 1_000,
    p99Micros: percentile(times, 99) * 1_000,
  };
}
