import type { BudgetThresholdReachedEvent, GatewayEvent } from '@tollkeeper/contracts';
import type { Random } from './random.ts';
import { SAMPLE_GUARDS, type SampleAgent } from './sample-agents.ts';

/** CloudEvents source of all sample traffic, which distinguishes it from real events. */
const SAMPLE_SOURCE = '/tollkeeper/sample';

const GUARD_SHARE = 0.02;
const SECONDS_BETWEEN_CALLS = { min: 2, max: 25 };
/** Percentages of a daily budget that are reported when the day's spend reaches them. */
const PERCENTS = [50, 80, 100];

export interface SampleRunOptions {
  random: Random;
  agent: SampleAgent;
  /** Unique; the ids of the run's events are derived from it. */
  runId: string;
  /** Time of its first call, epoch milliseconds. */
  startedAt: number;
  /** The agent's previous spend of that day in USD micros; null if its budget is enforced elsewhere. */
  spentMicros: number | null;
}

/**
 * The events of one run of an agent, oldest first, and their cost: a few settled calls or a blocked call, and the
 * thresholds of the agent's daily budget that the calls reached. The last call before the budget is used up gets what
 * is left of it.
 */
export function sampleRun(options: SampleRunOptions): { events: GatewayEvent[]; costMicros: number } {
  const { random, agent, runId, startedAt } = options;
  const dailyBudgetMicros = options.spentMicros === null ? Infinity : agent.dailyBudgetMicros;
  const spentMicros = options.spentMicros ?? 0;
  const events: GatewayEvent[] = [];
  const ids = { run_id: runId, agent_id: agent.agentId };
  let costMicros = 0;
  let time = startedAt;
  const next = () => {
    const id = `${runId}.${events.length}`;
    return { specversion: '1.0' as const, id, source: SAMPLE_SOURCE, time: new Date(time).toISOString() };
  };
  const add = (type: string, data: object) => events.push({ ...next(), type, data: { ...ids, ...data } });
  const addThreshold = (data: BudgetThresholdReachedEvent['data']) =>
    events.push({ ...next(), type: 'budget.threshold_reached', data });

  const calls = random.integer(1, agent.maxCalls);
  for (let call = 0; call < calls; call += 1) {
    const before = spentMicros + costMicros;
    const requested = sampleCall(random, agent, `${runId}.s${call}`);
    if (before >= dailyBudgetMicros) {
      add('budget.blocked', {
        scope: 'agent',
        requested_micros: requested.amount_micros,
        spent_micros: before,
        daily_budget_usd_micros: dailyBudgetMicros,
        plan_key: agent.planKey,
      });
      break;
    }
    if (random.fraction() < GUARD_SHARE) {
      add('guard.blocked', { ...random.pick(SAMPLE_GUARDS) });
      break;
    }
    const settled = atMost(requested, dailyBudgetMicros - before);
    add('spend.settled', settled);
    costMicros += settled.amount_micros;
    const after = before + settled.amount_micros;
    for (const percent of percentsReached(before, after, dailyBudgetMicros)) {
      const limit = { scope: 'agent', scope_id: agent.agentId, daily_budget_usd_micros: dailyBudgetMicros } as const;
      addThreshold({ ...limit, percent, spent_micros: after });
    }
    time += random.integer(SECONDS_BETWEEN_CALLS.min, SECONDS_BETWEEN_CALLS.max) * 1000;
  }
  return { events, costMicros };
}

interface SampleCall {
  settlement_id: string;
  amount_micros: number;
  plan_key: string;
  model: string;
  provider: string;
  input_tokens: number;
  output_tokens: number;
}

function sampleCall(random: Random, agent: SampleAgent, settlementId: string): SampleCall {
  const model = random.pick(agent.models);
  const inputTokens = vary(random, agent.inputTokens);
  const outputTokens = vary(random, agent.outputTokens);
  return {
    settlement_id: settlementId,
    amount_micros: Math.round(inputTokens * model.inputMicros + outputTokens * model.outputMicros),
    plan_key: agent.planKey,
    model: model.name,
    provider: model.provider,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
  };
}

/** The call, reduced if it would cost more than `leftMicros`. */
function atMost(call: SampleCall, leftMicros: number): SampleCall {
  if (call.amount_micros <= leftMicros) return call;
  const share = leftMicros / call.amount_micros;
  const smaller = (tokens: number) => Math.max(1, Math.floor(tokens * share));
  return {
    ...{ ...call, amount_micros: leftMicros },
    ...{ input_tokens: smaller(call.input_tokens), output_tokens: smaller(call.output_tokens) },
  };
}

function percentsReached(before: number, after: number, budget: number): number[] {
  return PERCENTS.filter((percent) => before * 100 < percent * budget && after * 100 >= percent * budget);
}

/** A third to three times the typical value; small values are more frequent. */
function vary(random: Random, typical: number): number {
  return Math.max(1, Math.round(typical * 3 ** (random.fraction() * 2 - 1)));
}
