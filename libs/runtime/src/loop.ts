import { type Clock, systemClock } from '@tollkeeper/kernel';
import type { Component } from './lifecycle.ts';
import type { Logger } from './logger.ts';

/** Repeated background work between `start` and `stop`. */
export interface Loop extends Component {
  /** Runs the work as soon as possible, without waiting for the interval. */
  wake(): void;
}

export interface LoopStatus {
  /** Whether the loop is started and not stopped. */
  readonly running: boolean;
  /** When the work last succeeded, in epoch milliseconds; before that, when the loop was started. */
  readonly lastPassAt: number;
}

export interface LoopOptions {
  name: string;
  /** Runs once, before the first work. A rejection is logged, and it is retried after the interval, before any work. */
  prepare?: (() => Promise<void>) | undefined;
  /** Runs one at a time. After a rejection, which is logged, it is repeated after the interval. */
  work: () => Promise<void>;
  /** Milliseconds from the end of the work to its next start. */
  intervalMs: number;
  logger: Logger;
  clock?: Clock | undefined;
}

/** `stop` waits for the work in progress and starts none. */
export function createLoop(options: LoopOptions): Loop & LoopStatus {
  const { name, prepare, work, intervalMs, logger, clock = systemClock } = options;
  let passes: Promise<void> | undefined;
  let lastPassAt = 0;
  let prepared = false;
  let stopped = false;
  let woken = Promise.withResolvers<void>();

  async function pass(): Promise<void> {
    try {
      if (!prepared) await prepare?.();
      prepared = true;
      await work();
      lastPassAt = clock();
    } catch (err) {
      logger.warn({ err }, `${name} failed; retrying`);
    }
  }

  async function run(): Promise<void> {
    lastPassAt = clock();
    while (!stopped) {
      woken = Promise.withResolvers();
      await pass();
      const timer = setTimeout(woken.resolve, intervalMs);
      if (!stopped) await woken.promise;
      clearTimeout(timer);
    }
  }

  return {
    name,
    get running() {
      return passes !== undefined && !stopped;
    },
    get lastPassAt() {
      return lastPassAt;
    },
    wake: () => woken.resolve(),
    async start() {
      passes ??= run();
    },
    async stop() {
      stopped = true;
      woken.resolve();
      await passes;
    },
  };
}
