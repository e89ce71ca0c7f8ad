import type { Labels } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';

/** The states of a reservation. */
export const RESERVATION_STATES = ['held', 'settled', 'released', 'expired'] as const;
export type ReservationState = (typeof RESERVATION_STATES)[number];

/** The maximum cost of a call, held until the call is settled. Amounts are USD micros, times epoch milliseconds. */
export interface Reservation {
  /** `rsv_…`, derived from the workspace and `requestId`. */
  id: string;
  requestId: string;
  agentId: string;
  runId: string;
  planKey: string | null;
  amountMicros: number;
  state: ReservationState;
  createdAt: number;
  expiresAt: number;
  /** Null until it is settled. */
  settledMicros: number | null;
  settlementId: string | null;
  model: string | null;
  provider: string | null;
  /** Id of the workspace key that asked for it; null if none did. */
  keyId: string | null;
  /** Those of its key and its agent at that time, and of the call. */
  labels: Labels;
}

/** The request of a gateway before a call. */
export interface ReservationRequest {
  /** Chosen by the gateway. A repeated request gets the same reservation. */
  requestId: string;
  agentId: string;
  runId: string;
  planKey: string | null;
  amountMicros: number;
  ttlSeconds: number;
  model: string | null;
  provider: string | null;
  /** Those of the call itself. */
  labels: Labels;
}

/** The workspace key with which a gateway reserves. Without an id in a process that embeds this service. */
export interface ReservingKey {
  tenantId: TenantId;
  keyId: string | null;
  /** The labels of every call that is made with it. */
  labels: Labels;
}

/** The cost of a call as reported by its gateway. */
export interface Settlement {
  /** Counts once per workspace, whether it arrives by a call or by an event. */
  settlementId: string;
  amountMicros: number;
  model?: string | undefined;
  provider?: string | undefined;
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
  /** Those of `inputTokens` that were read from a cache, if that is known. */
  cachedTokens?: number | undefined;
  /** Those of `inputTokens` that were written to a cache, if that is known. */
  cacheWriteTokens?: number | undefined;
  /**
   * Set if its gateway does not say the cost: the amount is the price of the tokens, else what was held for the call
   * (`reservation`), else 0 (`none`).
   */
  pricedBy?: 'override' | 'table' | 'reservation' | 'none' | undefined;
  priceId?: string | undefined;
  priceVersion?: string | undefined;
}
