import type { Api } from '../src/index.ts';

export const RESERVATION: Api.Reservation = {
  id: 'rsv_1',
  request_id: 'request-1',
  agent_id: 'agent-a',
  run_id: 'run-1',
  plan_key: null,
  amount_micros: 700,
  state: 'held',
  created_at: '2026-11-21T18:00:00.000Z',
  expires_at: '2026-11-21T18:10:00.000Z',
  settled_micros: null,
  settlement_id: null,
  model: null,
  provider: null,
  labels: {},
};

const LIMITED: Omit<Api.LimitStatus, 'remaining_micros' | 'state'> = {
  scope: 'agent',
  scope_id: 'agent-a',
  daily_budget_usd_micros: 1_000,
  spent_micros: 400,
  held_micros: 0,
  resets_at: '2026-11-22T00:00:00.000Z',
  budget_id: 'bud_agent.agent-a',
  budget_name: 'Agent agent-a',
  limit_micros: 1_000,
  period: { kind: 'day', start: '2026-11-21T00:00:00.000Z', end: '2026-11-22T00:00:00.000Z' },
};
const LIMIT: Api.LimitStatus = { ...LIMITED, remaining_micros: 600, state: 'exact' };

export const GRANTED: Api.GrantedCall = { decision: 'allowed', reservation: RESERVATION, limits: [LIMIT] };

export const DENIED: Api.DeniedCall = {
  decision: 'denied',
  denial: {
    ...{ ...LIMITED, code: 'budget_exceeded', requested_micros: 700 },
    message: 'The daily budget of agent-a is used up.',
  },
  limits: [LIMIT],
};
