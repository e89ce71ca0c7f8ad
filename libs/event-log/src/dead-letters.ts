import type { Logger, Metrics } from '@tollkeeper/runtime';
import { type EventLog, type LogRecord, MAX_RECORD_BYTES, type ReadRecord, type RecordBatch } from './event-log.ts';
import { sizeOf } from './log.records.ts';

/** Sets aside records that can never be applied, so that later records can be. */
export interface DeadLetters {
  /**
   * Appends the record to `<topic>.dead` with the headers `dead-reason`, `dead-group` (who could not apply it),
   * `dead-topic`, `dead-partition` and `dead-offset`. The record stays unchanged if every log can store it. Otherwise
   * its value is cut to {@link MAX_RECORD_BYTES} with its length in `dead-value-bytes`, and a missing key or too many
   * headers are replaced.
   *
   * Call it before the batch's position is stored. Then a crash in between leads to a second copy, never to a loss.
   */
  setAside(source: Pick<RecordBatch, 'topic' | 'partition'>, record: ReadRecord, reason: string): Promise<void>;
}

const DAY_MS = 86_400_000;
const MAX_REASON_LENGTH = 500;
const MAX_KEY_LENGTH = 256;
/**
 * Maximum bytes of the record's own headers. Kafka's limit exceeds {@link MAX_RECORD_BYTES}, which leaves room for
 * these and for the headers that are added here.
 */
const MAX_HEADERS_BYTES = 16 * 1024;

/**
 * Counts dead letters in `event_log_dead_letters_total`, by source topic. Make one per service. Each group sets aside
 * its own copy of a record, because another service or version may be able to read it.
 */
export function createDeadLetters(deps: {
  eventLog: EventLog;
  /** The consumer group of the service. */
  group: string;
  metrics: Metrics;
  logger: Logger;
  /** How long dead letters are kept for operators. */
  retentionMs?: number;
}): DeadLetters {
  const { eventLog, group, logger, retentionMs = 30 * DAY_MS } = deps;
  const ensured = new Set<string>();
  const setAsideTotal = deps.metrics.counter({
    name: 'event_log_dead_letters_total',
    help: 'Records that could not be read or applied and became dead letters',
    labelNames: ['topic'],
  });

  return {
    async setAside({ topic, partition }, record, reason) {
      const deadTopic = `${topic}.dead`;
      if (!ensured.has(deadTopic)) await eventLog.ensureTopic({ name: deadTopic, partitions: 1, retentionMs });
      ensured.add(deadTopic);
      const origin = {
        'dead-reason': reason.slice(0, MAX_REASON_LENGTH),
        'dead-group': group,
        'dead-topic': topic,
        'dead-partition': String(partition),
        'dead-offset': String(record.offset),
      };
      await eventLog.append(deadTopic, [toDeadLetter(record, origin)]);
      setAsideTotal.inc({ topic });
      const { offset } = record;
      logger.error({ topic, partition, offset, reason: origin['dead-reason'] }, `record set aside in ${deadTopic}`);
    },
  };
}

/**
 * A record that every log accepts. Other programs can write any record to a topic, and a dead letter that the log
 * refuses would stop the partition indefinitely.
 */
function toDeadLetter({ key, value, headers = {} }: ReadRecord, origin: Record<string, string>): LogRecord {
  const tooLong = value.length > MAX_RECORD_BYTES;
  const kept = sizeOf({ key: '', value: Buffer.alloc(0), headers }) <= MAX_HEADERS_BYTES ? headers : {};
  return {
    key: key.slice(0, MAX_KEY_LENGTH) || 'none',
    value: tooLong ? value.subarray(0, MAX_RECORD_BYTES) : value,
    headers: { ...kept, ...origin, ...(tooLong && { 'dead-value-bytes': String(value.length) }) },
  };
}
