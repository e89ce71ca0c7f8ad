import type { GatewayEvent } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { connectMongo } from '@tollkeeper/mongo';
import { createLogger } from '@tollkeeper/runtime';
import type { RuleSettings } from './rule.settings.ts';

export interface CountQueriesOptions {
  mongodbUri: string;
  events: Iterable<{ tenantId: TenantId; event: GatewayEvent }>;
  /** The rules of every workspace. */
  rules: readonly RuleSettings[];
}

/**
 * Events per second of an evaluation without windows: it stores every event, and for each matching rule counts the
 * events in the window with an indexed query.
 */
export async function rateOfCountQueries({ mongodbUri, events, rules }: CountQueriesOptions): Promise<number> {
  const logger = createLogger({ service: 'bench', level: 'warn' });
  const mongo = connectMongo({ uri: mongodbUri, database: 'count_queries', logger });
  await mongo.start();
  try {
    const stored = mongo.connection.collection('events');
    await stored.createIndex({ tenantId: 1, type: 1, time: 1 });
    const startedAt = performance.now();
    let count = 0;
    for (const { tenantId, event } of events) {
      const time = new Date(event.time);
      await stored.insertOne({ tenantId, type: event.type, time }, { writeConcern: { w: 1 } });
      for (const { eventType, windowSeconds } of rules) {
        if (eventType !== event.type) continue;
        const windowStart = new Date(time.getTime() - windowSeconds * 1_000);
        await stored.countDocuments({ tenantId, type: eventType, time: { $gt: windowStart, $lte: time } });
      }
      count += 1;
    }
    return count / ((performance.now() - startedAt) / 1_000);
  } finally {
    await mongo.stop();
  }
}
