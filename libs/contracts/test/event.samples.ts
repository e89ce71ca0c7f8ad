import type { KnownEventType } from '../src/event-schemas.ts';

export const spend = {
  specversion: '1.0',
  id: 'evt-1',
  source: '/gateways/eu-1',
  type: 'spend.settled',
  time: '2026-11-21T19:00:00.1234+01:00',
  data: { settlement_id: 'stl-1', run_id: 'run-1', agent_id: 'agent-1', amount_micros: 1200 },
};
export const budgetBlocked = {
  ...spend,
  type: 'budget.blocked',
  data: {
    run_id: 'run-1',
    agent_id: 'agent-1',
    scope: 'plan',
    requested_micros: 5,
    spent_micros: 10,
    daily_budget_usd_micros: 12,
    plan_key: 'pro',
  },
};
export const guardBlocked = {
  ...spend,
  type: 'guard.blocked',
  data: { run_id: 'run-1', agent_id: 'agent-1', guard: 'pii', reason: 'A card number' },
};
export const thresholdReached = {
  ...spend,
  type: 'budget.threshold_reached',
  data: { scope: 'agent', scope_id: 'agent-1', percent: 80, spent_micros: 81, daily_budget_usd_micros: 100 },
};
export const unmetered = {
  ...spend,
  type: 'call.unmetered',
  data: { call_id: 'call:1', run_id: 'run-1', agent_id: 'agent-1', model: 'gpt-4o', reason: 'client_gone' },
};
const failed = {
  ...spend,
  type: 'call.failed',
  data: { request_id: 'call:1', run_id: 'run-1', agent_id: 'agent-1', model: 'gpt-4o' },
};
export const priceMissing = { ...spend, type: 'price.missing', data: { model: 'house-model-1', provider: 'openai' } };
export const other = { ...spend, type: 'tool.called', data: { agent_id: 'agent-1' } };
/** An event of each type. */
export const EVENTS = {
  'spend.settled': spend,
  'budget.blocked': budgetBlocked,
  'guard.blocked': guardBlocked,
  'budget.threshold_reached': thresholdReached,
  'call.unmetered': unmetered,
  'call.failed': failed,
  'price.missing': priceMissing,
  other,
} satisfies Record<KnownEventType | 'other', object>;
