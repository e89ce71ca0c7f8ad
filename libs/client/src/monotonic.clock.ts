/** Time that no change of the system's clock affects. */
export interface Clock {
  /** Milliseconds. */
  now(): number;
  /** Calls back after this time. */
  after(delayMs: number, work: () => void): void;
  /** Like {@link after}, without keeping a process alive that has nothing else to do. */
  afterIfAlive(delayMs: number, work: () => void): void;
}

export const monotonicClock: Clock = {
  now: () => performance.now(),
  after(delayMs, work) {
    setTimeout(work, delayMs);
  },
  afterIfAlive(delayMs, work) {
    const timer: unknown = setTimeout(work, delayMs);
    // Browsers have only numbers here.
    if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function') {
      timer.unref();
    }
  },
};
