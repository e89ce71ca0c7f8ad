export { type EventuallyOptions, eventually } from './eventually.ts';
export { type TestLogger, testLogger } from './logger.ts';
export { type TestMongo, useMongo } from './mongo.ts';
export { type AnswerToCheck, type OpenApiDocument, expectMatchesOpenApi } from './openapi.ts';
