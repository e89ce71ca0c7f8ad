import { afterAll, beforeAll } from '@jest/globals';
import { createConfiguredEventLog, type EventLog } from '@tollkeeper/event-log';
import { createMetrics, loadConfig } from '@tollkeeper/runtime';
import { CALLER_TOKEN_SECRET, createPeers, testLogger, type TestMongo } from '@tollkeeper/testing';
import { createEnforcer, enforcerConfig, type EnforcerService } from '../src/index.ts';

/** The service on a real mongod, before peers that answer no call yet. */
export function useEnforcer(mongo: TestMongo) {
  const { logger } = testLogger();
  const database = mongo.newDatabase();
  const peers = createPeers(logger, []);
  const logDatabase = mongo.newDatabase();
  let eventLog: EventLog;
  let service: EnforcerService;

  beforeAll(async () => {
    await peers.start();
    const config = loadConfig(enforcerConfig, {
      HOST: '127.0.0.1',
      HTTP_PORT: '0',
      GRPC_PORT: '0',
      MONGODB_URI: mongo.uri,
      MONGODB_DATABASE: database,
      CALLER_TOKEN_SECRET,
      KEYS_GRPC: peers.address,
      BUDGETS_GRPC: peers.address,
      IDENTITY_GRPC: peers.address,
    });
    const metrics = createMetrics('enforcer');
    eventLog = createConfiguredEventLog({
      config: { EVENT_LOG_MONGODB_URI: mongo.uri, EVENT_LOG_DATABASE: logDatabase },
      logger,
      metrics,
    });
    await eventLog.start();
    service = createEnforcer({ config, logger, metrics, eventLog });
    await service.start();
  });
  afterAll(async () => {
    await service.stop();
    await eventLog.stop();
    await peers.stop();
  });
  return { service: () => service };
}
