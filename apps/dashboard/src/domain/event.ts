import type { KnownEventType, Labels, PRICED_BY } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';

/**
 * A gateway event as the dashboard stores it. `data` has the fields that the drilldowns show, with their wire names.
 */
export interface DashboardEvent {
  tenantId: TenantId;
  source: string;
  eventId: string;
  type: string;
  /** Event time, epoch milliseconds. */
  time: number;
  data: EventData;
  /** The labels that the workspace tracked when the event was counted: name and value. Absent without any. */
  tracked?: readonly TrackedLabel[];
}

/** A label of an event that its workspace tracks. In roll-ups, the value may be `OTHER`. */
export type TrackedLabel = readonly [name: string, value: string];

export interface EventData {
  run_id?: string;
  agent_id?: string;
  settlement_id?: string;
  amount_micros?: number;
  input_tokens?: number;
  output_tokens?: number;
  /** Parts of the tokens above. Absent for none. */
  cache_read_tokens?: number;
  cache_write_tokens?: number;
  cache_write_1h_tokens?: number;
  reasoning_tokens?: number;
  /** Who says what a settlement cost. {@link NOBODY}: the amount is 0. */
  priced_by?: string;
  model?: string;
  plan_key?: string;
  provider?: string;
  reservation_id?: string;
  lease_id?: string;
  /** Of a correction: what its settlement counted before and counts now, in USD micros. */
  from_micros?: number;
  to_micros?: number;
  /** Of a correction: who said before what the settlement cost. */
  from_priced_by?: string;
  /** Of a correction: when it was made, epoch milliseconds. */
  corrected_ms?: number;
  response_model?: string;
  request_model?: string;
  service_tier?: string;
  price_id?: string;
  price_version?: string;
  /** The names of the labels by which roll-ups count a settlement and its corrections, joined by commas. */
  tracked?: string;
  /** Number of blocked calls that the event reports; 1 if absent. */
  count?: number;
  /** All labels of the call. */
  labels?: Labels;
  /** Kind, start and end of the period of the budget that blocked the call. Blocked calls are never packed. */
  period?: Readonly<Record<string, string>>;
  /** The workspace key that reported the call; not a field of the received data. */
  key_id?: string;
  [field: string]: string | number | Labels | undefined;
}

/** The fields of {@link EventData} that are non-negative integers and can be added up. */
export type EventAmount = 'amount_micros' | 'count' | `${'input' | 'output' | TokenPart}_tokens`;
/** The kinds of tokens that are parts of the input or the output. */
type TokenPart = 'cache_read' | 'cache_write' | 'cache_write_1h' | 'reasoning';

export const SPEND_SETTLED = 'spend.settled';
/** Corrects the amount of a settlement, with its time, agent, model and so on. */
export const SPEND_REPRICED = 'spend.repriced';
export const BUDGET_BLOCKED = 'budget.blocked';
export const GUARD_BLOCKED = 'guard.blocked';
export const CALL_UNMETERED = 'call.unmetered';
/** The `priced_by` of settlements without a known price. */
export const NOBODY: (typeof PRICED_BY)[number] = 'none';
export const BLOCKED_TYPES = [BUDGET_BLOCKED, GUARD_BLOCKED] as const satisfies readonly KnownEventType[];
export type BlockedType = (typeof BLOCKED_TYPES)[number];
/** What blocked a call: the first word of the event type. Answers count blocked calls by it. */
export type Blocker = FirstWord<BlockedType>;
type FirstWord<Type> = Type extends `${infer Word}.blocked` ? Word : never;

const BLOCKED: ReadonlySet<string> = new Set(BLOCKED_TYPES);

export function isBlocked({ type }: Pick<DashboardEvent, 'type'>): boolean {
  return BLOCKED.has(type);
}

/** Whether rows of models and plans count the event: a settlement, or a correction of one. */
export function isSpend({ type }: Pick<DashboardEvent, 'type'>): boolean {
  return type === SPEND_SETTLED || type === SPEND_REPRICED;
}

const KEPT_WHOLE = {
  'spend.settled': true,
  'budget.blocked': true,
  'guard.blocked': true,
  'budget.threshold_reached': false,
  'call.unmetered': false,
  'call.failed': false,
  'price.missing': false,
} as const satisfies Record<KnownEventType, boolean> & Record<typeof SPEND_SETTLED | BlockedType, true>;

/** A type whose events are stored with their amounts. */
export type WholeType = {
  [Type in KnownEventType]: (typeof KEPT_WHOLE)[Type] extends true ? Type : never;
}[KnownEventType];

const IS_KEPT_WHOLE: ReadonlyMap<string, boolean> = new Map(Object.entries(KEPT_WHOLE));

/** Whether events of the type are stored with their fields. Of other types, only the run and the agent are kept. */
export function isKeptWhole(type: string): boolean {
  return IS_KEPT_WHOLE.get(type) === true;
}

/** The {@link identitiesOf} counted events. Those of settlements have their amount. */
export type KnownIdentities = Map<string, EventData['amount_micros']>;

/** Numbers of events whose settlement was counted before, with the same amount and with another one. */
export interface SettledAgain {
  alike: number;
  differing: number;
}

/**
 * Removes events that were counted before. An event was counted if its identity (source and id within its tenant) or
 * its settlement is in `known` or occurs earlier in `events`. So the first arrival counts.
 */
export function withoutDuplicates(
  events: DashboardEvent[],
  known: Readonly<KnownIdentities>,
): { fresh: DashboardEvent[]; settledAgain: SettledAgain } {
  const seen = new Map(known);
  const settledAgain = { alike: 0, differing: 0 };
  const fresh = events.filter((event) => {
    const keys = identitiesOf(event);
    const { amount_micros: amount } = event.data;
    if (!keys.some((key) => seen.has(key))) {
      for (const key of keys) seen.set(key, amount);
      return true;
    }
    const [, settlement] = keys;
    if (settlement !== undefined && seen.has(settlement)) {
      settledAgain[seen.get(settlement) === amount ? 'alike' : 'differing'] += 1;
    }
    return false;
  });
  return { fresh, settledAgain };
}

/** The keys that must be new for an event to count: its identity, and that of its settlement if it has one. */
export function identitiesOf(event: DashboardEvent): string[] {
  const keys = [eventKey(event)];
  if (event.type === SPEND_SETTLED) keys.push(settlementKey(event.tenantId, event.data.settlement_id ?? ''));
  return keys;
}

/** Unique by (tenant, source, id). Only the source can contain `|`, and it comes last, so the key is unambiguous. */
export function eventKey(event: Pick<DashboardEvent, 'tenantId' | 'source' | 'eventId'>): string {
  return `${event.tenantId}|${event.eventId}|${event.source}`;
}

/** Unique by (tenant, settlement), and never an {@link eventKey}: no tenant id begins with `|`. */
export function settlementKey(tenantId: TenantId, settlementId: string): string {
  return `|settlement|${tenantId}|${settlementId}`;
}
