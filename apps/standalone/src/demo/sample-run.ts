import type { GatewayEvent } from '@tollkeeper/contracts';
import type { Random } from './random.ts';
import { SAMPLE_GUARDS, type SampleAgent } from './sample-agents.ts';

/** CloudEvents source of all sample traffic, so that it can be told from real events. */
const SAMPLE_SOURCE = '/tollkeeper/sample';

const GUARD_SHARE = 0.02;
const SECONDS_BETWEEN_CALLS = { min: 2, max: 25 };

export interface SampleRunOptions {
  random: Random;
  agent: SampleAgent;
  /** Unique; the ids of the run's events are made from it. */
  runId: string;
  /** Epoch milliseconds of its first call. */
  startedAt: number;
  /** USD micros that the agent has spent on that day before. */
  spentMicros: number;
}

/**
 * The events of one run of an agent, oldest first, and what they cost: a few settled calls, or a call that was blocked.
 */
export function sampleRun(options: SampleRunOptions): { events: GatewayEvent[]; costMicros: number } {
  const { random, agent, runId, startedAt, spentMicros } = options;
  const events: GatewayEvent[] = [];
  const ids = { run_id: runId, agent_id: agent.agentId };
  let costMicros = 0;
  let time = startedAt;
  const add = (type: string, data: Record<string, unknown>) => {
    const id = `${runId}.${events.length}`;
    const at = new Date(time).toISOString();
    events.push({ specversion: '1.0', id, source: SAMPLE_SOURCE, type, time: at, data: { ...ids, ...data } });
  };

  const calls = random.integer(1, agent.maxCalls);
  for (let call = 0; call < calls; call += 1) {
    const { settled, amountMicros } = sampleCall(random, agent, `${runId}.s${call}`);
    if (spentMicros + costMicros + amountMicros > agent.dailyBudgetMicros) {
      add('budget.blocked', {
        scope: 'agent',
        requested_micros: amountMicros,
        spent_micros: spentMicros + costMicros,
        daily_budget_usd_micros: agent.dailyBudgetMicros,
        plan_key: agent.planKey,
      });
      break;
    }
    if (random.fraction() < GUARD_SHARE) {
      add('guard.blocked', { ...random.pick(SAMPLE_GUARDS) });
      break;
    }
    add('spend.settled', settled);
    costMicros += amountMicros;
    time += random.integer(SECONDS_BETWEEN_CALLS.min, SECONDS_BETWEEN_CALLS.max) * 1000;
  }
  return { events, costMicros };
}

function sampleCall(random: Random, agent: SampleAgent, settlementId: string) {
  const model = random.pick(agent.models);
  const inputTokens = vary(random, agent.inputTokens);
  const outputTokens = vary(random, agent.outputTokens);
  const amountMicros = Math.round(inputTokens * model.inputMicros + outputTokens * model.outputMicros);
  const settled = {
    settlement_id: settlementId,
    amount_micros: amountMicros,
    plan_key: agent.planKey,
    model: model.name,
    provider: model.provider,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
  };
  return { settled, amountMicros };
}

/** From a third to three times the typical value, small ones more often. */
function vary(random: Random, typical: number): number {
  return Math.max(1, Math.round(typical * 3 ** (random.fraction() * 2 - 1)));
}
