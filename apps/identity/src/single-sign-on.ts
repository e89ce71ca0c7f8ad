import type { AuditTrail } from '@tollkeeper/audit-trail';
import type { Route } from '@tollkeeper/http';
import type { Clock } from '@tollkeeper/kernel';
import type { Component, Logger, Metrics } from '@tollkeeper/runtime';
import { createOidcClient } from './clients/oidc.client.ts';
import type { IdentityConfig } from './config.ts';
import type { AuthUseCases } from './domain/auth.use-cases.ts';
import { createReportMapping } from './domain/oidc/mapping.report.ts';
import { createOidcUseCases, type OidcDeps } from './domain/oidc/oidc.use-cases.ts';
import { forPeople } from './domain/oidc/provider.ts';
import type { PasswordPolicy } from './domain/password.policy.ts';
import type { UserStore } from './domain/user.ts';
import type { WorkspaceStore } from './domain/workspace.ts';
import { createBrowserCookie } from './http/browser.cookie.ts';
import { createOidcRoutes } from './http/oidc.routes.ts';
import type { SessionCookies } from './http/session.cookies.ts';
import type { AccountTrail } from './store/account.trail.ts';
import { createGrantStore } from './store/grant.store.ts';
import { createLinkStore } from './store/link.store.ts';
import type { IdentityModels } from './store/models.ts';
import { createPassingStore } from './store/passing.store.ts';

export interface SingleSignOnDeps {
  config: IdentityConfig;
  models: IdentityModels;
  trail: AuditTrail;
  accounts: AccountTrail;
  users: UserStore;
  workspaces: WorkspaceStore;
  auth: AuthUseCases;
  passwordPolicy: PasswordPolicy;
  sessionCookies: SessionCookies;
  clock: Clock;
  logger: Logger;
  metrics: Metrics;
}

/** Log-in by OpenID Connect providers: its routes, and a part that releases the connections to the providers. */
export function createSingleSignOn(deps: SingleSignOnDeps): { routes: Route[]; part: Component } {
  const {
    config,
    models,
    trail,
    accounts,
    users,
    workspaces,
    auth,
    passwordPolicy,
    sessionCookies,
    clock,
    logger,
    metrics,
  } = deps;
  const links = createLinkStore(models, accounts);
  const grants = createGrantStore(models, trail);
  const configured = config.OIDC_PROVIDERS.filter(forPeople).map(({ ca, ...provider }) => {
    const redirectUri = `${config.PUBLIC_URL}/api/v1/auth/oidc/${provider.id}/callback`;
    return { provider, client: createOidcClient(provider, { ca, redirectUri }) };
  });
  const providers = configured.map(({ provider }) => provider);

  const oidc = createOidcUseCases({
    providers: configured,
    settings: {
      signUp: config.OIDC_SIGN_UP,
      strict: config.OIDC_STRICT,
      trustedDomains: config.OIDC_TRUSTED_DOMAINS,
    },
    passing: createPassingStore(models.oidc),
    ...{ links, grants, users, auth, clock, observe: createObserver(logger, metrics) },
    onSkipped: ({ tenantId, userId, reason }) =>
      logger.warn({ tenant_id: tenantId, user_id: userId, reason }, 'a role from single sign-on was not assigned'),
  });
  const routes = createOidcRoutes({
    oidc,
    reportMapping: createReportMapping({ providers, links, grants, workspaces }),
    passwordPolicy,
    mailsLinks: config.SMTP_URL !== undefined,
    sessions: sessionCookies,
    browsers: createBrowserCookie(config.PUBLIC_URL),
  });
  return {
    routes,
    part: {
      name: 'oidc',
      async start() {},
      async stop() {
        await Promise.all(configured.map(({ client }) => client.close()));
      },
    },
  };
}

function createObserver(logger: Logger, metrics: Metrics): OidcDeps['observe'] {
  const logIns = metrics.counter({
    name: 'identity_oidc_logins_total',
    help: 'Logins through OpenID Connect providers, by result',
    labelNames: ['provider', 'result'] as const,
  });
  return (provider, result, { requestId, failure }) => {
    logIns.inc({ provider, result });
    const fields = { request_id: requestId, provider, reason: failure?.message ?? result };
    if (failure === undefined) logger.info(fields, 'a login with a provider was processed');
    else logger.warn(fields, 'a login with a provider failed');
  };
}
