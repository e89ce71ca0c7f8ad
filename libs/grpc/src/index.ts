export { createServerTelemetry } from './call.telemetry.ts';
export * from './fair.room.ts';
export * from './grpc-client.ts';
export * from './grpc-server.ts';
export * from './grpc-service.ts';
export * from './questions.ts';
export * from './status.ts';
export * from './unary.ts';
