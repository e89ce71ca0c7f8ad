import type { Logger } from '@tollkeeper/runtime';
import type { Consumer, KafkaMessage } from 'kafkajs';
import type { ConsumerOptions } from '../event-log.ts';
import type { LogMetrics } from '../log.metrics.ts';
import { type PartitionWork, startPartitionWork } from '../partition.worker.ts';
import { createPartitionFeed, type PartitionFeed } from './partition.feed.ts';
import type { Standstills } from '../standstill.ts';
import type { PartitionBounds, TopicAdmin } from './topic.admin.ts';

type Fetcher = Pick<Consumer, 'seek' | 'pause' | 'resume'>;

/** The partitions that a member is working on. */
export interface PartitionAssignment {
  partitions(): number[];
  /**
   * Takes over the partitions that the group has assigned. Each restarts from the handler's position, even if the
   * member had it before, since another member may have had it in between. Fetching is paused when this returns.
   */
  assign(fetcher: Fetcher, partitions: readonly number[]): void;
  /** Passes on fetched messages. Resolves when the next fetch may begin. */
  offer(partition: number, messages: readonly KafkaMessage[], endOffset: number): Promise<void>;
  /** Stops all work without waiting for the batches in progress: other members may already have the partitions. */
  revokeAll(): void;
  /** Stops all work; resolves when the batches in progress are done. */
  close(): Promise<void>;
}

interface Assigned {
  feed: PartitionFeed;
  work: PartitionWork;
}

export function createPartitionAssignment(deps: {
  options: ConsumerOptions;
  topics: Pick<TopicAdmin, 'boundsOf'>;
  metrics: LogMetrics;
  standstills: Standstills;
  logger: Logger;
}): PartitionAssignment {
  const { options, topics, metrics, standstills } = deps;
  const { topic } = options;
  const assigned = new Map<number, Assigned>();
  /** Stopped workers whose batch is not done yet. A partition must never have two workers. */
  const stopped = new Map<number, Promise<void>>();
  let bounds: Promise<PartitionBounds[]> | undefined;
  let closed = false;

  /** One request for all partitions that start together. */
  async function boundsOf(partition: number): Promise<PartitionBounds> {
    bounds ??= topics.boundsOf(topic).finally(() => (bounds = undefined));
    const found = (await bounds)[partition];
    if (found === undefined) throw new Error(`Topic ${topic} has lost its partition ${partition}`);
    return found;
  }

  function start(fetcher: Fetcher, partition: number): Assigned {
    const place = { topic, partitions: [partition] };
    const logger = deps.logger.child({ partition });
    const feed = createPartitionFeed({
      fetcher: {
        seek: (offset) => fetcher.seek({ topic, partition, offset: String(offset) }),
        // kafkajs throws if its consumer has ended. Then nothing is fetched, so there is nothing to pause.
        pause: () => ignoreFailure(() => fetcher.pause([place])),
        resume: () => fetcher.resume([place]),
      },
      bounds: () => boundsOf(partition),
      maxRecords: options.maxRecords,
      logger,
    });
    feed.close();
    const after = stopped.get(partition);
    const work = startPartitionWork({
      consumer: options,
      partition,
      source: feed,
      metrics,
      standstills,
      logger,
      after,
    });
    return { feed, work };
  }

  function stop(partition: number, { feed, work }: Assigned, lost: boolean): void {
    assigned.delete(partition);
    const done = work.stop({ lost }).then(() => {
      feed.close();
      if (stopped.get(partition) === done) stopped.delete(partition);
    });
    stopped.set(partition, done);
  }

  function stopAll(isLost: (partition: number) => boolean): void {
    for (const [partition, each] of assigned) stop(partition, each, isLost(partition));
  }

  return {
    partitions: () => [...assigned.keys()],
    assign(fetcher, partitions) {
      stopAll((partition) => !partitions.includes(partition));
      if (closed) return;
      for (const partition of partitions) assigned.set(partition, start(fetcher, partition));
    },
    async offer(partition, messages, endOffset) {
      await assigned.get(partition)?.feed.offer(messages, endOffset);
    },
    revokeAll: () => stopAll(() => true),
    async close() {
      closed = true;
      stopAll(() => false);
      await Promise.all(stopped.values());
    },
  };
}

function ignoreFailure(action: () => void): void {
  try {
    action();
  } catch {
    return;
  }
}
