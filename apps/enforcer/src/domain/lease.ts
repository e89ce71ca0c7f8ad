import type { Cause, Labels } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import type { Denial, LimitRow } from './limit.ts';
import type { ReservingKey, Settlement } from './reservation.ts';

/** The states of a lease. */
export const LEASE_STATES = ['open', 'returned', 'expired'] as const;
type LeaseState = (typeof LEASE_STATES)[number];

/** An amount held once, for many calls of an agent. Amounts are USD micros, times epoch milliseconds. */
export interface Lease {
  /** `lse_…`, derived from the workspace and `requestId`. */
  id: string;
  requestId: string;
  agentId: string;
  planKey: string | null;
  /** What it was granted in all. */
  amountMicros: number;
  /** What was settled from it while it was open, also beyond its amount. */
  settledMicros: number;
  /** What it still holds; 0 once it has ended. */
  leftMicros: number;
  state: LeaseState;
  createdAt: number;
  expiresAt: number;
  /** Milliseconds until it ends; 0 once it has ended. */
  expiresInMs: number;
  model: string | null;
  provider: string | null;
  /** Id of the workspace key that asked for it; null if none did. */
  keyId: string | null;
  /** Those of its key and its agent at that time, and of the request. */
  labels: Labels;
}

/** The request of a gateway for a lease. */
export interface LeaseRequest {
  /** Chosen by the gateway. A repeated request gets the same lease. */
  requestId: string;
  agentId: string;
  planKey: string | null;
  /** What the gateway wishes for. */
  amountMicros: number;
  /** What the call at hand may cost at most. */
  minMicros: number;
  ttlSeconds: number;
  /** The run of the call at hand, for the report of a denial; null if unknown. */
  runId: string | null;
  model: string | null;
  provider: string | null;
  /** Those of the calls themselves. */
  labels: Labels;
}

/** The request of a gateway for a larger lease that lasts longer. */
export interface RenewalRequest {
  /** Chosen by the gateway, once for each renewal of a lease. */
  requestId: string;
  /** What the gateway wishes for in all. */
  amountMicros: number;
  ttlSeconds: number;
}

/** The cost of a call that was decided from a lease. */
export interface LeaseSettlement extends Settlement {
  runId: string;
  /** When the call was made; now if it is absent. Epoch milliseconds. */
  occurredAt?: number | undefined;
}

/**
 * How a settlement is counted. `unreserved`: an event has reported it without the lease. `conflict`: for another lease
 * or a reservation, so nothing is posted.
 */
export const SETTLEMENT_OUTCOMES = ['settled', 'late', 'unreserved', 'conflict'] as const;
export type SettlementOutcome = (typeof SETTLEMENT_OUTCOMES)[number];

export interface SettlementResult {
  settlementId: string;
  outcome: SettlementOutcome;
  /** What is counted under its id. */
  micros: number;
}

/** The answer to a request for a lease. `limits` has one row per limit that applies. */
export type LeaseDecision =
  | { decision: 'allowed'; lease: Lease; limits: LimitRow[] }
  | { decision: 'denied'; denial: Denial; limits: LimitRow[] };

/** The requests of gateways about leases. They may be repeated, and reject, like those of `Reservations`. */
export interface Leases {
  /**
   * Grants from `minMicros` to `amountMicros`, or denies. Once it resolves, the lease is durable, or the denial is
   * reported like that of a reservation. The same `requestId` gives the same lease for 24 h.
   */
  grant(key: ReservingKey, request: LeaseRequest): Promise<LeaseDecision>;
  /** Rejects with `not_found`, also for a lease older than three days. */
  get(tenantId: TenantId, id: string): Promise<Lease>;
  /**
   * Posts what the calls have cost, in full, each `settlementId` once. The `spend.settled` events are in the log once
   * it resolves. The results are in the order of the settlements.
   */
  settle(
    tenantId: TenantId,
    id: string,
    settlements: readonly LeaseSettlement[],
  ): Promise<{ lease: Lease; results: SettlementResult[] }>;
  /**
   * Makes the lease larger, if there is room, and longer. It stays as it was if the gateway has to ask for another one:
   * calls with this key would count in other budgets now. Rejects with `conflict` once it has ended.
   */
  renew(key: ReservingKey, id: string, request: RenewalRequest): Promise<Lease>;
  /**
   * Ends the lease and frees what is left. One that has ended stays as it is. `cause` is set for the audit log if a
   * person asks, not a gateway.
   */
  return(tenantId: TenantId, id: string, cause?: Cause): Promise<Lease>;
}

/** Charges the workspace of a key for the settlements of a call. Throws `rate_limited` if no quota is left. */
export type ChargeSettlements = (key: Pick<ReservingKey, 'tenantId'>, settlements: number) => void;

/** Filters for the list of leases. */
export interface LeaseFilter {
  state?: LeaseState | undefined;
  agentId?: string | undefined;
}

export interface LeasePage {
  items: Lease[];
  /** Null on the last page. */
  nextCursor: string | null;
}
