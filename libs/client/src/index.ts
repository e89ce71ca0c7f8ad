export type { EventReporter, GatewayEvent, ReportedEvent, ReporterOptions } from './event.reporter.ts';
export type { Operations } from './gen/operations.gen.ts';
export type * as Api from './gen/types.gen.ts';
export { type ApiAnswer, type ApiInput, createManagementApi, type ManagementApi } from './management.api.ts';
export type { ManagementApiOptions } from './management.api.ts';
export { createTollkeeper } from './tollkeeper.client.ts';
export type { AllowedCall, CallOptions, ReserveOptions, SettleOptions } from './tollkeeper.client.ts';
export type { DeniedCall, Tollkeeper, TollkeeperOptions } from './tollkeeper.client.ts';
export { TollkeeperError, TollkeeperUnavailable } from './tollkeeper.error.ts';
