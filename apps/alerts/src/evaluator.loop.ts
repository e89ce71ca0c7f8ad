import type { Clock } from '@tollkeeper/kernel';
import { createLoop, type Logger, type Loop } from '@tollkeeper/runtime';
import type { AlertResolver } from './consumers/alert.resolver.ts';
import type { GatewayEventsConsumer } from './consumers/gateway-events.consumer.ts';

/** What the evaluation does by the clock: stores what was read, and resolves the alerts that are over. */
export interface EvaluatorLoop extends Loop {
  readonly running: boolean;
  /** When the last pass ended, epoch milliseconds; before the first, when it was started. */
  readonly lastPassAt: number;
}

export function createEvaluatorLoop(deps: {
  consumer: Pick<GatewayEventsConsumer, 'save'>;
  resolver: AlertResolver;
  clock: Clock;
  logger: Logger;
  intervalMs: number;
}): EvaluatorLoop {
  const { consumer, resolver, clock, logger, intervalMs } = deps;
  let running = false;
  let lastPassAt = 0;

  const loop = createLoop({
    name: 'evaluator',
    intervalMs,
    logger,
    async work() {
      await consumer.save();
      await resolver.resolveLapsed();
      lastPassAt = clock();
    },
  });
  return {
    ...loop,
    get running() {
      return running;
    },
    get lastPassAt() {
      return lastPassAt;
    },
    async start() {
      lastPassAt = clock();
      running = true;
      await loop.start();
    },
    async stop() {
      await loop.stop();
      running = false;
    },
  };
}
