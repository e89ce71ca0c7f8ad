import { randomUUID } from 'node:crypto';
import type { Clock } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import type { Connection } from 'mongoose';
import type { ConsumerOptions, LogConsumer } from '../event-log.ts';
import type { LogMetrics } from '../log.metrics.ts';
import { startPartitionWork } from '../partition.worker.ts';
import { partitionOf } from './batches.ts';
import type { EndOffsets } from './end-offsets.ts';
import { createGroupMembership, type GroupMembership } from './group.membership.ts';
import { createGroupStore } from './group.store.ts';
import type { LogStore } from './log.store.ts';
import { createStandstills } from '../standstill.ts';
import { createPartitionSource } from './partition.source.ts';

/** A member of a consumer group. It works on all of its partitions concurrently. */
export function createMongoConsumer(deps: {
  options: ConsumerOptions;
  connection: Connection;
  store: LogStore;
  ends: EndOffsets;
  metrics: LogMetrics;
  logger: Logger;
  monotonicClock: Clock;
  leaseMs: number;
}): LogConsumer {
  const { options, store, ends, logger } = deps;
  const { topic, handler } = options;
  const standstills = createStandstills({ ...deps, consumer: options });
  let membership: GroupMembership | undefined;

  async function lagOf(partition: number, end: number): Promise<number> {
    const [position, first] = await Promise.all([
      handler.position(topic, partition),
      store.firstOffset(topic, partition),
    ]);
    return end - Math.max(position ?? 0, first ?? end);
  }

  async function leave(): Promise<void> {
    const leaving = membership;
    membership = undefined;
    if (leaving === undefined) return;
    ends.unwatch();
    await leaving.leave();
  }

  return {
    name: `consumer:${options.group}/${topic}`,
    async start() {
      const partitions = (await ends.settle()).length;
      ends.watch();
      membership = createGroupMembership({
        store: createGroupStore(deps.connection, options),
        member: randomUUID(),
        partitions,
        leaseMs: deps.leaseMs,
        logger: logger.child({ group: options.group, topic }),
        startWork(partition) {
          const work = {
            consumer: options,
            partition,
            logger: logger.child({ topic, group: options.group, partition }),
          };
          const source = createPartitionSource({ ...work, store, ends });
          return startPartitionWork({ ...work, source, metrics: deps.metrics, standstills });
        },
      });
      await membership.join().catch(async (error: unknown) => {
        await leave();
        throw error;
      });
    },
    stop: leave,
    async ready() {
      if (membership === undefined) throw new Error('the consumer is not started');
      await membership.ready();
    },
    impaired: standstills.impaired,
    async lag() {
      const lags = await Promise.all((await ends.settle()).map((end, partition) => lagOf(partition, end)));
      return lags.reduce((total, lag) => total + lag, 0);
    },
    endOffsets: () => ends.settle(),
    async endOf(key) {
      const settled = await ends.settle();
      const partition = partitionOf(key, settled.length);
      const isEmpty = (await store.firstOffset(topic, partition)) === null;
      return { partition, offset: isEmpty ? 0 : settled[partition]! };
    },
  };
}
