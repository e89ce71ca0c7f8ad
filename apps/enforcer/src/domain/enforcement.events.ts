import type { GatewayEvent } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { digestOf } from './journal.ts';
import type { Denial } from './limit.ts';
import type { Reservation, ReservationRequest, Settlement } from './reservation.ts';
import type { ThresholdReached } from './threshold.ts';

/** The source of the enforcer's events. Their ids are deterministic, so an event that is appended again counts once. */
const SOURCE = 'tollkeeper/enforcer';

function event(type: string, id: string, at: number, data: object): GatewayEvent {
  return { specversion: '1.0', id, source: SOURCE, type, time: new Date(at).toISOString(), data };
}

/** Calls were denied: those of `requestIds`. The other fields are from the newest one, `request`. */
export function budgetBlocked(
  tenantId: TenantId,
  requestIds: readonly string[],
  request: ReservationRequest,
  denial: Denial,
  at: number,
): GatewayEvent {
  const { runId, agentId, planKey } = request;
  return event('budget.blocked', `den_${digestOf(tenantId, ...requestIds)}`, at, {
    run_id: runId,
    agent_id: agentId,
    scope: denial.scope,
    requested_micros: denial.requestedMicros,
    spent_micros: denial.spentMicros,
    held_micros: denial.heldMicros,
    daily_budget_usd_micros: denial.dailyBudgetMicros,
    ...(planKey !== null && { plan_key: planKey }),
    ...(requestIds.length > 1 && { count: requestIds.length }),
  });
}

/** A call settled a reservation. */
export function spendSettled(
  tenantId: TenantId,
  { id, runId, agentId, planKey }: Reservation,
  settlement: Settlement,
  at: number,
): GatewayEvent {
  const { settlementId, amountMicros, model, provider, inputTokens, outputTokens } = settlement;
  return event('spend.settled', `stl_${digestOf(tenantId, settlementId)}`, at, {
    settlement_id: settlementId,
    run_id: runId,
    agent_id: agentId,
    amount_micros: amountMicros,
    ...(planKey !== null && { plan_key: planKey }),
    ...(model !== undefined && { model }),
    ...(provider !== undefined && { provider }),
    ...(inputTokens !== undefined && { input_tokens: inputTokens }),
    ...(outputTokens !== undefined && { output_tokens: outputTokens }),
    reservation_id: id,
  });
}

/**
 * The spend of a day has reached a percentage of a limit. One event per limit, day and percentage. Spend of a day that
 * is over can still come in: its event has a time of that day, so that no rule takes it for today's.
 */
export function thresholdReached(tenantId: TenantId, reached: ThresholdReached, at: number): GatewayEvent {
  const { day, dayEnd, scope, scopeId, percent, spentMicros, dailyBudgetMicros } = reached;
  const time = Math.min(at, dayEnd - 1);
  return event('budget.threshold_reached', `thr_${digestOf(tenantId, day, scope, scopeId, percent)}`, time, {
    scope,
    scope_id: scopeId,
    percent,
    spent_micros: spentMicros,
    daily_budget_usd_micros: dailyBudgetMicros,
  });
}
