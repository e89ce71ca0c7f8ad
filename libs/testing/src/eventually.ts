const POLL_MS = 20;

export interface EventuallyOptions {
  /** How long the condition may take to hold; 10 s by default. */
  timeoutMs?: number;
}

/**
 * Repeats `check` until it passes, and resolves to its result; rejects with its last failure after the timeout. For
 * what another process or a background loop brings about, where a fixed wait would be too short or too long.
 */
export async function eventually<T>(check: () => T | Promise<T>, options: EventuallyOptions = {}): Promise<T> {
  const deadline = Date.now() + (options.timeoutMs ?? 10_000);
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() >= deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
