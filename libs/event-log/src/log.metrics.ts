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
      labelNames: ['group', 'topic'],
    }),
    redeliveries: metrics.counter({
      name: 'event_log_redeliveries_total',
      help: 'Batches that a handler rejected and that are delivered again',
      labelNames: ['group', 'topic'],
    }),
    lag: metrics.gauge({
      name: 'event_log_lag_records',
      help: 'Records that wait to be applied, for the partitions that this process owns',
      labelNames: ['group', 'topic', 'partition'],
    }),
  };
}
