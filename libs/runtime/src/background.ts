import { setTimeout as delay } from 'node:timers/promises';
import type { Component } from './lifecycle.ts';
import type { Logger } from './logger.ts';

/**
 * Wraps a part that its owner can work without, such as a consumer of the log in a service that answers requests.
 * `start` resolves at once. The part then starts in the background and is retried, with a log line for each failure, so
 * its start must be safe to repeat. `impaired` reports what the part cannot do, but never makes its owner unready.
 */
export function inBackground(
  part: Component,
  logger: Logger,
  /** Time from a failed start to the next attempt. */
  { retryIntervalMs = 1_000 }: { retryIntervalMs?: number } = {},
): Component {
  const givenUp = new AbortController();
  let missing: string | null = 'not started yet';
  let stopped = false;

  async function startAgainAndAgain(): Promise<void> {
    while (!givenUp.signal.aborted) {
      try {
        await part.start();
        missing = null;
        break;
      } catch (err) {
        missing = `not started yet: ${err instanceof Error ? err.message : String(err)}`;
        if (!givenUp.signal.aborted) logger.warn({ err }, `${part.name} could not start; retrying`);
      }
      await delay(retryIntervalMs, undefined, { signal: givenUp.signal }).catch(() => undefined);
    }
    // `stop` did not wait for this start, so it may have stopped nothing.
    if (stopped) await part.stop().catch((err: unknown) => logger.error({ err }, `${part.name} could not be stopped`));
  }

  function drain(): void {
    givenUp.abort();
    part.drain?.();
  }

  return {
    name: part.name,
    async start() {
      void startAgainAndAgain();
    },
    drain,
    async stop() {
      stopped = true;
      drain();
      await part.stop();
    },
    async impaired() {
      if (missing !== null) throw new Error(missing);
      await part.ready?.();
      await part.impaired?.();
    },
  };
}
