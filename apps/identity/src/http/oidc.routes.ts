import { identifier, moment, workspaceRole } from '@tollkeeper/contracts';
import { defineRoute, type RequestFacts, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import { FACTS, OIDC_FAILURES } from '../domain/oidc/failure.ts';
import type { MappingReport, ReportMapping } from '../domain/oidc/mapping.report.ts';
import type { OidcUseCases } from '../domain/oidc/oidc.use-cases.ts';
import { isReturnPath } from '../domain/oidc/return-path.ts';
import type { Next, Visitor } from '../domain/oidc/visit.ts';
import { PASSWORD_LOGINS, type PasswordPolicy } from '../domain/password.policy.ts';
import type { BrowserCookie } from './browser.cookie.ts';
import { login, password } from './schemas.ts';
import { originOf, type SessionCookies } from './session.cookies.ts';

const PATH = '/api/v1/auth/oidc';
const TAG = 'Single sign-on';

const ofProvider = z.object({ provider: z.string().max(64).meta({ description: 'Id of the provider' }) });
const token = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be the id from the address of the page');
/** Longer than any provider's values. The edge bounds the whole head. */
const fromOutside = z.string().max(8_000).optional();

const providersSchema = z.object({
  items: z.array(z.object({ id: z.string(), button_text: z.string() })),
  password_login: z.enum(PASSWORD_LOGINS).meta({
    description: 'Who may log in with a password. With `none`, only one owner may, in case no provider answers',
  }),
  mails_links: z.boolean().meta({ description: 'Whether `POST /api/v1/auth/forgot` mails a link' }),
});

const failureSchema = z
  .object({
    provider: z.string().meta({ description: 'Text of the button' }),
    code: z.enum(OIDC_FAILURES),
    facts: z.partialRecord(z.enum(FACTS), z.string()).meta({
      description: 'Details such as `expected` and `got`. They contain text from outside and no token',
    }),
  })
  .meta({ id: 'FailedLogIn' });

const linkSchema = z.object({
  provider: z.string().meta({ description: 'Text of the button' }),
  email: z.string().nullable().meta({ description: 'As reported by the provider' }),
  may_be_new: z.boolean().meta({ description: 'Whether `:signUp` is allowed' }),
});

const enteredSchema = z.object({ return_to: z.string().meta({ description: 'Path of the page to open' }) });

const reportSchema = z
  .object({
    provider: z.string(),
    button_text: z.string(),
    issuer: z.string(),
    subject: z.string(),
    logged_in_at: moment,
    claims: z.array(z.object({ name: z.string(), values: z.array(z.string()).nullable() })).meta({
      description: 'Identity claims and the claims of the mapping to this workspace; null if not sent',
    }),
    claim_names: z.array(z.string()).meta({ description: 'Names of all claims that were sent' }),
    grant: z
      .object({ claim: z.string(), value: z.string(), role: workspaceRole })
      .nullable()
      .meta({ description: 'The rule that gives the member a role in this workspace' }),
  })
  .meta({ id: 'MappingReport' });

export interface OidcRoutesDeps {
  oidc: OidcUseCases;
  reportMapping: ReportMapping;
  passwordPolicy: PasswordPolicy;
  mailsLinks: boolean;
  sessions: SessionCookies;
  browsers: BrowserCookie;
}

/** Log-in by OpenID Connect providers. URLs that browsers open are answered with a redirect, even after failures. */
export function createOidcRoutes(deps: OidcRoutesDeps): Route[] {
  const browser = createBrowserAnswers(deps);
  return [
    listProvidersRoute(deps),
    startRoute(deps, browser),
    callbackRoute(deps, browser),
    failureRoute(deps),
    pendingLinkRoute(deps, browser),
    proveRoute(deps, browser),
    signUpRoute(deps, browser),
    mappingReportRoute(deps),
  ];
}

function listProvidersRoute({ oidc, passwordPolicy, mailsLinks }: OidcRoutesDeps): Route {
  return defineRoute({
    method: 'get',
    path: PATH,
    operationId: 'listLoginProviders',
    tag: TAG,
    summary: 'List the ways to log in',
    access: 'public',
    responses: {
      200: {
        description: 'The providers, who may log in with a password, and whether links are sent by e-mail',
        schema: providersSchema,
      },
    },
    handler: async () => ({
      status: 200,
      body: {
        items: oidc.providers.map(({ id, buttonText }) => ({ id, button_text: buttonText })),
        password_login: passwordPolicy.allowed,
        mails_links: mailsLinks,
      },
    }),
  });
}

function startRoute({ oidc }: OidcRoutesDeps, { visitorOf, redirect }: BrowserAnswers): Route {
  return defineRoute({
    method: 'get',
    path: `${PATH}/{provider}/start`,
    operationId: 'startLogin',
    tag: TAG,
    summary: 'Log in with a provider',
    description: 'For browsers. The login must be complete within 10 minutes.',
    access: 'public',
    params: ofProvider,
    query: z.object({
      return_to: z
        .string()
        .refine(isReturnPath, 'must be the path of a page here, such as /w/demo')
        .default('/')
        .meta({ description: 'Path of the page to open after the login' }),
    }),
    responses: { 302: { description: 'Redirect to the provider, or to the page that says what is wrong' } },
    handler: async ({ params, query, ...facts }) =>
      redirect(await oidc.start(params.provider, query.return_to, visitorOf(facts)), facts.requestId),
  });
}

function callbackRoute({ oidc }: OidcRoutesDeps, { visitorOf, redirect }: BrowserAnswers): Route {
  return defineRoute({
    method: 'get',
    audit: 'session.create',
    path: `${PATH}/{provider}/callback`,
    operationId: 'finishLogin',
    tag: TAG,
    summary: 'Complete a login with a provider',
    description: 'Sets the cookie `gw_session` when the login is complete.',
    access: 'public',
    params: ofProvider,
    query: z.object({
      code: fromOutside,
      state: fromOutside,
      iss: fromOutside,
      error: fromOutside,
      error_description: fromOutside,
    }),
    responses: {
      302: { description: 'Redirect to the requested page, to the proof, or to what is wrong' },
    },
    handler: async ({ params, query, ...facts }) =>
      redirect(await oidc.finish(params.provider, query, visitorOf(facts)), facts.requestId),
  });
}

function failureRoute({ oidc }: OidcRoutesDeps): Route {
  return defineRoute({
    method: 'get',
    path: `${PATH}/failures/{failure_id}`,
    operationId: 'getFailedLogin',
    tag: TAG,
    summary: 'Read why a login failed',
    description: 'Available for 10 minutes after the failure.',
    access: 'public',
    params: z.object({ failure_id: token }),
    responses: { 200: { description: 'What went wrong', schema: failureSchema } },
    handler: async ({ params }) => {
      const { buttonText, code, facts } = await oidc.failure(params.failure_id);
      return { status: 200, body: { provider: buttonText, code, facts } };
    },
  });
}

function pendingLinkRoute({ oidc }: OidcRoutesDeps, { visitorOf }: BrowserAnswers): Route {
  return defineRoute({
    method: 'get',
    path: `${PATH}/links/{link_id}`,
    operationId: 'getPendingLink',
    tag: TAG,
    summary: 'Read whose account is to be proven',
    description: 'Available for 10 minutes, and only to the browser that logged in at the provider.',
    access: 'public',
    params: z.object({ link_id: token }),
    responses: { 200: { description: 'The person at the provider', schema: linkSchema } },
    handler: async ({ params, ...facts }) => {
      const { buttonText, arrival, mayBeNew } = await oidc.pendingLink(params.link_id, visitorOf(facts));
      return { status: 200, body: { provider: buttonText, email: arrival.person.email, may_be_new: mayBeNew } };
    },
  });
}

function proveRoute({ oidc }: OidcRoutesDeps, { visitorOf, entered }: BrowserAnswers): Route {
  return defineRoute({
    method: 'post',
    audit: 'user.provider.link',
    path: `${PATH}/links/{link_id}:prove`,
    operationId: 'proveAccount',
    tag: TAG,
    summary: 'Prove an account once with its password',
    description:
      'Links the account to the person at the provider and logs in. A wrong password counts as a failed login.',
    access: 'public',
    params: z.object({ link_id: token }),
    body: z.strictObject({ login, password }),
    responses: { 200: { description: 'Logged in', schema: enteredSchema } },
    handler: async ({ params, body, ...facts }) =>
      entered(await oidc.prove(params.link_id, visitorOf(facts), body.login, body.password)),
  });
}

function signUpRoute({ oidc }: OidcRoutesDeps, { visitorOf, entered }: BrowserAnswers): Route {
  return defineRoute({
    method: 'post',
    audit: 'session.create',
    path: `${PATH}/links/{link_id}:signUp`,
    operationId: 'signUpWithProvider',
    tag: TAG,
    summary: 'Create a new account instead of proving one',
    access: 'public',
    params: z.object({ link_id: token }),
    responses: { 200: { description: 'Logged in', schema: enteredSchema } },
    handler: async ({ params, ...facts }) => entered(await oidc.signUp(params.link_id, visitorOf(facts))),
  });
}

function mappingReportRoute({ reportMapping }: OidcRoutesDeps): Route {
  return defineRoute({
    method: 'get',
    path: '/api/v1/members/{user_id}/sso',
    operationId: 'getMappingReport',
    tag: TAG,
    summary: 'Read what providers sent about a member',
    description: 'Covers the last login at each provider, without tokens.',
    access: 'owner',
    params: z.object({ user_id: identifier.meta({ description: 'Id of the user' }) }),
    responses: { 200: { description: 'By provider', schema: z.object({ items: z.array(reportSchema) }) } },
    handler: async ({ caller, params }) => {
      const reports = await reportMapping(caller.tenantId, params.user_id);
      return { status: 200, body: { items: reports.map(toReportBody) } };
    },
  });
}

/** Reads cookies from browsers, and makes answers for them. */
function createBrowserAnswers({ sessions, browsers }: OidcRoutesDeps) {
  return {
    visitorOf: ({ headers, requestId, clientAddress }: RequestFacts): Visitor => ({
      browser: browsers.of(headers),
      requestId,
      ...originOf(clientAddress, headers),
    }),

    redirect(next: Next, requestId: string) {
      const cookie =
        next.page === 'provider'
          ? browsers.set(next.browser)
          : next.page === 'return'
            ? sessions.set(next.cookie)
            : null;
      const headers = { location: locationOf(next, requestId), ...(cookie !== null && { 'set-cookie': cookie }) };
      return { status: 302 as const, headers };
    },

    /** The answer to a page that called the API itself. */
    entered(next: Next) {
      if (next.page !== 'return') throw new Error(`A log-in that was proven led to ${next.page}`);
      const headers = { 'set-cookie': sessions.set(next.cookie) };
      return { status: 200 as const, headers, body: { return_to: next.returnTo } };
    },
  };
}

type BrowserAnswers = ReturnType<typeof createBrowserAnswers>;

/** Pages of the console. Their URLs contain nothing about a person. */
function locationOf(next: Next, requestId: string): string {
  switch (next.page) {
    case 'provider':
      return next.url;
    case 'return':
      return `/login/done?${new URLSearchParams({ next: next.returnTo }).toString()}`;
    case 'prove':
      return `/login/link?${new URLSearchParams({ link: next.linkId }).toString()}`;
    case 'failed': {
      const search = new URLSearchParams({ request: requestId });
      if (next.failureId !== null) search.set('failure', next.failureId);
      return `/login/failed?${search.toString()}`;
    }
  }
}

function toReportBody(report: MappingReport): z.infer<typeof reportSchema> {
  const { provider, issuer, subject, at, claims, names, grant } = report;
  return {
    ...{ provider: provider.id, button_text: provider.buttonText, issuer, subject },
    ...{ logged_in_at: at.toISOString(), claims, claim_names: names, grant },
  };
}
