/** Decides whether a call may spend. */
export interface Decider {
  /** Reserves {@link AMOUNT_MICROS}. Resolves to the reservation's id; rejects if the reservation is denied. */
  decide(requestId: string): Promise<string>;
  settle(id: string): Promise<void>;
  release(id: string): Promise<void>;
  close(): Promise<void>;
}
