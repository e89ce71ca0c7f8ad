import { setTimeout as delay } from 'node:timers/promises';
import { GATEWAY_EVENTS_TOPIC } from '@tollkeeper/contracts';
import type { EventLog } from '@tollkeeper/event-log';
import type { Component } from '@tollkeeper/runtime';
import { createStopwatch, type Run } from './stopwatch.ts';

/** A service that consumes the events of a log. */
export interface ConsumingService extends Component {
  /** Records that are not applied, or not stored as applied, yet. */
  lag(): Promise<number>;
}

/**
 * Measures from the first events that the service receives until all are applied and stored. The service stays running,
 * and gets no requests until it has received everything.
 */
export async function runService<T extends ConsumingService>(
  eventLog: EventLog,
  create: (eventLog: EventLog) => T,
  eventCount: number,
): Promise<Run & { service: T }> {
  const stopwatch = createStopwatch();
  const handed = Promise.withResolvers<void>();
  let records = 0;
  const service = create(
    watchedLog(eventLog, (count) => {
      stopwatch.start();
      records += count;
      if (records >= eventCount) handed.resolve();
    }),
  );
  await service.start();
  await handed.promise;
  while ((await service.lag()) > 0) await delay(20);
  return { ...stopwatch.read(eventCount), service };
}

/** A log that reports how many events it passes on. */
function watchedLog(eventLog: EventLog, onHanded: (records: number) => void): EventLog {
  return {
    ...eventLog,
    consumer(options) {
      if (options.topic !== GATEWAY_EVENTS_TOPIC) return eventLog.consumer(options);
      const handle: typeof options.handler.handle = (batch, stored) => {
        onHanded(batch.records.length);
        return options.handler.handle(batch, stored);
      };
      return eventLog.consumer({ ...options, handler: { ...options.handler, handle } });
    },
  };
}

/** A consumer of the same log that only parses each event. */
export async function runBareConsumer(eventLog: EventLog, eventCount: number): Promise<Run> {
  const positions = new Map<number, number>();
  const finished = Promise.withResolvers<void>();
  const stopwatch = createStopwatch();
  let read = 0;
  const consumer = eventLog.consumer({
    group: 'bare',
    topic: GATEWAY_EVENTS_TOPIC,
    maxRecords: 2_000,
    handler: {
      position: async (_topic, partition) => positions.get(partition) ?? null,
      async handle({ partition, records, nextOffset }) {
        stopwatch.start();
        for (const { value } of records) JSON.parse(value.toString());
        positions.set(partition, nextOffset);
        read += records.length;
        if (read === eventCount) finished.resolve();
      },
    },
  });
  await consumer.start();
  await finished.promise;
  const run = stopwatch.read(eventCount);
  await consumer.stop();
  return run;
}
