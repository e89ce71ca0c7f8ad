import { hash } from 'node:crypto';
import {
  type BudgetedCall,
  type BudgetThresholdReachedEvent,
  countOf,
  type GatewayEvent,
  type GatewayEventRecord,
  isCall,
  isRaiseRequested,
  isSpendSettled,
  isThresholdReached,
  type Labels,
  LIMIT_SCOPES,
  type LimitScope,
  type ReachedBudget,
  type RequestedRaise,
  type SpendSettledEvent,
} from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';

/** An accepted event as rules see it. Times are epoch milliseconds. */
export interface CountableEvent {
  tenantId: TenantId;
  id: string;
  type: string;
  /** The agent that the event names, or whose daily budget it is about. */
  agentId: string | undefined;
  time: number;
  receivedAt: number;
  /** What the event adds to a rule that counts events: one event may report several blocked calls. */
  count: number;
  /** The amount of a settlement, in USD micros; 0 for any other event. */
  settledMicros: number;
  /** The percentage of a budget that was reached; undefined for any other event. */
  percent: number | undefined;
  /** The budget threshold that was reached; undefined for any other event, and for an unknown scope. */
  budget: ReachedBudget | undefined;
  /** What is asked for; undefined for any event but a request for a raise. */
  raise?: RequestedRaise | undefined;
  /** What a settlement is for, by which budgets select it; undefined for any other event. */
  call: BudgetedCall | undefined;
  /** All labels of a call, also those of its agent and its key; empty for any other event. */
  labels: Labels;
  /** 48 bits that identify the event: two events with the same time and identity are one event that arrived twice. */
  identity: number;
}

/** An event received later than this after its own time does not count for alerts. */
export const MAX_LATENESS_MS = 5 * 60_000;
/** How far the `receivedAt` of a record may lag behind the newest one, since the clocks of writers differ. */
export const MAX_RECEIPT_DISORDER_MS = 5 * 60_000;

export function isLate({ time, receivedAt }: CountableEvent): boolean {
  return receivedAt - time > MAX_LATENESS_MS;
}

/**
 * A settlement counts once, so an event with settled spend is identified by its settlement, any other event by source
 * and id. A settlement reported again with another time counts again, because windows keep no settlement ids.
 */
export function toCountableEvent({ tenantId, receivedAt, keyId, event }: GatewayEventRecord): CountableEvent {
  const settlement = isSpendSettled(event) ? event.data : undefined;
  const threshold = isThresholdReached(event) ? event.data : undefined;
  const budget = threshold && knownBudget(threshold);
  return {
    tenantId,
    id: event.id,
    type: event.type,
    agentId: threshold === undefined ? event.data.agent_id : budget && agentOfLimit(budget),
    time: Date.parse(event.time),
    receivedAt: Date.parse(receivedAt),
    count: countOf(event),
    settledMicros: settlement?.amount_micros ?? 0,
    percent: threshold?.reached_percent ?? threshold?.percent,
    budget,
    ...(isRaiseRequested(event) && { raise: event.data }),
    call: settlement && toCall(settlement, keyId),
    labels: (isCall(event) ? event.data.labels : undefined) ?? NO_LABELS,
    identity: identityOf(settlement === undefined ? eventKey(event) : settlementKey(settlement.settlement_id)),
  };
}

const NO_LABELS: Labels = {};

function toCall(settlement: SpendSettledEvent['data'], keyId: string | undefined): BudgetedCall {
  const { agent_id: agent, plan_key: plan = null, model = null, provider = null, labels = NO_LABELS } = settlement;
  return { agent, plan, model, provider, key: keyId ?? null, labels };
}

/** The agent whose daily budget was reached, if any. */
export function agentOfLimit({ scope, scope_id }: Pick<ReachedBudget, 'scope' | 'scope_id'>): string | undefined {
  return AGENT_OF[scope](scope_id);
}

const AGENT_OF: Record<LimitScope, (scopeId: string) => string | undefined> = {
  workspace: () => undefined,
  agent: (scopeId) => scopeId,
  plan: () => undefined,
  budget: () => undefined,
};

/** Undefined for a scope of a newer producer that this version does not know. */
function knownBudget(threshold: BudgetThresholdReachedEvent['data']): ReachedBudget | undefined {
  const scope = LIMIT_SCOPES.find((each) => each === threshold.scope);
  if (scope === undefined) return undefined;
  return { ...threshold, scope };
}

/** Unambiguous: only the source, which comes last, can contain `|`. */
function eventKey({ id, source }: GatewayEvent): string {
  return `${id}|${source}`;
}

/** Never an {@link eventKey}: no event id begins with `|`. */
function settlementKey(settlementId: string): string {
  return `|settlement|${settlementId}`;
}

function identityOf(key: string): number {
  return Number.parseInt(hash('sha256', key).slice(0, 12), 16);
}
