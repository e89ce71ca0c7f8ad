export { DataDirectoryInUseError } from './data-directory.lock.ts';
export { MongodNotFoundError, defaultCacheDirectory } from './mongod.binary.ts';
export { type EmbeddedMongo, type EmbeddedMongoOptions, startEmbeddedMongo } from './embedded-mongo.ts';
