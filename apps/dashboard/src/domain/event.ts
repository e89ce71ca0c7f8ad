import type { TenantId } from '@tollkeeper/kernel';

/** A gateway event as the dashboard keeps it. `data` holds what the drilldowns show, in wire names. */
export interface DashboardEvent {
  tenantId: TenantId;
  source: string;
  eventId: string;
  type: string;
  /** Event time, epoch milliseconds. */
  time: number;
  data: EventData;
}

export interface EventData {
  run_id?: string;
  agent_id?: string;
  settlement_id?: string;
  amount_micros?: number;
  input_tokens?: number;
  output_tokens?: number;
  model?: string;
  [field: string]: string | number | undefined;
}

/** The fields of {@link EventData} that hold a whole number, 0 or more, and can be counted. */
export type EventAmount = 'amount_micros' | 'input_tokens' | 'output_tokens';

export const SPEND_SETTLED = 'spend.settled';
export const BUDGET_BLOCKED = 'budget.blocked';
export const GUARD_BLOCKED = 'guard.blocked';
export type BlockedType = typeof BUDGET_BLOCKED | typeof GUARD_BLOCKED;

/**
 * Leaves out every event that was counted before: one whose identity (source and id within its tenant) or whose
 * settlement is in `known`, or came earlier in `events`. The first one to arrive counts.
 */
export function withoutDuplicates(events: DashboardEvent[], known: ReadonlySet<string>): DashboardEvent[] {
  const seen = new Set(known);
  return events.filter((event) => {
    const keys = identitiesOf(event);
    if (keys.some((key) => seen.has(key))) return false;
    for (const key of keys) seen.add(key);
    return true;
  });
}

/** The keys that must be new for an event to count: its own identity, and its settlement's when it settles spend. */
export function identitiesOf(event: DashboardEvent): string[] {
  const keys = [eventKey(event)];
  if (event.type === SPEND_SETTLED) keys.push(settlementKey(event.tenantId, event.data.settlement_id ?? ''));
  return keys;
}

/** Unique by (tenant, source, id). Only the source, which stands last, can hold `|`, so the parts can't be confused. */
export function eventKey(event: Pick<DashboardEvent, 'tenantId' | 'source' | 'eventId'>): string {
  return `${event.tenantId}|${event.eventId}|${event.source}`;
}

/** Unique by (tenant, settlement), and never an {@link eventKey}: no tenant id begins with `|`. */
export function settlementKey(tenantId: TenantId, settlementId: string): string {
  return `|settlement|${tenantId}|${settlementId}`;
}
