export * from './event-log.ts';
export { createMongoEventLog, type MongoEventLogOptions } from './mongo/mongo.event-log.ts';
