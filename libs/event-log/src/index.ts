export { createConfiguredEventLog, type EventLogConfig, eventLogConfig } from './configured.event-log.ts';
export { type ConflictPatience, createConflictPatience } from './conflict.patience.ts';
export { type ConsumerGroup, createConsumerGroup } from './consumer.group.ts';
export * from './dead-letters.ts';
export * from './event-log.ts';
export { type InstrumentOptions, instrumentEventLog } from './instrumented.event-log.ts';
export { kafkaFields } from './kafka/kafka.config.ts';
export { createKafkaEventLog, type KafkaEventLogOptions } from './kafka/kafka.event-log.ts';
export { createMongoEventLog, type MongoEventLogOptions } from './mongo/mongo.event-log.ts';
