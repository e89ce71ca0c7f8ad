import type { Logger, Metrics } from '@tollkeeper/runtime';
import type { EventLog, ReadRecord, RecordBatch } from './event-log.ts';

/** Where records go that can never be applied, so that those behind them can be. */
export interface DeadLetters {
  /**
   * Appends the record to `<topic>.dead` as it is, with the headers `dead-reason`, `dead-topic`, `dead-partition` and `dead-offset`.
   * Call it before the batch's position is stored: a crash in between sets the record aside twice, never not at all.
   */
  setAside(source: Pick<RecordBatch, 'topic' | 'partition'>, record: ReadRecord, reason: string): Promise<void>;
}

const DAY_MS = 86_400_000;
const MAX_REASON_LENGTH = 500;

/** Counts what it sets aside in `event_log_dead_letters_total`, by source topic. Make one per service. */
export function createDeadLetters(deps: {
  eventLog: EventLog;
  metrics: Metrics;
  logger: Logger;
  /** How long dead letters are kept for somebody to look at them. */
  retentionMs?: number;
}): DeadLetters {
  const { eventLog, logger, retentionMs = 30 * DAY_MS } = deps;
  const ensured = new Set<string>();
  const setAsideTotal = deps.metrics.counter({
    name: 'event_log_dead_letters_total',
    help: 'Records that could not be read and were set aside',
    labelNames: ['topic'],
  });

  return {
    async setAside({ topic, partition }, { key, value, headers, offset }, reason) {
      const deadTopic = `${topic}.dead`;
      if (!ensured.has(deadTopic)) await eventLog.ensureTopic({ name: deadTopic, partitions: 1, retentionMs });
      ensured.add(deadTopic);
      const origin = {
        'dead-reason': reason.slice(0, MAX_REASON_LENGTH),
        'dead-topic': topic,
        'dead-partition': String(partition),
        'dead-offset': String(offset),
      };
      await eventLog.append(deadTopic, [{ key, value, headers: { ...headers, ...origin } }]);
      setAsideTotal.inc({ topic });
      logger.error({ topic, partition, offset, reason: origin['dead-reason'] }, `record set aside in ${deadTopic}`);
    },
  };
}
