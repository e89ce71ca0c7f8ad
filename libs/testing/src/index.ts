export { type EventuallyOptions, eventually } from './eventually.ts';
export { type TestMongo, useMongo } from './mongo.ts';
