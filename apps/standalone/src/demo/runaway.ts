import { type GatewayEvent, isSpendSettled, type SpendSettledEvent } from '@tollkeeper/contracts';
import { type Clock, newId } from '@tollkeeper/kernel';
import type { Random } from './random.ts';
import { RUNAWAY_AGENT } from './sample-agents.ts';
import { sampleRun } from './sample-run.ts';

/** More calls than the agent's budget allows. */
const MAX_CALLS = 200;
/** Number of further attempts after its budget is used up. */
const TRIES_MORE = 15;

export interface RunawayOptions {
  random: Random;
  clock: Clock;
  /** Makes a call; resolves to whether it was allowed. */
  call: (event: SpendSettledEvent) => Promise<boolean>;
  append: (events: GatewayEvent[]) => Promise<void>;
  /** Called when a call was not answered; the agent continues with the next. */
  onFailure: (err: unknown) => void;
}

/**
 * A runaway agent: it calls its model repeatedly until its daily budget stops it, and for a while after that. Finally a
 * guard reports it. If its budget is already used up, as after a restart, it does nothing.
 */
export async function runAway({ random, clock, call, append, onFailure }: RunawayOptions): Promise<void> {
  const runId = newId('run');
  let allowed = 0;
  let denied = 0;
  for (let step = 0; step < MAX_CALLS && denied < TRIES_MORE; step += 1) {
    const options = { random, agent: RUNAWAY_AGENT, startedAt: clock(), spentMicros: null };
    const [event] = sampleRun({ ...options, runId: `${runId}.${step}` }).events;
    if (event === undefined || !isSpendSettled(event)) continue;
    try {
      if (await call({ ...event, data: { ...event.data, run_id: runId } })) allowed += 1;
      else if (allowed === 0) return;
      else denied += 1;
    } catch (err) {
      onFailure(err);
    }
  }
  const guard = { guard: 'loop_detected', reason: 'The same tool was called 40 times with the same arguments.' };
  const head = { specversion: '1.0' as const, source: '/tollkeeper/sample', time: new Date(clock()).toISOString() };
  const data = { run_id: runId, agent_id: RUNAWAY_AGENT.agentId, ...guard };
  await append([{ ...head, id: `${runId}.guard`, type: 'guard.blocked', data }]);
}
