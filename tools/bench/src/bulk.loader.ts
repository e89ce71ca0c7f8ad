import {
  createBucketStore,
  createEventRecorder,
  createEventStore,
  createRunStore,
  recordEvents,
  toDashboardEvent,
} from '@tollkeeper/dashboard';
import type { TenantId } from '@tollkeeper/kernel';
import { connectMongo } from '@tollkeeper/mongo';
import type { Logger } from '@tollkeeper/runtime';
import { generateBatches, type GeneratedTraffic } from './event.generator.ts';

export interface BulkTarget {
  uri: string;
  database: string;
  retentionSeconds: number;
  logger: Logger;
}

const BATCH = 10_000;

/**
 * Writes the traffic of one workspace straight into a dashboard's database: the documents that the consumer of the log would
 * write, made by the same functions, but without the log, without transactions, in batches of {@link BATCH}, and without
 * asking which events are known, since each is generated once.
 */
export async function loadInBulk(
  target: BulkTarget,
  tenantId: TenantId,
  traffic: GeneratedTraffic,
  onProgress: (loaded: number) => void = () => undefined,
): Promise<void> {
  const mongo = connectMongo(target);
  const recorder = createEventRecorder({
    events: createEventStore(mongo.connection, target.retentionSeconds),
    runs: createRunStore(mongo.connection, target.retentionSeconds),
    buckets: createBucketStore(mongo.connection, target.retentionSeconds),
  });
  await mongo.start();
  try {
    const fresh = { ...recorder, knownIdentities: async () => new Set<string>() };
    let loaded = 0;
    for (const events of generateBatches(traffic, BATCH)) {
      const receivedAt = new Date().toISOString();
      const batch = events.map((event) => toDashboardEvent({ tenantId, receivedAt, event }));
      loaded += await recordEvents(fresh, undefined, batch);
      onProgress(loaded);
    }
  } finally {
    await mongo.stop();
  }
}
