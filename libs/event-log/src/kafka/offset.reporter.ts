import type { Logger } from '@tollkeeper/runtime';
import type { Consumer } from 'kafkajs';
import type { ConsumerHandler } from '../event-log.ts';

/** Milliseconds between two reports. */
const REPORT_INTERVAL_MS = 5_000;

type Committer = Pick<Consumer, 'commitOffsets'>;

export interface OffsetReporter {
  /** The handler, with its progress noted. */
  handler: ConsumerHandler;
  /** Tells Kafka how far the partitions have come, if the last time was 5 seconds ago. */
  reportNowAndThen(consumer: Committer, partitions: readonly number[]): void;
  /** The same at once; resolves when Kafka knows, or does not answer. Never rejects. */
  report(consumer: Committer, partitions: readonly number[]): Promise<void>;
}

/**
 * Commits applied offsets to Kafka for those who look there: lag exporters, autoscalers, operators. Nothing reads them
 * back; what holds is the position that the handler keeps with its effects.
 */
export function createOffsetReporter(deps: {
  topic: string;
  handler: ConsumerHandler;
  logger: Logger;
}): OffsetReporter {
  const { topic, handler, logger } = deps;
  const applied = new Map<number, number>();
  const reported = new Map<number, number>();
  let reportedAt = -Infinity;

  async function report(consumer: Committer, partitions: readonly number[]): Promise<void> {
    const news = partitions.flatMap((partition) => {
      const offset = applied.get(partition);
      return offset === undefined || offset === reported.get(partition) ? [] : [{ partition, offset }];
    });
    if (news.length === 0) return;
    reportedAt = performance.now();
    try {
      await consumer.commitOffsets(news.map(({ partition, offset }) => ({ topic, partition, offset: String(offset) })));
      for (const { partition, offset } of news) reported.set(partition, offset);
    } catch (err) {
      logger.debug({ err }, 'offsets were not reported to Kafka; the next report tells them');
    }
  }

  return {
    handler: {
      ...handler,
      async position(of, partition) {
        const position = await handler.position(of, partition);
        if (position !== null) applied.set(partition, position);
        return position;
      },
      async handle(batch, stored) {
        const { partition } = batch;
        await handler.handle(batch, (position) => {
          applied.set(partition, position);
          stored(position);
        });
        applied.set(partition, batch.nextOffset);
      },
    },
    reportNowAndThen(consumer, partitions) {
      if (performance.now() - reportedAt >= REPORT_INTERVAL_MS) void report(consumer, partitions);
    },
    report,
  };
}
