const POLL_MS = 20;
/** Polls less often during a long wait, because each check slows down what it waits for. */
const MAX_POLL_MS = 250;
const POLL_PART_OF_WAIT = 1 / 20;

/**
 * Far longer than anything takes, even on a very busy machine: successful waits end at once, so only failures cost this
 * time. Shorter than every project's test timeout, so that the failure is that of the check.
 */
const PATIENCE_MS = 240_000;

export interface EventuallyOptions {
  /** How long the condition may take to hold; 4 minutes by default. Set it only where the time itself is guaranteed. */
  timeoutMs?: number;
}

/**
 * Repeats `check` until it passes, and resolves to its result; rejects with its last failure after the timeout. For
 * effects of other processes or background loops, where a fixed wait would be too short or too long.
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
