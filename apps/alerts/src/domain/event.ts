import { hash } from 'node:crypto';
import {
  BUDGET_SCOPES,
  type BudgetScope,
  type BudgetThresholdReachedEvent,
  countOf,
  type GatewayEvent,
  type GatewayEventRecord,
  isSpendSettled,
  isThresholdReached,
  type ReachedBudget,
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
  /** What it counts for a rule of a number of events: an event may report several blocked calls. */
  count: number;
  /** What a settlement settles, in USD micros; 0 for any other event. */
  settledMicros: number;
  /** Percent of a daily budget that was reached; undefined for any other event. */
  percent: number | undefined;
  /** The budget threshold that was reached; undefined for any other event, and for a scope that is not known here. */
  budget: ReachedBudget | undefined;
  /**
   * 48 bits that stand for what makes the event itself: two events with the same time and the same identity are one
   * event that arrived twice.
   */
  identity: number;
}

/** An event that is received later than this after its time is not counted for alerts. */
export const MAX_LATENESS_MS = 5 * 60_000;
/** How far behind the newest one the `receivedAt` of a record may be: the clocks of several writers differ. */
export const MAX_RECEIPT_DISORDER_MS = 5 * 60_000;

export function isLate({ time, receivedAt }: CountableEvent): boolean {
  return receivedAt - time > MAX_LATENESS_MS;
}

/**
 * A settlement counts once, so an event of settled spend is known by its settlement; any other by its
 * source and id. A settlement that is reported again at another time counts as another event: windows hold no ids to
 * tell.
 */
export function toCountableEvent({ tenantId, receivedAt, event }: GatewayEventRecord): CountableEvent {
  const settlement = isSpendSettled(event) ? event.data : undefined;
  const threshold = isThresholdReached(event) ? event.data : undefined;
  const budget = threshold && knownBudget(threshold);
  return {
    tenantId,
    id: event.id,
    type: event.type,
    agentId: threshold === undefined ? event.data.agent_id : budget && AGENT_OF[budget.scope](budget.scope_id),
    time: Date.parse(event.time),
    receivedAt: Date.parse(receivedAt),
    count: countOf(event),
    settledMicros: settlement?.amount_micros ?? 0,
    percent: threshold?.percent,
    budget,
    identity: identityOf(settlement === undefined ? eventKey(event) : settlementKey(settlement.settlement_id)),
  };
}

/** The agent whose daily budget is the one of an id. */
const AGENT_OF: Record<BudgetScope, (scopeId: string) => string | undefined> = {
  workspace: () => undefined,
  agent: (scopeId) => scopeId,
  plan: () => undefined,
};

/** A newer producer may name a scope that is not known here. */
function knownBudget(threshold: BudgetThresholdReachedEvent['data']): ReachedBudget | undefined {
  const scope = BUDGET_SCOPES.find((each) => each === threshold.scope);
  if (scope === undefined) return undefined;
  const { scope_id, percent, spent_micros, daily_budget_usd_micros } = threshold;
  return { scope, scope_id, percent, spent_micros, daily_budget_usd_micros };
}

/** Only the source, which stands last, can hold `|`. */
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
