import type { Metrics, Tracer } from '@tollkeeper/runtime';
import type { ConsumerOptions, EventLog, LogRecord } from './event-log.ts';
import { appendTraced, handleTraced } from './tracing.ts';

export interface InstrumentOptions {
  metrics: Metrics;
  tracer?: Tracer | undefined;
}

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Adds metrics and traces of one service to a log with any adapter. The metrics time appends and handled batches. With
 * a tracer, records carry their trace. Wrap the log once per service. Start and stop the log itself.
 */
export function instrumentEventLog(log: EventLog, { metrics, tracer }: InstrumentOptions): EventLog {
  const appendDuration = metrics.histogram({
    name: 'event_log_append_duration_seconds',
    help: 'Time until appended records are durable, by outcome: appended, failed',
    labelNames: ['topic', 'outcome'],
    buckets: BUCKETS,
  });
  const handleDuration = metrics.histogram({
    name: 'event_log_handle_duration_seconds',
    help: 'Time to handle a batch, by outcome: applied, rejected',
    labelNames: ['group', 'topic', 'outcome'],
    buckets: BUCKETS,
  });

  async function append(topic: string, records: readonly LogRecord[]): Promise<void> {
    const startedAt = performance.now();
    const observe = (outcome: string): void =>
      appendDuration.observe({ topic, outcome }, (performance.now() - startedAt) / 1000);
    try {
      await (tracer === undefined ? log.append(topic, records) : appendTraced(tracer, log, topic, records));
      observe('appended');
    } catch (error) {
      observe('failed');
      throw error;
    }
  }

  function instrumentHandler({ group, topic, handler }: ConsumerOptions): ConsumerOptions['handler'] {
    const handle = tracer === undefined ? handler.handle : handleTraced(tracer, group, handler.handle);
    return {
      ...handler,
      async handle(batch, stored) {
        const startedAt = performance.now();
        const observe = (outcome: string): void =>
          handleDuration.observe({ group, topic, outcome }, (performance.now() - startedAt) / 1000);
        try {
          await handle(batch, stored);
          observe('applied');
        } catch (error) {
          observe('rejected');
          throw error;
        }
      },
    };
  }

  return {
    ...log,
    append,
    consumer: (options) => log.consumer({ ...options, handler: instrumentHandler(options) }),
  };
}
