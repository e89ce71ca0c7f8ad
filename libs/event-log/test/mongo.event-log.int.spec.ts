import { connectMongo } from '@tollkeeper/mongo';
import { createMetrics, type Component } from '@tollkeeper/runtime';
import { testLogger, useMongo } from '@tollkeeper/testing';
import { createMongoEventLog } from '../src/index.ts';
import { describeEventLogConformance } from './event-log.conformance.ts';

const mongo = useMongo();

describeEventLogConformance('MongoDB', async () => {
  const { logger } = testLogger();
  const opened: Component[] = [];
  return {
    async openLog() {
      const connection = connectMongo({ uri: mongo.uri, database: mongo.database, logger });
      const log = createMongoEventLog({
        connection: connection.connection,
        logger,
        metrics: createMetrics('test'),
        leaseMs: 800,
        pollIntervalMs: 50,
      });
      for (const component of [connection, log]) {
        await component.start();
        opened.unshift(component);
      }
      return log;
    },
    async close() {
      for (const component of opened) await component.stop();
    },
  };
});
