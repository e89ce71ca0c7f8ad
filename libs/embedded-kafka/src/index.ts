export { type KafkaBroker, type KafkaOptions, prepareKafka, startKafka } from './kafka.broker.ts';
export type { KafkaSecurity } from './server.properties.ts';
