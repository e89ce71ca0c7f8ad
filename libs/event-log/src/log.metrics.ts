import type { Metrics } from '@tollkeeper/runtime';

export type LogMetrics = ReturnType<typeof createLogMetrics>;

export function createLogMetrics(metrics: Metrics) {
  return {
    appended: metrics.counter({
      name: 'event_log_appended_records_total',
      help: 'Records that this process appended durably',
      labelNames: ['topic'],
    }),
    appendFailures: metrics.counter({
      name: 'event_log_append_failed_records_total',
      help: 'Records whose append was rejected by the storage',
      labelNames: ['topic'],
    }),
    consumed: metrics.counter({
      name: 'event_log_consumed_records_total',
      help: 'Records that a handler of this process applied',
      labelNames: ['group', 'topic', 'partition'],
    }),
    redeliveries: metrics.counter({
      name: 'event_log_redeliveries_total',
      help: 'Failures after which a partition is read again from its position, such as a batch that its handler rejected',
      labelNames: ['group', 'topic', 'partition'],
    }),
    skipped: metrics.counter({
      name: 'event_log_skipped_records_total',
      help: 'Records that were gone, or never there, before the group read them',
      labelNames: ['group', 'topic'],
    }),
    lag: metrics.gauge({
      name: 'event_log_lag_records',
      help: 'Records that wait to be applied, for the partitions that this process owns',
      labelNames: ['group', 'topic', 'partition'],
    }),
    diskFull: metrics.gauge({
      name: 'event_log_disk_full',
      help: '1 while appends of this process are refused because the disk of MongoDB is almost full',
    }),
    standstill: metrics.gauge({
      name: 'event_log_standstill_seconds',
      help: 'Time since a group last progressed in a partition of this process that has work to do; 0 without work',
      labelNames: ['group', 'topic', 'partition'],
    }),
  };
}
