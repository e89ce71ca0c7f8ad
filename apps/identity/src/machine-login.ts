import type { AuditTrail } from '@tollkeeper/audit-trail';
import type { Route } from '@tollkeeper/http';
import type { Clock } from '@tollkeeper/kernel';
import type { Component, Logger, Metrics } from '@tollkeeper/runtime';
import { createTokenVerifier } from './clients/token.verifier.ts';
import type { IdentityConfig } from './config.ts';
import type { AuthUseCases } from './domain/auth.use-cases.ts';
import { createMachineUseCases, type MachineDeps } from './domain/oidc/machine.use-cases.ts';
import { forMachines } from './domain/oidc/provider.ts';
import { createMachineRoutes } from './http/machine.routes.ts';
import type { AccountTrail } from './store/account.trail.ts';
import { createAttemptLimiter } from './store/attempt.limiter.ts';
import { createMachineStore } from './store/machine.store.ts';
import type { IdentityModels } from './store/models.ts';

export interface MachineLoginDeps {
  config: IdentityConfig;
  models: IdentityModels;
  trail: AuditTrail;
  accounts: AccountTrail;
  auth: AuthUseCases;
  clock: Clock;
  logger: Logger;
  metrics: Metrics;
}

/** Login of service accounts with tokens of their issuers: its route, and the parts to start and stop. */
export function createMachineLogin(deps: MachineLoginDeps): { routes: Route[]; parts: Component[] } {
  const { config, models, trail, accounts, auth, clock, logger, metrics } = deps;
  const limiter = createAttemptLimiter(models.connection, 'exchange');
  const providers = config.OIDC_PROVIDERS.filter(forMachines).map(({ ca, ...provider }) => ({
    provider,
    verifier: createTokenVerifier(provider, { ca, clock }),
  }));
  const machines = createMachineUseCases({
    ...{ providers, limiter, auth, clock },
    machines: createMachineStore(models, trail, accounts),
    observe: createObserver(logger, metrics),
  });
  const verifiers: Component = {
    name: 'token-verifiers',
    async start() {},
    async stop() {
      await Promise.all(providers.map(({ verifier }) => verifier.close()));
    },
  };
  return { routes: createMachineRoutes(machines), parts: [limiter, verifiers] };
}

function createObserver(logger: Logger, metrics: Metrics): MachineDeps['observe'] {
  const exchanges = metrics.counter({
    name: 'identity_token_exchanges_total',
    help: 'Logins of service accounts with tokens, by result',
    labelNames: ['provider', 'result'] as const,
  });
  return (provider, result, { requestId, failure }) => {
    exchanges.inc({ provider, result });
    const fields = {
      provider,
      reason: failure?.message ?? result,
      ...(requestId !== null && { request_id: requestId }),
    };
    if (failure === undefined) logger.info(fields, 'a service account logged in');
    else logger.warn(fields, 'a login of a service account failed');
  };
}
