export { type DashboardConfig, dashboardConfig } from './config.ts';
export { createDashboard, type DashboardDeps, type DashboardService } from './dashboard.service.ts';
