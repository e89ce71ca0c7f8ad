const POLL_MS = 20;
/** A long wait looks less often: each look takes time from what it waits for. */
const MAX_POLL_MS = 250;
const POLL_PART_OF_WAIT = 1 / 20;

/**
 * Far longer than anything takes, also on a machine that is ten times as busy as it should be: a wait that passes ends
 * at once, so that only a failure costs it. Below the time-out of a test in every project, so that the failure is the
 * check's own.
 */
const PATIENCE_MS = 240_000;

export interface EventuallyOptions {
  /**
   * How long the condition may take to hold; 4 minutes by default. Shorter only where the time itself is guaranteed.
   */
  timeoutMs?: number;
}

/**
 * Repeats `check` until it passes, and resolves to its result; rejects with its last failure after the timeout. For
 * what another process or a background loop brings about, where a fixed wait would be too short or too long.
 */
export async function eventually<T>(check: () => T | Promise<T>, options: EventuallyOptions = {}): Promise<T> {
  const start = Date.now();
  const deadline = start + (options.timeoutMs ?? PATIENCE_MS);
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() >= deadline) throw error;
    }
    const pollMs = Math.min(Math.max((Date.now() - start) * POLL_PART_OF_WAIT, POLL_MS), MAX_POLL_MS);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
