/** What became of a reservation. */
export const RESERVATION_STATES = ['held', 'settled', 'released', 'expired'] as const;
export type ReservationState = (typeof RESERVATION_STATES)[number];

/** What a call may cost at most, held until the call is settled. Amounts are USD micros, times epoch milliseconds. */
export interface Reservation {
  /** `rsv_…`, by the workspace and `requestId`. */
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
}

/** What a gateway asks before a call. */
export interface ReservationRequest {
  /** Chosen by the gateway. Repeating the request gives the same reservation. */
  requestId: string;
  agentId: string;
  runId: string;
  planKey: string | null;
  amountMicros: number;
  ttlSeconds: number;
}

/** What a call cost, as its gateway says. */
export interface Settlement {
  /** Counts once in a workspace, whether it comes by a call or by an event. */
  settlementId: string;
  amountMicros: number;
  model?: string | undefined;
  provider?: string | undefined;
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
}
