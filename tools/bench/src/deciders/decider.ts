/** Something that says whether a call may spend. */
export interface Decider {
  /** Reserves {@link AMOUNT_MICROS}. Resolves to what the reservation is known by; rejects if it was denied. */
  decide(requestId: string): Promise<string>;
  settle(id: string): Promise<void>;
  release(id: string): Promise<void>;
  close(): Promise<void>;
}
