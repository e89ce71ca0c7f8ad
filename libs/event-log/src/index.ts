export { createConfiguredEventLog, eventLogConfig } from './configured.event-log.ts';
export * from './dead-letters.ts';
export * from './event-log.ts';
export { createMongoEventLog, type MongoEventLogOptions } from './mongo/mongo.event-log.ts';
