import type { Cause } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import type { Denial, LimitRow, OverspendCause } from './limit.ts';
import type { Reservation, ReservationRequest, ReservationState, Settlement } from './reservation.ts';

/** The answer to a request. `limits` has one row for each limit that applies. */
export type Decision =
  | { decision: 'allowed'; reservation: Reservation | null; limits: LimitRow[] }
  | { decision: 'denied'; denial: Denial; limits: LimitRow[] };

/**
 * What gateways ask. Everything may be repeated. All of it rejects with `service_unavailable` within a second while
 * MongoDB, or the limits at their first use, cannot be reached; then nothing or everything was done, and asking again
 * tells.
 */
export interface Reservations {
  /**
   * Grants or denies. The grant is durable when it resolves, and the first denial of a series is in the event log; its
   * repeats are reported within a second. A denial that the log cannot take is counted. The same `requestId` gives the
   * same reservation for 24 h. With `dryRun` nothing changes, and `reservation` is null unless the request was granted
   * before.
   *
   * Rejects with `invalid_request` for a plan that is unknown or inactive, `request_id_reused` for another content
   * under the same id, or after 24 h, and `rate_limited` when the workspace has too many open reservations.
   */
  reserve(tenantId: TenantId, request: ReservationRequest, options?: { dryRun?: boolean }): Promise<Decision>;
  /** Rejects with `not_found`, also for a reservation that is older than three days. */
  get(tenantId: TenantId, id: string): Promise<Reservation>;
  /**
   * Posts what was spent, never clamped. The event `spend.settled` is in the log when it resolves. Rejects with
   * `not_found`, with `conflict` for a reservation that is released or has another settlement, and with
   * `service_unavailable` when the log does not take the event in time. It may take it later, and the spend counts
   * then: asking again tells.
   */
  settle(tenantId: TenantId, id: string, settlement: Settlement): Promise<Reservation>;
  /**
   * Frees the hold. A reservation that is released or expired stays so; a settled one is a `conflict`. `cause` is for
   * the audit log: a person asks for it, and not its gateway.
   */
  release(tenantId: TenantId, id: string, cause?: Cause): Promise<Reservation>;
  /**
   * Holds it for `ttlSeconds` from now on. Rejects with `conflict` unless it is held, and beyond 24 hours from its
   * grant.
   */
  extend(tenantId: TenantId, id: string, ttlSeconds: number): Promise<Reservation>;
}

/** A limit as people see it. */
export interface LimitView extends LimitRow {
  openReservations: number;
  /** What was posted beyond holds on that day, by cause. */
  overspendMicros: Record<OverspendCause, number>;
  released: number;
  expired: number;
}

export interface LimitsView {
  day: { start: number; end: number; timezone: string };
  items: LimitView[];
}

/** Chooses reservations. */
export interface ReservationFilter {
  state?: ReservationState | undefined;
  agentId?: string | undefined;
  runId?: string | undefined;
}

export interface ReservationPage {
  items: Reservation[];
  /** Null behind the last page. */
  nextCursor: string | null;
}

/** What people see and do. It rejects as {@link Reservations}. */
export interface Limits {
  /**
   * The limits that are set, on the running day: of the workspace, the agents and the plans, in that order; or of the
   * workspace and the agent and plan that are named.
   */
  view(tenantId: TenantId, chosen: { agentId?: string | undefined; planKey?: string | undefined }): Promise<LimitsView>;
  /**
   * The reservations of the last 48 h, newest first. A page may have fewer than `limit` items, even none, and a cursor.
   * Rejects with `invalid_request` for a cursor of something else.
   */
  list(
    tenantId: TenantId,
    filter: ReservationFilter,
    page: { limit: number; cursor: string | undefined },
  ): Promise<ReservationPage>;
}
