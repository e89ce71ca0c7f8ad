import {
  decodeGatewayEvent,
  GATEWAY_EVENTS_TOPIC,
  GATEWAY_EVENTS_TOPIC_OPTIONS,
  peekGatewayEvent,
} from '@tollkeeper/contracts';
import type { DeadLetters, EventLog, LogConsumer, RecordBatch } from '@tollkeeper/event-log';
import type { Clock } from '@tollkeeper/kernel';
import type { OffsetStore } from '@tollkeeper/mongo';
import { type CountableEvent, isLate, toCountableEvent } from '../domain/event.ts';
import type { RuleBook } from '../domain/rule-book.ts';
import type { EvaluationRecorder } from '../store/evaluation.recorder.ts';
import type { EvaluationMetrics } from './evaluation.metrics.ts';
import { openPartitionSession, type PartitionSession } from './partition.session.ts';
import type { RuleWatcher } from './rule.watcher.ts';

/** The group that the replicas read as, and under which they keep their offsets. */
export const CONSUMER_GROUP = 'alerts';

const MAX_RECORDS_PER_BATCH = 2000;

export interface GatewayEventsConsumerDeps {
  eventLog: EventLog;
  deadLetters: DeadLetters;
  offsets: OffsetStore;
  recorder: EvaluationRecorder;
  book: RuleBook;
  watcher: RuleWatcher;
  metrics: EvaluationMetrics;
  clock: Clock;
  /** Called when alerts were stored. */
  onFired: () => void;
}

/** Evaluates the events of the log. */
export interface GatewayEventsConsumer extends LogConsumer {
  /** Stores what was read and is not stored yet; where there is more to read, only what is due. What fails is read again later. */
  save(): Promise<void>;
  /**
   * Runs `work` while nothing of the partition is evaluated, provided that everything the log has of it was evaluated and
   * stored. Otherwise, and where that can't be known, it does nothing.
   */
  whileEvaluated(partition: number, work: () => Promise<void>): Promise<void>;
}

/**
 * Decisions are made in memory, and each is stored, with its alert and its notifications, in the transaction that moves the offset
 * behind the event it was made with. What decides nothing is stored about once a second: a crash in between reads it again from
 * the windows as they were, and comes to the same.
 */
export function createGatewayEventsConsumer(deps: GatewayEventsConsumerDeps): GatewayEventsConsumer {
  const { eventLog, offsets, recorder, book, watcher, metrics, clock } = deps;
  const sessions = new Map<number, PartitionSession>();
  const turns = new Map<number, Promise<void>>();

  /** Runs one piece of work on a partition after the other. A failure costs the session, since it may be half way. */
  function inTurn(partition: number, work: () => Promise<void>): Promise<void> {
    const turn = (turns.get(partition) ?? Promise.resolve()).then(work).catch((error: unknown) => {
      sessions.delete(partition);
      throw error;
    });
    turns.set(
      partition,
      turn.catch(() => undefined),
    );
    return turn;
  }

  async function sessionAt({ topic, partition, from }: RecordBatch): Promise<PartitionSession> {
    const known = sessions.get(partition);
    if (known !== undefined && known.position === from) return known;
    const session = await openPartitionSession({ topic, partition, book, recorder });
    if (session.position !== from) throw new Error('the partition was taken over elsewhere; reading on from there');
    sessions.set(partition, session);
    return session;
  }

  async function save(session: PartitionSession): Promise<void> {
    const { decisions } = session;
    await session.save();
    if (decisions.length === 0) return;
    metrics.decided(decisions);
    deps.onFired();
  }

  async function handle(batch: RecordBatch): Promise<void> {
    const { partition, records } = batch;
    // Before each batch, so that an event is never evaluated by rules from before its acceptance.
    await watcher.refresh();
    await inTurn(partition, async () => {
      const session = await sessionAt(batch);
      session.read(batch, await counted(batch));
      metrics.lag(partition, clock() - records.at(-1)!.appendedAt);
      if (session.saveDue) await save(session);
    });
  }

  /**
   * The events of a batch that a rule counts; only those are decoded in full, as most are not. The key of a record is the
   * workspace.
   */
  async function counted(batch: RecordBatch): Promise<CountableEvent[]> {
    const events: CountableEvent[] = [];
    for (const record of batch.records) {
      if (!book.watches(record.key)) continue;
      const glance = peekGatewayEvent(record.value);
      if (glance !== null && !book.counts(record.key, glance)) continue;
      try {
        events.push(toCountableEvent(decodeGatewayEvent(record.value)));
      } catch (error) {
        await deps.deadLetters.setAside(batch, record, error instanceof Error ? error.message : String(error));
      }
    }
    const late = events.filter(isLate).length;
    metrics.events('late', late);
    metrics.events('counted', events.length - late);
    return events;
  }

  /** Whether the session is at the end of the partition and nobody else has moved on. */
  async function isCurrent(partition: number, session: PartitionSession): Promise<boolean> {
    if ((await offsets.position(GATEWAY_EVENTS_TOPIC, partition)) !== session.savedPosition) {
      sessions.delete(partition);
      return false;
    }
    return session.atEnd === true;
  }

  const consumer = eventLog.consumer({
    group: CONSUMER_GROUP,
    topic: GATEWAY_EVENTS_TOPIC,
    handler: { position: offsets.position, handle },
    maxRecords: MAX_RECORDS_PER_BATCH,
  });

  return {
    ...consumer,
    async start() {
      await eventLog.ensureTopic(GATEWAY_EVENTS_TOPIC_OPTIONS);
      await watcher.refresh();
      await consumer.start();
    },
    async save() {
      const saves = [...sessions.keys()].map((partition) =>
        inTurn(partition, async () => {
          const session = sessions.get(partition);
          if (session === undefined || (session.atEnd !== true && !session.saveDue)) return;
          await save(session);
          if (session.atEnd === true) metrics.lag(partition, 0);
        }),
      );
      await Promise.all(saves);
    },
    whileEvaluated: (partition, work) =>
      inTurn(partition, async () => {
        const session = sessions.get(partition);
        if (session !== undefined) await save(session);
        // Without a session nothing was read since the start: then the stored position must be the end of the log.
        const current = session === undefined ? (await consumer.lag()) === 0 : await isCurrent(partition, session);
        if (current) await work();
      }),
  };
}
