import type { Component } from './lifecycle.ts';
import type { Logger } from './logger.ts';

/** Work that is done again and again in the background, between `start` and `stop`. */
export interface Loop extends Component {
  /** Has the work done as soon as possible, in place of after the interval. */
  wake(): void;
}

export interface LoopOptions {
  name: string;
  /** Done one at a time. A rejection is logged, and the work done again after the interval. */
  work: () => Promise<void>;
  /** Milliseconds from the end of the work to its next beginning. */
  intervalMs: number;
  logger: Logger;
}

/** `stop` waits for the work under way and begins none. */
export function createLoop({ name, work, intervalMs, logger }: LoopOptions): Loop {
  let running: Promise<void> | undefined;
  let stopped = false;
  let woken = Promise.withResolvers<void>();

  async function run(): Promise<void> {
    while (!stopped) {
      woken = Promise.withResolvers();
      await work().catch((err: unknown) => logger.warn({ err }, `${name} failed; it is tried again`));
      const timer = setTimeout(woken.resolve, intervalMs);
      if (!stopped) await woken.promise;
      clearTimeout(timer);
    }
  }

  return {
    name,
    wake: () => woken.resolve(),
    async start() {
      running ??= run();
    },
    async stop() {
      stopped = true;
      woken.resolve();
      await running;
    },
  };
}
