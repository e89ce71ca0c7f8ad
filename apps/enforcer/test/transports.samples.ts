import type { Denial, LimitRow } from '../src/domain/limit.ts';
import type { Reservation } from '../src/domain/reservation.ts';

const CREATED_AT = Date.parse('2026-11-21T18:00:00.001Z');
const EXPIRES_AT = Date.parse('2026-11-21T18:10:00.001Z');
export const RESETS_AT = Date.parse('2026-11-22T00:00:00.000Z');
export const MAX = Number.MAX_SAFE_INTEGER;

export const held: Reservation = {
  id: 'rsv_1',
  requestId: 'req-1',
  agentId: 'agent-1',
  runId: 'run-1',
  planKey: null,
  amountMicros: 500,
  state: 'held',
  createdAt: CREATED_AT,
  expiresAt: EXPIRES_AT,
  settledMicros: null,
  settlementId: null,
  model: null,
  provider: null,
  keyId: null,
  labels: {},
};
export const settled: Reservation = {
  ...held,
  planKey: 'pro',
  state: 'settled',
  settledMicros: 0,
  settlementId: 'stl-1',
  model: 'large-1',
  provider: 'acme',
  labels: { team: 'growth' },
};
const period = { start: RESETS_AT - 86_400_000, end: RESETS_AT };
export const row: LimitRow = {
  scope: 'agent',
  scopeId: 'agent-1',
  limitMicros: MAX,
  period,
  spentMicros: 1,
  heldMicros: 2,
  remainingMicros: MAX - 3,
  resetsAt: RESETS_AT,
  state: 'exact',
};
const month = { start: Date.parse('2026-11-01T00:00:00.000Z'), end: Date.parse('2026-12-01T00:00:00.000Z') };
const RAISED_UNTIL = Date.parse('2026-11-21T20:00:00.000Z');
export const denial: Denial = {
  scope: 'budget',
  scopeId: 'bud_1',
  limitMicros: 10,
  budget: {
    ...{ name: 'Growth', meter: 'bud_1.1', each: 'label:user', value: 'Zoë' },
    ...{ period: { kind: 'month', startMonth: 1, startDay: 1 }, grantableMicros: 10, denies: true, tellAt: [80] },
  },
  period: month,
  spentMicros: 4,
  heldMicros: 5,
  remainingMicros: 1,
  requestedMicros: 2,
  resetsAt: RESETS_AT,
  raised: { micros: 3, until: RAISED_UNTIL },
  state: 'filling',
  message: 'The plan pro has 1 micro left today.',
};

export const heldBody = {
  id: 'rsv_1',
  request_id: 'req-1',
  agent_id: 'agent-1',
  run_id: 'run-1',
  plan_key: null,
  amount_micros: 500,
  state: 'held',
  created_at: '2026-11-21T18:00:00.001Z',
  expires_at: '2026-11-21T18:10:00.001Z',
  settled_micros: null,
  settlement_id: null,
  model: null,
  provider: null,
  labels: {},
};
export const settledBody = {
  ...heldBody,
  plan_key: 'pro',
  state: 'settled',
  settled_micros: 0,
  settlement_id: 'stl-1',
  model: 'large-1',
  provider: 'acme',
  labels: { team: 'growth' },
};
export const rowBody = {
  scope: 'agent',
  scope_id: 'agent-1',
  daily_budget_usd_micros: MAX,
  spent_micros: 1,
  held_micros: 2,
  remaining_micros: MAX - 3,
  state: 'exact',
  resets_at: '2026-11-22T00:00:00.000Z',
  ...{ budget_id: 'bud_agent.agent-1', budget_name: 'Agent agent-1', limit_micros: MAX },
  period: { kind: 'day', start: '2026-11-21T00:00:00.000Z', end: '2026-11-22T00:00:00.000Z' },
};
export const denialBody = {
  scope: 'budget',
  scope_id: 'bud_1',
  daily_budget_usd_micros: 10,
  spent_micros: 4,
  held_micros: 5,
  requested_micros: 2,
  resets_at: '2026-11-22T00:00:00.000Z',
  ...{ budget_id: 'bud_1', budget_name: 'Growth', value: 'Zoë', limit_micros: 10 },
  ...{ raised_micros: 3, raised_until: '2026-11-21T20:00:00.000Z' },
  period: { kind: 'month', start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' },
  message: 'The plan pro has 1 micro left today.',
  code: 'budget_exceeded',
};

const seconds = (time: number) => Math.floor(time / 1000);
export const heldMessage = {
  id: 'rsv_1',
  requestId: 'req-1',
  agentId: 'agent-1',
  runId: 'run-1',
  amountMicros: 500,
  state: 'RESERVATION_STATE_HELD',
  createdAt: { seconds: seconds(CREATED_AT), nanos: 1_000_000 },
  expiresAt: { seconds: seconds(EXPIRES_AT), nanos: 1_000_000 },
  labels: {},
};
export const settledMessage = {
  ...heldMessage,
  state: 'RESERVATION_STATE_SETTLED',
  ...{ planKey: 'pro', _planKey: 'planKey' },
  ...{ settledMicros: 0, _settledMicros: 'settledMicros' },
  ...{ settlementId: 'stl-1', _settlementId: 'settlementId' },
  ...{ model: 'large-1', _model: 'model' },
  ...{ provider: 'acme', _provider: 'provider' },
  labels: { team: 'growth' },
};
const resetsAt = { seconds: seconds(RESETS_AT), nanos: 0 };
export const rowMessage = {
  scope: 'LIMIT_SCOPE_AGENT',
  scopeId: 'agent-1',
  dailyBudgetUsdMicros: MAX,
  spentMicros: 1,
  heldMicros: 2,
  remainingMicros: MAX - 3,
  isFilling: false,
  resetsAt,
  ...{ budgetId: 'bud_agent.agent-1', budgetName: 'Agent agent-1', limitMicros: MAX },
  raisedUntil: null,
  period: { kind: 'day', start: { seconds: seconds(row.period.start), nanos: 0 }, end: resetsAt },
};
export const denialMessage = {
  scope: 'LIMIT_SCOPE_BUDGET',
  scopeId: 'bud_1',
  dailyBudgetUsdMicros: 10,
  spentMicros: 4,
  heldMicros: 5,
  requestedMicros: 2,
  resetsAt,
  ...{ budgetId: 'bud_1', budgetName: 'Growth', value: 'Zoë', _value: 'value', limitMicros: 10 },
  ...{ raisedMicros: 3, _raisedMicros: 'raisedMicros' },
  raisedUntil: { seconds: seconds(RAISED_UNTIL), nanos: 0 },
  period: {
    kind: 'month',
    start: { seconds: seconds(month.start), nanos: 0 },
    end: { seconds: seconds(month.end), nanos: 0 },
  },
  message: 'The plan pro has 1 micro left today.',
  code: 'budget_exceeded',
};
