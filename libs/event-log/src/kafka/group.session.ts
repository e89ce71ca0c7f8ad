import type { Logger } from '@tollkeeper/runtime';
import type { Consumer, EachBatchPayload } from 'kafkajs';
import type { OpenKafkaClient } from './kafka.client.ts';

/** Milliseconds that a fetch waits for records. A resumed partition waits at most this long for its first fetch. */
const FETCH_WAIT_MS = 250;
const FETCH_PARTITION_BYTES = 1024 * 1024;
const FETCH_BYTES = 10 * 1024 * 1024;
/** Milliseconds until leaving the group is aborted and the connections are closed. */
const LEAVE_TIMEOUT_MS = 5_000;

export interface GroupSessionOptions {
  openClient: OpenKafkaClient;
  groupId: string;
  topic: string;
  partitions: number;
  /**
   * Milliseconds without a heartbeat after which the group considers a member dead. A member sends ten heartbeats in
   * that time.
   */
  sessionTimeoutMs: number;
  logger: Logger;
  /** Called after each rebalance of the group, before records of the new partitions are fetched. */
  onAssigned(session: GroupSession, partitions: readonly number[]): void;
  eachBatch(payload: EachBatchPayload): Promise<void>;
}

/** One membership in a consumer group, from joining until its end. */
export interface GroupSession {
  readonly consumer: Pick<Consumer, 'seek' | 'pause' | 'resume' | 'commitOffsets'>;
  /** Resolves with the reason when the session ends other than by `leave`. */
  readonly ended: Promise<Error>;
  /** Whether this is currently a member of the group. */
  isMember(): boolean;
  /** Milliseconds since the last answer of the group, or since the session started. */
  silenceMs(): number;
  /** Leaves the group, so that its partitions are reassigned at once. */
  leave(): Promise<void>;
}

/** Joins the group. kafkajs rejoins automatically after errors that it can retry. Any other error ends the session. */
export function startGroupSession(options: GroupSessionOptions): GroupSession {
  const { topic, sessionTimeoutMs, logger } = options;
  const client = options.openClient();
  const consumer = client.kafka.consumer({
    groupId: options.groupId,
    allowAutoTopicCreation: false,
    sessionTimeout: sessionTimeoutMs,
    rebalanceTimeout: 2 * sessionTimeoutMs,
    heartbeatInterval: sessionTimeoutMs / 10,
    maxWaitTimeInMs: FETCH_WAIT_MS,
    maxBytesPerPartition: FETCH_PARTITION_BYTES,
    maxBytes: FETCH_BYTES,
    // The caller starts the next session, with a new client: this one may hold stale state.
    retry: { restartOnFailure: async () => false },
  });
  const ended = Promise.withResolvers<Error>();
  let heardAt = performance.now();
  let member = false;
  const silenceMs = (): number => performance.now() - heardAt;

  const session: GroupSession = {
    consumer,
    ended: ended.promise,
    isMember: () => member && silenceMs() <= sessionTimeoutMs,
    silenceMs,
    async leave() {
      await Promise.race([running.then(() => consumer.disconnect()), timeout(LEAVE_TIMEOUT_MS)]).catch((err: unknown) =>
        logger.warn({ err }, 'could not leave the consumer group cleanly'),
      );
      client.close();
    },
  };

  function end(error: Error): void {
    member = false;
    client.close();
    ended.resolve(error);
  }

  consumer.on('consumer.heartbeat', () => {
    heardAt = performance.now();
  });
  consumer.on('consumer.group_join', ({ payload }) => {
    heardAt = performance.now();
    member = true;
    options.onAssigned(session, payload.memberAssignment[topic] ?? []);
  });
  consumer.on('consumer.crash', ({ payload }) => end(payload.error));

  async function run(): Promise<void> {
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: options.partitions,
      eachBatch: options.eachBatch,
    });
  }

  const running = run().catch(end);
  return session;
}

function timeout(timeoutMs: number): Promise<never> {
  return new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs).unref();
  });
}
