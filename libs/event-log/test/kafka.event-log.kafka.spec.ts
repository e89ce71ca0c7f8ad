import { createMetrics, type Component } from '@tollkeeper/runtime';
import { testLogger, useKafka } from '@tollkeeper/testing';
import { createKafkaEventLog } from '../src/index.ts';
import { describeEventLogConformance } from './event-log.conformance.ts';

const kafka = useKafka();

describeEventLogConformance('Apache Kafka', async () => {
  const { logger } = testLogger();
  const opened: Component[] = [];
  return {
    async openLog() {
      const log = createKafkaEventLog({
        brokers: [kafka.brokers],
        clientId: 'conformance',
        replicationFactor: 1,
        logger,
        metrics: createMetrics('test'),
        sessionTimeoutMs: 2_000,
      });
      await log.start();
      opened.unshift(log);
      return log;
    },
    async close() {
      for (const component of opened) await component.stop();
    },
  };
});
