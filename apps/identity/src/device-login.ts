import type { Route } from '@tollkeeper/http';
import type { Clock } from '@tollkeeper/kernel';
import type { Component } from '@tollkeeper/runtime';
import type { IdentityConfig } from './config.ts';
import type { AuthUseCases } from './domain/auth.use-cases.ts';
import { createDeviceLoginUseCases } from './domain/device-login.use-cases.ts';
import { createDeviceRoutes } from './http/device.routes.ts';
import type { AccountTrail } from './store/account.trail.ts';
import { createAttemptLimiter } from './store/attempt.limiter.ts';
import { createDeviceLoginStore } from './store/device-login.store.ts';
import type { IdentityModels } from './store/models.ts';

export interface DeviceLoginParts {
  config: IdentityConfig;
  models: IdentityModels;
  accounts: AccountTrail;
  auth: AuthUseCases;
  clock: Clock;
}

/** Log-ins of programs that people confirm: the routes, and the parts to start and stop. */
export function createDeviceLogin({ config, models, accounts, auth, clock }: DeviceLoginParts): {
  routes: Route[];
  parts: Component[];
} {
  const limiter = createAttemptLimiter(models.connection, 'device');
  const logins = createDeviceLoginStore(models, accounts);
  const useCases = createDeviceLoginUseCases({ logins, auth, limiter, clock });
  return { routes: createDeviceRoutes(useCases, config.PUBLIC_URL), parts: [limiter] };
}
