export { type EnforcerConfig, enforcerConfig } from './config.ts';
export { createEnforcer, type EnforcerDeps, type EnforcerService } from './enforcer.service.ts';
export type { Reservations } from './domain/enforcement.ts';
