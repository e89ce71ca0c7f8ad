import { encodeGatewayEvent, GATEWAY_EVENTS_TOPIC, GATEWAY_EVENTS_TOPIC_OPTIONS } from '@tollkeeper/contracts';
import { createDashboard, dashboardConfig } from '@tollkeeper/dashboard';
import { createConfiguredEventLog } from '@tollkeeper/event-log';
import { provenTenantId } from '@tollkeeper/kernel';
import { createMetrics, loadConfig } from '@tollkeeper/runtime';
import { eventually, testLogger, useMongo } from '@tollkeeper/testing';
import { describe, expect, it } from '@jest/globals';
import { loadInBulk } from '../src/bulk.loader.ts';
import { generateBatches } from '../src/event.generator.ts';

const mongo = useMongo();
const tenantId = provenTenantId('ws_bench');
const end = Date.now();
const traffic = { count: 3_000, start: end - 3 * 86_400_000, end };

describe('the bulk path of the benchmark', () => {
  it('writes the documents that the consumer of the log writes', async () => {
    const { logger } = testLogger();
    const [consumed, loaded, log] = [mongo.newDatabase(), mongo.newDatabase(), mongo.newDatabase()];
    const config = loadConfig(dashboardConfig, {
      ...{ HOST: '127.0.0.1', HTTP_PORT: '0', GRPC_PORT: '0', MONGODB_URI: mongo.uri, MONGODB_DATABASE: consumed },
      ...{ CALLER_TOKEN_SECRET: 'x'.repeat(32), IDENTITY_GRPC: '127.0.0.1:1' },
      ...{ BUDGETS_GRPC: '127.0.0.1:1', ENFORCER_GRPC: '127.0.0.1:1' },
      CHANNEL_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
    });
    const metrics = createMetrics('bench');
    const eventLog = createConfiguredEventLog({
      config: { EVENT_LOG_MONGODB_URI: mongo.uri, EVENT_LOG_DATABASE: log },
      logger,
      metrics,
    });
    const dashboard = createDashboard({ config, eventLog, logger, metrics });
    await eventLog.start();
    // Otherwise the dashboard creates it in the background.
    await eventLog.ensureTopic(GATEWAY_EVENTS_TOPIC_OPTIONS);
    await dashboard.start();
    const receivedAt = new Date().toISOString();
    for (const events of generateBatches(traffic, 1_000)) {
      const records = events.map((event) => encodeGatewayEvent({ tenantId, receivedAt, event }));
      await eventLog.append(GATEWAY_EVENTS_TOPIC, records);
    }
    await eventually(async () => expect(await dashboard.lag()).toBe(0));
    await dashboard.stop();
    await eventLog.stop();

    const { RETENTION_SECONDS: retentionSeconds } = config;
    await loadInBulk({ uri: mongo.uri, database: loaded, retentionSeconds }, tenantId, traffic);
    const inBoth = (collection: string) =>
      [consumed, loaded].map((database) => mongo.connection.getClient().db(database).collection(collection));
    for (const collection of ['blocked_events', 'names', 'rollups']) {
      const [expected, actual] = await Promise.all(
        inBoth(collection).map((documents) => documents.find().sort({ _id: 1 }).toArray()),
      );
      expect(expected?.length).toBeGreaterThan(0);
      expect(actual).toEqual(expected);
    }
    // Batches and chunks differ, but not their contents.
    const [expected, actual] = await Promise.all(
      inBoth('chunks').map(async (chunks) => {
        const stored = await chunks.find().toArray();
        const sum = stored.reduce((size, chunk) => size + Number(chunk['size']), 0);
        return { sum, keys: stored.flatMap((chunk) => chunk['keys'] as string[]).sort() };
      }),
    );
    expect(expected?.sum).toBeGreaterThan(0);
    expect(actual).toEqual(expected);
  });
});
