import { useKafka } from '@tollkeeper/testing';
import { createKafkaEventLog } from '../src/index.ts';
import { describeDeadLetters } from './dead-letters.contract.ts';

const kafka = useKafka();

describeDeadLetters('Apache Kafka', (deps) => ({
  eventLog: createKafkaEventLog({
    ...deps,
    brokers: [kafka.brokers],
    clientId: 'dead-letters',
    replicationFactor: 1,
    sessionTimeoutMs: 2_000,
  }),
  before: [],
}));
