import { randomUUID } from 'node:crypto';

export interface CloudEvent {
  specversion: '1.0';
  id: string;
  source: string;
  type: string;
  time: string;
  data: Record<string, unknown>;
}

/** A gateway's CloudEvent, unique unless its id is given. */
export function cloudEvent(
  type: string,
  data: Record<string, unknown>,
  overrides: Partial<CloudEvent> = {},
): CloudEvent {
  const id = randomUUID();
  return { specversion: '1.0', id, source: '/gateways/e2e', type, time: new Date().toISOString(), data, ...overrides };
}

export interface SettledOptions {
  agentId?: string;
  runId?: string;
  amountMicros: number;
  time?: string;
}

/** The settled spend of one call. */
export function spendSettled({ agentId = 'agent-a', runId = 'run-1', amountMicros, time }: SettledOptions): CloudEvent {
  const data = {
    settlement_id: randomUUID(),
    run_id: runId,
    agent_id: agentId,
    amount_micros: amountMicros,
    model: 'test-model',
    input_tokens: 100,
    output_tokens: 10,
  };
  return cloudEvent('spend.settled', data, time === undefined ? {} : { time });
}

/** The same event of a call with labels. */
export function withLabels(event: CloudEvent, labels: Record<string, string>): CloudEvent {
  return { ...event, data: { ...event.data, labels } };
}

/** A call blocked by the agent's daily budget. */
export function budgetBlocked(runId: string, agentId = 'agent-a'): CloudEvent {
  return cloudEvent('budget.blocked', {
    run_id: runId,
    agent_id: agentId,
    scope: 'agent',
    requested_micros: 700,
    spent_micros: 9_800,
    daily_budget_usd_micros: 10_000,
  });
}

/** A call blocked by a guard. */
export function guardBlocked(runId: string, agentId = 'agent-a'): CloudEvent {
  return cloudEvent('guard.blocked', {
    run_id: runId,
    agent_id: agentId,
    guard: 'pii',
    reason: 'The prompt holds what looks like a payment card number.',
  });
}
