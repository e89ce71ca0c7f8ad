import { setImmediate } from 'node:timers/promises';
import {
  decodeGatewayEvent,
  GATEWAY_EVENTS_TOPIC,
  GATEWAY_EVENTS_TOPIC_OPTIONS,
  peekEventType,
} from '@tollkeeper/contracts';
import type { ConsumerGroup, EventLog, LogConsumer, RecordBatch, ReleasedPartition } from '@tollkeeper/event-log';
import { type Clock, startSlices, type TenantId } from '@tollkeeper/kernel';
import { isRefusal } from '@tollkeeper/mongo';
import { type CountableEvent, isLate, toCountableEvent } from '../domain/event.ts';
import type { RuleBook } from '../domain/rule-book.ts';
import type { EvaluatedLog } from '../evaluation/alert.resolver.ts';
import type { EvaluationMetrics } from '../evaluation/evaluation.metrics.ts';
import type { FireTraces } from '../evaluation/fire.traces.ts';
import { openPartitionSession, type PartitionSession } from '../evaluation/partition.session.ts';
import type { RuleWatcher } from '../evaluation/rule.watcher.ts';
import { createSaveRefusals, RefusedSave } from '../evaluation/save.refusals.ts';
import type { WindowMemory } from '../evaluation/window.memory.ts';
import type { EvaluationRecorder } from '../store/evaluation.recorder.ts';

/** The group that the replicas read as, and under which they keep their offsets. */
export const CONSUMER_GROUP = 'alerts';

const MAX_RECORDS_PER_BATCH = 2000;
const MAX_RULES_AGE_MS = 500;
/** Evaluation at a stretch; then others have their turn. */
const MAX_STRETCH_MS = 20;

export interface GatewayEventsConsumerDeps {
  eventLog: EventLog;
  group: ConsumerGroup;
  recorder: EvaluationRecorder;
  book: RuleBook;
  watcher: RuleWatcher;
  memory: WindowMemory;
  metrics: EvaluationMetrics;
  traces: FireTraces;
  clock: Clock;
  /** Called when alerts were stored. */
  onFired: () => void;
}

interface CountedEvent {
  event: CountableEvent;
  offset: number;
}

function* tenantsFrom(events: readonly CountedEvent[], first: number): Generator<TenantId> {
  for (let index = first; index < events.length; index += 1) yield events[index]!.event.tenantId;
}

/** Evaluates the events of the log. */
export interface GatewayEventsConsumer extends LogConsumer, EvaluatedLog {
  /**
   * Stores what was read and is not stored yet; where there is more to read, only what is due. What fails is read again
   * later.
   */
  save(): Promise<void>;
}

/**
 * Decisions are made in memory, and each is stored, with its alert and its notifications, in the transaction that moves
 * the offset behind the event it was made with. What decides nothing is stored about once a second, and less often
 * while there is much to read: a crash in between reads it again from the windows as they were, and comes to the same.
 */
export function createGatewayEventsConsumer(deps: GatewayEventsConsumerDeps): GatewayEventsConsumer {
  const { eventLog, group, recorder, book, watcher, memory, metrics, traces } = deps;
  const refusals = createSaveRefusals({ deadLetters: group.deadLetters, recorder });
  const sessions = new Map<number, PartitionSession>();
  const turns = new Map<number, Promise<void>>();
  /** The last look at the rules of each partition, with the end of the partition that was known when it began. */
  const looks = new Map<number, { endOffset: number; startedAt: number }>();

  function drop(partition: number): void {
    sessions.get(partition)?.close();
    sessions.delete(partition);
  }

  /** Runs one piece of work on a partition after the other. A failure costs the session, since it may be half way. */
  function inTurn(partition: number, work: () => Promise<void>): Promise<void> {
    const turn = (turns.get(partition) ?? Promise.resolve()).then(work).catch((error: unknown) => {
      drop(partition);
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
    drop(partition);
    const session = await openPartitionSession({ ...deps, topic, partition });
    sessions.set(partition, session);
    if (session.position !== from) throw new Error('the partition was taken over elsewhere; reading on from there');
    await session.takeBack();
    return session;
  }

  async function save(partition: number, session: PartitionSession): Promise<void> {
    const { decisions, outcomes, events, lastOffset } = session.pending;
    try {
      await traces.whileSaved([...decisions.values()], session.save);
    } catch (error) {
      if (!isRefusal(error) || events === 0) throw error;
      refusals.refused(partition, events);
      throw new RefusedSave(lastOffset, error);
    }
    refusals.saved(partition);
    metrics.decided(outcomes);
    if (outcomes.fired > 0) deps.onFired();
  }

  /**
   * Sees to it that no event of the batch is evaluated by rules from before its acceptance. One look at the rules
   * serves all that the partition held before it, for as long as a change of rules may take to be seen.
   */
  async function knowRules({ partition, nextOffset, endOffset }: RecordBatch): Promise<void> {
    const last = looks.get(partition);
    const look = { endOffset, startedAt: performance.now() };
    if (last !== undefined && nextOffset <= last.endOffset && look.startedAt - last.startedAt < MAX_RULES_AGE_MS)
      return;
    await watcher.refresh();
    looks.set(partition, look);
  }

  async function handle(batch: RecordBatch, stored: (position: number) => void): Promise<void> {
    const { partition, records } = batch;
    metrics.waiting(partition, records[0]!.appendedAt);
    await knowRules(batch);
    try {
      await inTurn(partition, () => evaluateAll(batch, stored));
    } catch (error) {
      if (error instanceof RefusedSave) await refusals.giveUp(batch, error);
      throw error;
    }
    const atEnd = batch.nextOffset >= batch.endOffset;
    metrics.waiting(partition, atEnd ? null : records.at(-1)!.appendedAt);
  }

  async function evaluateAll(batch: RecordBatch, stored: (position: number) => void): Promise<void> {
    const { partition } = batch;
    const session = await sessionAt(batch);
    let stretchBeganAt = performance.now();
    const events = await counted(batch);
    for (const [index, { event, offset }] of events.entries()) {
      if (refusals.isSetAside(partition, offset)) continue;
      if (!session.isReady(event.tenantId)) await session.prepare(tenantsFrom(events, index));
      const evaluated = session.evaluate(event, offset);
      metrics.event(!evaluated ? 'set_aside' : isLate(event) ? 'late' : 'counted');
      if (session.full || session.pending.events >= refusals.limit(partition)) {
        await save(partition, session);
        stored(offset + 1);
      }
      if (performance.now() - stretchBeganAt < MAX_STRETCH_MS) continue;
      await setImmediate();
      stretchBeganAt = performance.now();
    }
    session.finish(batch);
    if (session.saveDue) await save(partition, session);
  }

  /**
   * The events of a batch that a rule may count; only those are decoded, as most are not. The key of a record is the
   * workspace.
   */
  async function counted(batch: RecordBatch): Promise<CountedEvent[]> {
    const events: CountedEvent[] = [];
    const slices = startSlices();
    for (const record of batch.records) {
      const type = peekEventType(record.value);
      if (type !== null && !(book.countsType(type) && book.counts(record.key, type))) continue;
      // Not asked of those that are passed over: they cost less than the question.
      if (slices.usedUp()) await slices.next();
      try {
        const event = toCountableEvent(decodeGatewayEvent(record.value));
        traces.remember(event, record.headers);
        events.push({ event, offset: record.offset });
      } catch (error) {
        await group.deadLetters.setAside(batch, record, error instanceof Error ? error.message : String(error));
      }
    }
    return events;
  }

  /**
   * What somebody else may have by now is forgotten: to store it would take the ground from under what they have read
   * since.
   */
  function released({ partition, lost }: ReleasedPartition): Promise<void> {
    return inTurn(partition, async () => {
      const session = sessions.get(partition);
      if (!lost && session !== undefined) await save(partition, session);
      drop(partition);
    }).finally(() => metrics.released(partition));
  }

  const consumer = eventLog.consumer({
    group: group.name,
    topic: GATEWAY_EVENTS_TOPIC,
    handler: { position: group.offsets.position, handle, released },
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
          if (session === undefined) return;
          await session.takeBack();
          if (session.atEnd === true || session.saveDue) await save(partition, session);
        }),
      );
      await Promise.all(saves);
    },
    async impaired() {
      await consumer.impaired?.();
      await memory.impaired();
    },
    async hasEvaluated(partition, offset) {
      await inTurn(partition, async () => {
        const session = sessions.get(partition);
        if (session !== undefined && (session.position ?? 0) >= offset) await save(partition, session);
      });
      return ((await group.offsets.position(GATEWAY_EVENTS_TOPIC, partition)) ?? 0) >= offset;
    },
  };
}
