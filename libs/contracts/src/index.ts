export * from './alert-records.ts';
export * from './api/alert.ts';
export * from './api/primitives.ts';
export * from './event-record.ts';
export { eventType } from './event-schemas.ts';
export * from './events.ts';
export * from './services.ts';
export * from './validation.ts';
export * from './workspace-key.ts';
