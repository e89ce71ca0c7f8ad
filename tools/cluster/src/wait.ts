const POLL_MS = 200;

/**
 * Calls `look` repeatedly until it finds something, and resolves to that. Rejects when `look` does, or after
 * `timeoutMs`, with what it waited for.
 */
export async function waitFor<T>(
  what: string,
  timeoutMs: number,
  look: () => Promise<T | undefined>,
): Promise<Exclude<T, undefined>> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found as Exclude<T, undefined>;
    if (Date.now() >= deadline) throw new Error(`Waited ${timeoutMs / 1000} s in vain for ${what}`);
    await new Promise((settle) => setTimeout(settle, POLL_MS));
  }
}
