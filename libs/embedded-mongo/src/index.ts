export { DataDirectoryInUseError } from './data-directory.lock.ts';
export { findMongod, MongodNotFoundError } from './mongod.binary.ts';
export { type EmbeddedMongo, type EmbeddedMongoOptions, startEmbeddedMongo } from './embedded-mongo.ts';
export type { MongoMember } from './mongo.member.ts';
