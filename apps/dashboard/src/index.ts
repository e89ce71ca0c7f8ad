export { type DashboardConfig, dashboardConfig } from './config.ts';
export { createDashboard, type DashboardDeps, type DashboardService } from './dashboard.service.ts';
// For tools that fill a dashboard without the log, with the same functions and so the same documents.
export { toDashboardEvent } from './consumers/gateway-events.consumer.ts';
export { recordEvents } from './domain/record-events.ts';
export { createChunkStore } from './store/chunk.store.ts';
export { createEventRecorder } from './store/event.recorder.ts';
export { createEventStore } from './store/event.store.ts';
export { createRollupStore } from './store/rollup.store.ts';
export { createRunStore } from './store/run.store.ts';
