import { randomUUID } from 'node:crypto';
import { KAFKA_BROKERS_VARIABLE } from './kafka.variable.ts';

/** A suite's share of the run's Kafka. */
export interface TestKafka {
  /** `host:port`, for `KAFKA_BROKERS`. The cluster has one broker. */
  readonly brokers: string;
  /** A unique name for a topic or a group. */
  newName(prefix: string): string;
}

/**
 * A real Apache Kafka and a `mongod` for `useMongo()`, for a suite that calls this at its top level. All suites of a
 * jest run share them. The project's jest.integration.config.js must spread `jest-kafka.preset.js`, and the suite must
 * be named `*.kafka.spec.ts`.
 */
export function useKafka(): TestKafka {
  const brokers = process.env[KAFKA_BROKERS_VARIABLE];
  if (!brokers) {
    throw new Error(
      'No Kafka runs: spread @tollkeeper/testing/jest-kafka.preset.js in the jest.integration.config.js of this project.',
    );
  }
  return { brokers, newName: (prefix) => `${prefix}-${randomUUID()}` };
}
