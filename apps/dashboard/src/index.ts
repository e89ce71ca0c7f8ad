export { type DashboardConfig, dashboardConfig } from './config.ts';
export { createDashboard, type DashboardDeps, type DashboardService } from './dashboard.service.ts';
// For tools that fill a dashboard without the log. They make the same documents, with the same functions.
export { toDashboardEvent } from './consumers/gateway-events.consumer.ts';
export { recordEvents } from './domain/record-events.ts';
export { withTracked } from './domain/tracked-labels.ts';
export { createStores } from './store/stores.ts';
