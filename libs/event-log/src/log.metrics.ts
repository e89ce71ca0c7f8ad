import type { Metrics } from '@tollkeeper/runtime';

export type LogMetrics = ReturnType<typeof createLogMetrics>;

export function createLogMetrics(metrics: Metrics) {
  return {
    appended: metrics.counter({
      name: 'event_log_appended_records_total',
      help: 'Records appended durably',
      labelNames: ['topic'],
    }),
    appendFailures: metrics.counter({
      name: 'event_log_append_failed_records_total',
      help: 'Records that could not be appended',
      labelNames: ['topic'],
    }),
    consumed: metrics.counter({
      name: 'event_log_consumed_records_total',
      help: 'Records applied or deferred by a consumer',
      labelNames: ['group', 'topic', 'partition'],
    }),
    redeliveries: metrics.counter({
      name: 'event_log_redeliveries_total',
      help: 'Failures after which a partition is read again from its stored offset',
      labelNames: ['group', 'topic', 'partition'],
    }),
    skipped: metrics.counter({
      name: 'event_log_skipped_records_total',
      help: 'Records missing from the log when the group read it',
      labelNames: ['group', 'topic'],
    }),
    lag: metrics.gauge({
      name: 'event_log_lag_records',
      help: 'Records waiting to be applied in the partitions of this process',
      labelNames: ['group', 'topic', 'partition'],
    }),
    diskFull: metrics.gauge({
      name: 'event_log_disk_full',
      help: '1 while appends are refused because the disk of MongoDB is almost full; otherwise 0',
    }),
    standstill: metrics.gauge({
      name: 'event_log_standstill_seconds',
      help: 'Seconds since a partition with waiting records last made progress; otherwise 0',
      labelNames: ['group', 'topic', 'partition'],
    }),
  };
}
