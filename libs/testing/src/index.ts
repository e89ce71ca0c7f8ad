export { type BreakableMongo, useBreakableMongo } from './breakable-mongo.ts';
export { type EventuallyOptions, eventually } from './eventually.ts';
export { type TestKafka, useKafka } from './kafka.ts';
export { createKeysStandIn } from './keys.stand-in.ts';
export { type TestLogger, testLogger } from './logger.ts';
export { type TestMongo, useMongo } from './mongo.ts';
export { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from './otlp.receiver.ts';
export { type AnswerToCheck, type OpenApiDocument, expectMatchesOpenApi } from './openapi.ts';
export { CALLER_TOKEN_SECRET, createPeers, type Peers } from './peers.ts';
