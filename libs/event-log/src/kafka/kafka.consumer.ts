import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@tollkeeper/runtime';
import type { EachBatchPayload } from 'kafkajs';
import type { ConsumerOptions, LogConsumer } from '../event-log.ts';
import type { LogMetrics } from '../log.metrics.ts';
import { type GroupSession, startGroupSession } from './group.session.ts';
import type { OpenKafkaClient } from './kafka.client.ts';
import { partitionOf } from './key.partitioner.ts';
import { createOffsetReporter } from './offset.reporter.ts';
import { createStandstills } from '../standstill.ts';
import { createPartitionAssignment } from './partition.assignment.ts';
import type { PartitionBounds, TopicAdmin } from './topic.admin.ts';

/** Milliseconds between the end of a session and the start of the next one. */
const REJOIN_DELAY_MS = 1_000;
/** Milliseconds between two checks of a session's state. */
const WATCH_INTERVAL_MS = 1_000;
/** Maximum milliseconds that a stop waits for the last report of offsets. */
const LAST_REPORT_TIMEOUT_MS = 1_000;
/** A session is stuck, and is replaced, if the group has not answered for this many session timeouts. */
const STUCK_AFTER_TIMEOUTS = 4;

/**
 * A member of a consumer group. It works on all of its partitions concurrently. kafkajs maintains the membership and
 * fetches records, which go to one worker per partition.
 */
export function createKafkaConsumer(deps: {
  options: ConsumerOptions;
  topics: TopicAdmin;
  openClient: OpenKafkaClient;
  metrics: LogMetrics;
  logger: Logger;
  sessionTimeoutMs: number;
}): LogConsumer {
  const { options, topics, sessionTimeoutMs } = deps;
  const { topic, group, handler } = options;
  const logger = deps.logger.child({ topic, group });
  const stopping = new AbortController();
  const offsets = createOffsetReporter({ topic, handler, logger });
  const standstills = createStandstills({ ...deps, consumer: options });
  const reported = { ...options, handler: offsets.handler };
  const assignment = createPartitionAssignment({ ...deps, options: reported, standstills, logger });
  const firstJoin = Promise.withResolvers<void>();
  let session: GroupSession | undefined;
  let supervising: Promise<void> | undefined;

  function join(partitions: number): GroupSession {
    return startGroupSession({
      ...{ topic, partitions, sessionTimeoutMs, logger, openClient: deps.openClient },
      groupId: groupIdOf(group, topic),
      onAssigned(joined, assigned) {
        logger.info({ partitions: assigned }, 'partitions assigned');
        assignment.assign(joined.consumer, assigned);
        firstJoin.resolve();
      },
      async eachBatch({ batch, resolveOffset }: EachBatchPayload) {
        await assignment.offer(batch.partition, batch.messages, Number(batch.highWatermark));
        resolveOffset(batch.lastOffset());
      },
    });
  }

  async function supervise(first: GroupSession, partitions: number): Promise<void> {
    for (let current = first; ; current = session = join(partitions)) {
      await untilOver(current, {
        ...{ sessionTimeoutMs, logger, signal: stopping.signal },
        onWatch: () => offsets.reportNowAndThen(current.consumer, assignment.partitions()),
      });
      if (stopping.signal.aborted) return;
      assignment.revokeAll();
      await current.leave();
      await delay(REJOIN_DELAY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
    }
  }

  return {
    name: `consumer:${group}/${topic}`,
    async start() {
      const partitions = await topics.partitionsOf(topic);
      stopping.signal.throwIfAborted();
      session = join(partitions);
      supervising = supervise(session, partitions);
      await Promise.race([firstJoin.promise, supervising]);
      if (stopping.signal.aborted) throw new Error(`${groupIdOf(group, topic)} was stopped before it joined its group`);
    },
    drain() {
      if (session?.isMember() !== true) stopping.abort();
    },
    async stop() {
      stopping.abort();
      const partitions = assignment.partitions();
      // The member sends heartbeats until its batches are done, so no other member gets its partitions before.
      await assignment.close();
      await supervising;
      const leaving = session;
      session = undefined;
      if (leaving === undefined) return;
      await Promise.race([offsets.report(leaving.consumer, partitions), delay(LAST_REPORT_TIMEOUT_MS)]);
      await leaving.leave();
    },
    async ready() {
      if (session === undefined) throw new Error('the consumer is not started');
      if (!session.isMember()) throw new Error('not a member of the consumer group; no partition is read');
    },
    impaired: standstills.impaired,
    ...createOffsetReader(topics, options),
  };
}

interface SessionWatch {
  sessionTimeoutMs: number;
  logger: Logger;
  signal: AbortSignal;
  /** Called periodically. */
  onWatch: () => void;
}

/** Resolves when the session has ended or is stuck, or when the signal aborts. */
async function untilOver(session: GroupSession, watch: SessionWatch): Promise<void> {
  const { sessionTimeoutMs, logger, signal, onWatch } = watch;
  const ended = session.ended.then((err) => logger.warn({ err }, 'no longer in the consumer group; rejoining'));
  while (!signal.aborted) {
    const watched = delay(WATCH_INTERVAL_MS, 'watched' as const, { signal }).catch(() => undefined);
    if ((await Promise.race([ended, watched])) !== 'watched') return;
    if (session.silenceMs() > STUCK_AFTER_TIMEOUTS * sessionTimeoutMs) {
      logger.warn({ silence_ms: session.silenceMs() }, 'the consumer group does not answer; rejoining');
      return;
    }
    onWatch();
  }
}

/**
 * All members of a Kafka group read the same topics. So a group that reads several topics has a Kafka group for each.
 */
function groupIdOf(group: string, topic: string): string {
  return `${group}.${topic}`;
}

function createOffsetReader(
  topics: TopicAdmin,
  { topic, handler }: ConsumerOptions,
): Pick<LogConsumer, 'lag' | 'endOffsets' | 'endOf'> {
  const bounds = () => topics.boundsOf(topic);
  return {
    lag: async () => lagOf(await bounds(), (partition) => handler.position(topic, partition)),
    endOffsets: async () => (await bounds()).map(({ high }) => high),
    async endOf(key) {
      const all = await bounds();
      const partition = partitionOf(key, all.length);
      const { low, high } = all[partition]!;
      return { partition, offset: low === high ? 0 : high };
    },
  };
}

async function lagOf(
  bounds: readonly PartitionBounds[],
  positionOf: (partition: number) => Promise<number | null>,
): Promise<number> {
  const lags = bounds.map(async ({ low, high }, partition) => {
    const position = (await positionOf(partition)) ?? low;
    return high - (position > high ? low : Math.max(position, low));
  });
  return (await Promise.all(lags)).reduce((total, lag) => total + lag, 0);
}
