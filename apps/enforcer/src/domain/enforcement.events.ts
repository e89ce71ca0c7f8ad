import { isWithoutLabels, type Labels } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { digestOf, type Hold } from './journal.ts';
import type { LeaseSettlement } from './lease.ts';
import type { Denial, Limit, LimitRow } from './limit.ts';
import { budgetOf } from './limit.rows.ts';
import type { Reservation, ReservationRequest, Settlement } from './reservation.ts';
import type { ThresholdReached } from './threshold.ts';
import type { ReportedEvent } from './workspace.appends.ts';

/** The source of the enforcer's events. Their ids are deterministic, so an event that is appended again counts once. */
const SOURCE = 'tollkeeper/enforcer';

function event(
  type: string,
  id: string,
  { at, data, keyId }: { at: number; data: object; keyId?: string | null },
): ReportedEvent {
  return {
    event: { specversion: '1.0', id, source: SOURCE, type, time: new Date(at).toISOString(), data },
    keyId: keyId ?? undefined,
  };
}

function labelsIn(labels: Labels): { labels?: Labels } {
  return isWithoutLabels(labels) ? {} : { labels };
}

/** A request that was denied, with all labels of its call. */
export type DeniedRequest = ReservationRequest & Pick<Reservation, 'keyId'>;

/** Calls were denied: those of `requestIds`. The other fields are from the newest one, `request`. */
export function budgetBlocked(
  tenantId: TenantId,
  requestIds: readonly string[],
  request: DeniedRequest,
  denial: Denial,
  at: number,
): ReportedEvent {
  const { runId, agentId, planKey, model, provider, keyId, labels } = request;
  const data = {
    run_id: runId,
    agent_id: agentId,
    scope: denial.scope,
    requested_micros: denial.requestedMicros,
    spent_micros: denial.spentMicros,
    held_micros: denial.heldMicros,
    daily_budget_usd_micros: denial.limitMicros,
    ...causeIn(denial),
    ...(planKey !== null && { plan_key: planKey }),
    ...(requestIds.length > 1 && { count: requestIds.length }),
    ...(model !== null && { model }),
    ...(provider !== null && { provider }),
    ...labelsIn(labels),
  };
  return event('budget.blocked', `den_${digestOf(tenantId, ...requestIds)}`, { at, data, keyId });
}

/** A gateway reported what a call cost, with the id of its reservation, or the request for one if it has none. */
export function spendSettled(
  tenantId: TenantId,
  call: SettledCall & Named,
  settlement: Settlement,
  at: number,
): ReportedEvent {
  const of = call.id === null ? { request_id: call.requestId } : { reservation_id: call.id };
  return settled(tenantId, call, settlement, { at, of });
}

/** A call was settled from a lease. Its time is one of the lease, which is not over yet. */
export function spendFromLease(
  tenantId: TenantId,
  lease: Hold,
  settlement: LeaseSettlement,
  now: number,
): ReportedEvent {
  const { runId, occurredAt = now } = settlement;
  const { agentId, planKey, model = null, provider = null, keyId = null, labels = {} } = lease;
  const call = { runId, agentId, planKey, model, provider, keyId, labels };
  const at = Math.min(now, Math.max(lease.createdAt, occurredAt));
  // The dashboard keeps the `reservation_id`, by which a budget that is filled finds the lease again.
  return settled(tenantId, call, settlement, { at, of: { reservation_id: lease.id, lease_id: lease.id } });
}

/** A call that was made. */
export type SettledCall = Pick<
  Reservation,
  'runId' | 'agentId' | 'planKey' | 'model' | 'provider' | 'keyId' | 'labels'
>;
type Named = { id: string } | { id: null; requestId: string };

function settled(
  tenantId: TenantId,
  call: SettledCall,
  settlement: Settlement,
  { at, of }: { at: number; of: { request_id: string } | { reservation_id: string; lease_id?: string } },
): ReportedEvent {
  const { runId, agentId, planKey, keyId, labels } = call;
  const { settlementId, amountMicros, inputTokens, outputTokens, pricedBy, priceId, priceVersion } = settlement;
  const { model = call.model, provider = call.provider } = settlement;
  const data = {
    settlement_id: settlementId,
    run_id: runId,
    agent_id: agentId,
    amount_micros: amountMicros,
    ...(planKey !== null && { plan_key: planKey }),
    ...(model !== null && { model }),
    ...(provider !== null && { provider }),
    ...(inputTokens !== undefined && { input_tokens: inputTokens }),
    ...(outputTokens !== undefined && { output_tokens: outputTokens }),
    ...tokensIn(settlement),
    ...(pricedBy !== undefined && { priced_by: pricedBy }),
    ...(priceId !== undefined && { price_id: priceId }),
    ...(priceVersion !== undefined && { price_version: priceVersion }),
    ...of,
    ...labelsIn(labels),
  };
  return event('spend.settled', `stl_${digestOf(tenantId, settlementId)}`, { at, data, keyId });
}

/** The tokens by kind, if it is known which were read from a cache or written to one. */
function tokensIn({ inputTokens = 0, outputTokens = 0, ...settlement }: Settlement): { tokens?: object } {
  const { cachedTokens: read, cacheWriteTokens: written } = settlement;
  if (read === undefined && written === undefined) return {};
  const ofCache = {
    ...(read !== undefined && { cache_read: read }),
    ...(written !== undefined && { cache_write: written }),
  };
  return { tokens: { input: inputTokens - (read ?? 0) - (written ?? 0), ...ofCache, output: outputTokens } };
}

/**
 * The spend of a period has reached a percentage of a limit. One event per limit, period and percentage. Spend of a
 * period that is over can still come in: its event has a time of that period, so that no rule takes it for the next
 * one's.
 */
export function thresholdReached(tenantId: TenantId, reached: ThresholdReached, at: number): ReportedEvent {
  const { start, period, scope, scopeId, percent, spentMicros, limitMicros } = reached;
  const data = {
    scope,
    scope_id: scopeId,
    percent: Math.min(percent, 100),
    ...(percent > 100 && { reached_percent: percent }),
    spent_micros: spentMicros,
    daily_budget_usd_micros: limitMicros,
    ...budgetIn(reached),
  };
  const whose = reached.budget === undefined ? [scope, scopeId] : [reached.budget.meter, reached.budget.value];
  const id = `thr_${digestOf(tenantId, start, ...whose, percent)}`;
  return event('budget.threshold_reached', id, { at: Math.min(at, period.end - 1), data });
}

/** A pause is no budget, so its event names none. */
function causeIn(denial: Denial) {
  const { pause } = denial;
  return pause === undefined ? budgetIn(denial) : { code: 'paused', pause_id: pause.id, pause_reason: pause.reason };
}

/** The budget of a limit in an event. */
function budgetIn(limit: Limit & Pick<LimitRow, 'period'>) {
  const { id, name, value, period } = budgetOf(limit);
  const [start, end] = [limit.period.start, limit.period.end].map((time) => new Date(time).toISOString());
  return {
    budget_id: id,
    budget_name: name,
    ...(value !== undefined && { value }),
    limit_micros: limit.limitMicros,
    period: { kind: period, start, end },
  };
}
