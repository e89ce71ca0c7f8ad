import type { Logger } from '@tollkeeper/runtime';
import type { Consumer } from 'kafkajs';
import type { ConsumerHandler } from '../event-log.ts';

/** Milliseconds between two reports. */
const REPORT_INTERVAL_MS = 5_000;

type Committer = Pick<Consumer, 'commitOffsets'>;

export interface OffsetReporter {
  /** The handler, wrapped so that the reporter knows its progress. */
  handler: ConsumerHandler;
  /** Commits the progress of the partitions to Kafka, at most every 5 seconds. */
  reportNowAndThen(consumer: Committer, partitions: readonly number[]): void;
  /** Commits at once. Resolves when Kafka has answered or the request has failed; never rejects. */
  report(consumer: Committer, partitions: readonly number[]): Promise<void>;
}

/**
 * Commits applied offsets to Kafka for lag exporters, autoscalers and operators. Consumers never read them: the handler
 * keeps its own position, together with its effects.
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
      logger.debug({ err }, 'offsets could not be reported to Kafka; the next report includes them');
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
