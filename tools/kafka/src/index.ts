export { type KafkaBroker, type KafkaOptions, startKafka } from './kafka.broker.ts';
export type { KafkaSecurity } from './server.properties.ts';
