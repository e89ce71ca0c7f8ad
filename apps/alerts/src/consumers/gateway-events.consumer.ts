import { GATEWAY_EVENTS_TOPIC, GATEWAY_EVENTS_TOPIC_OPTIONS } from '@tollkeeper/contracts';
import type { ConsumerGroup, EventLog, LogConsumer, RecordBatch, ReleasedPartition } from '@tollkeeper/event-log';
import type { Clock } from '@tollkeeper/kernel';
import type { RuleBook } from '../domain/rule-book.ts';
import type { EvaluatedLog } from '../evaluation/alert.resolver.ts';
import type { BudgetBook } from '../evaluation/budget.book.ts';
import { createBatchEvaluator } from '../evaluation/batch.evaluator.ts';
import type { EvaluationMetrics } from '../evaluation/evaluation.metrics.ts';
import type { FireTraces } from '../evaluation/fire.traces.ts';
import { createPartitionSessions } from '../evaluation/partition.sessions.ts';
import { createRuleRefresh } from '../evaluation/rule.freshness.ts';
import type { RuleWatcher } from '../evaluation/rule.watcher.ts';
import { RefusedSave } from '../evaluation/save.refusals.ts';
import type { WindowMemory } from '../evaluation/window.memory.ts';
import type { EvaluationRecorder } from '../store/evaluation.recorder.ts';

/** The consumer group of all replicas. Their offsets are stored under this name. */
export const CONSUMER_GROUP = 'alerts';

const MAX_RECORDS_PER_BATCH = 2000;

export interface GatewayEventsConsumerDeps {
  eventLog: EventLog;
  group: ConsumerGroup;
  recorder: EvaluationRecorder;
  book: RuleBook;
  budgets: BudgetBook;
  watcher: RuleWatcher;
  memory: WindowMemory;
  metrics: EvaluationMetrics;
  traces: FireTraces;
  clock: Clock;
  /** Called after alerts were stored. */
  onFired: () => void;
}

/** Evaluates the events of the log. */
export interface GatewayEventsConsumer extends LogConsumer, EvaluatedLog {
  /**
   * Saves progress that is not stored yet; while there is more to read, only where a save is due. Failed work is read
   * again.
   */
  save(): Promise<void>;
}

/**
 * Decisions are made in memory. Each is stored with its alert and notifications, in the transaction that moves the
 * offset past its event. Progress without decisions is stored about once a second, and less often under load. After a
 * crash, the events are read again on top of the stored windows, and lead to the same decisions.
 */
export function createGatewayEventsConsumer(deps: GatewayEventsConsumerDeps): GatewayEventsConsumer {
  const { eventLog, group, watcher, budgets, memory, metrics } = deps;
  const sessions = createPartitionSessions(deps);
  const evaluator = createBatchEvaluator({ ...deps, sessions, deadLetters: group.deadLetters });
  const knowRules = createRuleRefresh(watcher);

  async function handle(batch: RecordBatch, stored: (position: number) => void): Promise<void> {
    const { partition, records } = batch;
    metrics.waiting(partition, records[0]!.appendedAt);
    await knowRules(batch);
    await budgets.learn(new Set(records.map(({ key }) => key)));
    try {
      await sessions.inTurn(partition, () => evaluator.evaluate(batch, stored));
    } catch (error) {
      if (error instanceof RefusedSave) await evaluator.giveUp(batch, error);
      throw error;
    }
    const atEnd = batch.nextOffset >= batch.endOffset;
    metrics.waiting(partition, atEnd ? null : records.at(-1)!.appendedAt);
  }

  /** Saves the session unless another replica may own the partition: the save would invalidate its progress. */
  function released({ partition, lost }: ReleasedPartition): Promise<void> {
    return sessions
      .inTurn(partition, async () => {
        const session = sessions.get(partition);
        if (!lost && session !== undefined) await evaluator.save(partition, session);
        sessions.drop(partition);
      })
      .finally(() => metrics.released(partition));
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
      const saves = sessions.partitions().map((partition) =>
        sessions.inTurn(partition, async () => {
          const session = sessions.get(partition);
          if (session === undefined) return;
          await session.takeBack();
          if (session.atEnd === true || session.saveDue) await evaluator.save(partition, session);
        }),
      );
      await Promise.all(saves);
    },
    async impaired() {
      await consumer.impaired?.();
      await memory.impaired();
    },
    async hasEvaluated(partition, offset) {
      await sessions.inTurn(partition, async () => {
        const session = sessions.get(partition);
        if (session !== undefined && (session.position ?? 0) >= offset) await evaluator.save(partition, session);
      });
      return ((await group.offsets.position(GATEWAY_EVENTS_TOPIC, partition)) ?? 0) >= offset;
    },
  };
}
