import { AUDIT_TOPIC_OPTIONS, decodeAuditRecord } from '@tollkeeper/contracts';
import type { ConsumerGroup, LogConsumer } from '@tollkeeper/event-log';
import type { Clock } from '@tollkeeper/kernel';
import type { Metrics } from '@tollkeeper/runtime';
import type { RecordStore } from '../store/record.store.ts';

/** The consumer group of the replicas. Offsets are stored under this name. */
export const CONSUMER_GROUP = 'audit';

/** Adds each record of the log to the chain of its workspace, exactly once. */
export function createAuditRecordsConsumer(deps: {
  group: ConsumerGroup;
  records: Pick<RecordStore, 'append'>;
  metrics: Metrics;
  clock: Clock;
}): LogConsumer {
  const { group, records, metrics, clock } = deps;
  const recordsTotal = metrics.counter({
    name: 'audit_records_total',
    help: 'Records read from the log, by outcome',
    labelNames: ['outcome'],
  });

  return group.consumer({
    topic: AUDIT_TOPIC_OPTIONS,
    decode: ({ value }) => decodeAuditRecord(value),
    apply: (session, items) => records.append(session, items, clock()),
    applied(added, items) {
      recordsTotal.inc({ outcome: 'recorded' }, added);
      recordsTotal.inc({ outcome: 'duplicate' }, items.length - added);
    },
  });
}
