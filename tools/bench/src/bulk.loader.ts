import { createStores, recordEvents, toDashboardEvent, withTracked } from '@tollkeeper/dashboard';
import type { TenantId } from '@tollkeeper/kernel';
import { ensureIndexes } from '@tollkeeper/mongo';
import { createConnection } from 'mongoose';
import { generateBatches, LABELS, type GeneratedTraffic } from './event.generator.ts';

export interface BulkTarget {
  uri: string;
  database: string;
  retentionSeconds: number;
}

const BATCH = 10_000;

/**
 * Writes the traffic of one workspace directly into a dashboard's database. The documents are made by the functions of
 * the consumer, but without the log or transactions, in batches of {@link BATCH}, and without a check for known events
 * (each is generated once).
 */
export async function loadInBulk(
  target: BulkTarget,
  tenantId: TenantId,
  traffic: GeneratedTraffic,
  onProgress: (loaded: number) => void = () => undefined,
): Promise<void> {
  const { uri, database, retentionSeconds } = target;
  const connection = createConnection(uri, { dbName: database, autoIndex: false, autoCreate: false });
  const { recorder } = createStores(connection, retentionSeconds);
  await connection.asPromise();
  try {
    // The look-up of known starts of runs needs an index.
    await ensureIndexes(Object.values(connection.models));
    const fresh = { ...recorder, knownIdentities: async () => new Map<string, undefined>() };
    const tracked = Object.keys(LABELS);
    let loaded = 0;
    for (const events of generateBatches(traffic, BATCH)) {
      const receivedAt = new Date().toISOString();
      const batch = events.map((event) => withTracked(toDashboardEvent({ tenantId, receivedAt, event }), tracked));
      loaded += (await recordEvents(fresh, undefined, batch)).counted;
      onProgress(loaded);
    }
  } finally {
    await connection.close();
  }
}
