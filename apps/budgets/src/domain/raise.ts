import type { AuditedFields, AuditTarget, Cause } from '@tollkeeper/contracts';
import { MAX_MICROS, type TenantId, type TimeSpan } from '@tollkeeper/kernel';

/** What is asked for. */
export interface RaiseDraft {
  budgetId: string;
  /** The value whose limit is raised; null for a budget without `each`. */
  value: string | null;
  extraMicros: number;
  until: Date;
  reason: string;
  /** Chosen by the asker, so that the same request can be sent again. */
  requestId: string | null;
}

/** A person, with the name at that time. */
export interface Person {
  id: string;
  name: string;
}

/** Who asks: a person, or the holder of a workspace key. */
export interface Asker extends Person {
  type: 'user' | 'key';
}

export const RAISE_STATES = ['requested', 'active', 'declined', 'ended', 'expired'] as const;
export type RaiseState = (typeof RAISE_STATES)[number];

/** Until its end, an active raise adds to the limit of its budget. */
export interface Raise extends RaiseDraft {
  id: string;
  /** What people did to it; time alone ends it too: see {@link stateOf}. */
  state: Exclude<RaiseState, 'expired'>;
  /** The name of the budget at that time. */
  budgetName: string;
  askedBy: Asker;
  /** As they were asked for; `extraMicros` and `until` may be others once it is granted. */
  askedMicros: number;
  askedUntil: Date;
  createdAt: Date;
  /** Who granted or declined it. */
  decidedBy: Person | null;
  decidedAt: Date | null;
  declineReason: string | null;
  /** Who ended it before its time. */
  endedBy: Person | null;
  endedAt: Date | null;
}

/** An open request expires at its end, and an active raise ends, whether that is stored yet or not. */
export function stateOf({ state, until }: Pick<Raise, 'state' | 'until'>, now: Date): RaiseState {
  return until > now ? state : OVER[state];
}

const OVER: Record<Raise['state'], RaiseState> = {
  requested: 'expired',
  active: 'ended',
  declined: 'declined',
  ended: 'ended',
};

/** Raises that were granted in a span: the largest of them, and the number and sum of all. */
export interface GrantedRaises {
  largest: Raise[];
  count: number;
  micros: number;
}

/** The states of raises that were granted: only these end. */
export const GRANTED_STATES: readonly Raise['state'][] = ['active', 'ended'];

/** The fields of a raise that the audit log records. Nothing is granted of a request. */
export const AUDITED_RAISE: AuditedFields<Raise> = {
  state: ({ state }) => state,
  budget_id: ({ budgetId }) => budgetId,
  value: ({ value }) => value,
  asked_by: ({ askedBy: { type, id } }) => `${type} ${id}`,
  asked_micros: ({ askedMicros }) => askedMicros,
  extra_micros: ({ extraMicros, state }) => (GRANTED_STATES.includes(state) ? extraMicros : null),
  until: ({ until }) => until.toISOString(),
  reason: ({ reason }) => reason,
  decline_reason: ({ declineReason }) => declineReason,
};

export function raiseTarget({ id, budgetName, value }: Raise): AuditTarget {
  return { type: 'raise', id, name: value === null ? budgetName : `${budgetName} for ${value}` };
}

export interface RaiseFilter {
  state: RaiseState | undefined;
  budgetId: string | undefined;
  /** The last raise of the page before. */
  after: { createdAt: Date; id: string } | undefined;
  limit: number;
}

/** What the workspace has at the time of a new raise. */
export interface KnownRaises {
  /** The raise of the same asker with the same `requestId`. */
  same: Raise | null;
  inForce: number;
  requested: number;
  /** Requests of the asker that are open, or of the last hour. */
  ofAsker: number;
}

/**
 * Stores raises. No method finds one of another workspace. Changes are audited in the same transaction, and changes of
 * the raises of a workspace are serialized, so `decide` may run again on newer ones and must have no side effects. If
 * `decide` throws, nothing is stored and the error is passed on.
 */
export interface RaiseStore {
  /** Newest first. */
  list(tenantId: TenantId, filter: RaiseFilter, now: Date): Promise<Raise[]>;
  find(tenantId: TenantId, id: string): Promise<Raise | null>;
  /** Those that add to a limit at the time. */
  inForce(tenantId: TenantId, now: Date): Promise<Raise[]>;
  /** Active raises of all workspaces whose time is over, the first to end first. */
  lapsed(now: Date, limit: number): Promise<{ tenantId: TenantId; id: string }[]>;
  /** Those granted in the span, also if they have ended; at most `max` as the largest. */
  grantedIn(tenantId: TenantId, span: TimeSpan, max: number): Promise<GrantedRaises>;
  /** Stores the raise, unless `decide` answers another one, which is the same. */
  add(tenantId: TenantId, raise: Raise, decide: (known: KnownRaises) => Raise, cause: Cause): Promise<Raise>;
  /** Null without such a raise. If `decide` answers the same raise, nothing is stored. */
  change(
    tenantId: TenantId,
    id: string,
    now: Date,
    decide: (current: Raise, inForce: number) => Raise,
    cause: Cause,
  ): Promise<Raise | null>;
}

/** What raises add to the limit of a budget, and when the first of them ends. */
export interface Raised {
  micros: number;
  until: Date;
}

/** What the raises add to the budgets that have one limit, by id. */
export function raisedByBudget(inForce: readonly Raise[]): ReadonlyMap<string, Raised> {
  const raised = new Map<string, Raised>();
  for (const { budgetId, value, extraMicros, until } of inForce) {
    if (value !== null) continue;
    const known = raised.get(budgetId) ?? { micros: 0, until };
    const micros = Math.min(known.micros + extraMicros, MAX_MICROS);
    raised.set(budgetId, { micros, until: until < known.until ? until : known.until });
  }
  return raised;
}
