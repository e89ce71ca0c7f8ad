import type { Cause } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import type { LeaseFilter, LeasePage } from './lease.ts';
import type { Denial, LimitRow, OverspendCause } from './limit.ts';
import type { Reservation, ReservationRequest, ReservationState, ReservingKey, Settlement } from './reservation.ts';

/** The answer to a request. `limits` has one row per limit that applies. */
export type Decision =
  | { decision: 'allowed'; reservation: Reservation | null; limits: LimitRow[] }
  | { decision: 'denied'; denial: Denial; limits: LimitRow[] };

/**
 * The requests of gateways, all of which may be repeated. They reject with `service_unavailable` within a second while
 * MongoDB, or budgets for limits not known yet, is unreachable. Then nothing or everything was done, and a repeated
 * request tells which.
 */
export interface Reservations {
  /**
   * Grants or denies. Once it resolves, the grant is durable, or the first denial of a series is in the event log;
   * repeats are reported within a second. Denials that the log does not take are counted. The same `requestId` gives
   * the same reservation for 24 h. With `dryRun` nothing changes, and `reservation` is null unless it was granted
   * before.
   *
   * Rejects with `invalid_request` for an unknown or inactive plan, `label_pinned` for a label that the key pins to a
   * different value, `request_id_reused` for other content under the same id or after 24 h, and `rate_limited` if the
   * workspace has too many open reservations.
   */
  reserve(key: ReservingKey, request: ReservationRequest, options?: { dryRun?: boolean }): Promise<Decision>;
  /** Rejects with `not_found`, also for a reservation older than three days. */
  get(tenantId: TenantId, id: string): Promise<Reservation>;
  /**
   * Posts what was spent, in full. The event `spend.settled` is in the log once it resolves. Rejects with `not_found`,
   * with `conflict` for a reservation that is released or has another settlement, and with `service_unavailable` if the
   * log does not take the event in time. The event may still arrive and count: a repeated request tells.
   */
  settle(tenantId: TenantId, id: string, settlement: Settlement): Promise<Reservation>;
  /**
   * Frees the hold. A reservation that is released or expired stays so; a settled one is a `conflict`. `cause` is set
   * for the audit log if a person asks, not a gateway.
   */
  release(tenantId: TenantId, id: string, cause?: Cause): Promise<Reservation>;
  /**
   * Extends the hold to `ttlSeconds` from now. Rejects with `conflict` unless it is held, and beyond 24 hours from its
   * grant.
   */
  extend(tenantId: TenantId, id: string, ttlSeconds: number): Promise<Reservation>;
}

/** A limit as people see it. */
export type LimitView = LimitRow & {
  openReservations: number;
  openLeases: number;
  /** Spend of that day that no hold covered, by cause. */
  overspendMicros: Record<OverspendCause, number>;
  released: number;
  expired: number;
  /** Spend at the end of the period at the pace of its elapsed part; null if that cannot be foreseen. */
  paceEndMicros: number | null;
  /** Whole percent of the spend to fill in that is counted: below 100 while it is `filling`. */
  filledPercent: number;
};

export interface LimitsView {
  day: { start: number; end: number; timezone: string };
  items: LimitView[];
}

/** Filters for the list of reservations. */
export interface ReservationFilter {
  state?: ReservationState | undefined;
  agentId?: string | undefined;
  runId?: string | undefined;
}

export interface ReservationPage {
  items: Reservation[];
  /** Null on the last page. */
  nextCursor: string | null;
}

/** A limit and whether it will last. */
export interface BudgetRisk {
  limit: LimitView;
  isAtRisk: boolean;
}

export interface ChosenLimits {
  agentId?: string | undefined;
  planKey?: string | undefined;
  budgetId?: string | undefined;
}

/** What people can see and do. Rejects like {@link Reservations}, but only after 5 seconds. */
export interface Limits {
  /**
   * The limits in their running periods: all that are set, for the workspace, agents, plans and budgets in that order,
   * or only some: those in which all calls of the given agent count, or all of its calls under the given plan; those of
   * the workspace and of the given plan; or those of one budget. A budget with a limit for each value has those of the
   * values with the most spend, and more of them if it is the only one. Rejects with `not_found` for a budget that is
   * not active or not set.
   */
  view(tenantId: TenantId, chosen: ChosenLimits): Promise<LimitsView>;
  /** At most `max` budgets, those at risk first, each once: with its limit that is most at risk. */
  byRisk(tenantId: TenantId, max: number): Promise<BudgetRisk[]>;
  /**
   * The reservations of the last 48 h, newest first. A page may have fewer than `limit` items, or none, and still a
   * cursor. Rejects with `invalid_request` for a cursor of another list.
   */
  list(
    tenantId: TenantId,
    filter: ReservationFilter,
    page: { limit: number; cursor: string | undefined },
  ): Promise<ReservationPage>;
  /** The same for leases. */
  listLeases(
    tenantId: TenantId,
    filter: LeaseFilter,
    page: { limit: number; cursor: string | undefined },
  ): Promise<LeasePage>;
}
