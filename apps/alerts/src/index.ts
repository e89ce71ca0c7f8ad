export { type AlertsDeps, type AlertsService, createAlerts } from './alerts.service.ts';
export { type AlertsConfig, alertsConfig } from './config.ts';
