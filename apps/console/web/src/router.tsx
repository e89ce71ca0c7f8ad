import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
  retainSearchParams,
} from '@tanstack/react-router';
import { TollkeeperError } from './api/api.ts';
import { connection, sessionHint } from './api/session.ts';
import { accountQuery } from './app/account.tsx';
import { HomeGate, NotFound, PageFailed, Waiting, WorkspaceGate } from './app/gates.tsx';
import { LATER } from './app/later.ts';
import { providersQuery } from './app/providers.tsx';
import { isPathHere } from './app/return-path.ts';
import { readSearch, writeSearch } from './app/search-text.ts';
import { parseSpan, SPAN_PARTS } from './app/span-search.ts';
import { parseAgentsSearch } from './pages/agents/agents-search.ts';
import { parseAlertsSearch } from './pages/alerts/alerts-search.ts';
import { parseAuditSearch } from './pages/audit/audit-search.ts';
import { parseBillSearch } from './pages/bills/bill-search.ts';
import { parseBlockedSearch } from './pages/blocked/blocked-search.ts';
import { parseChartSearch } from './pages/budgets/chart-search.ts';
import { parseBudgetsSearch } from './pages/budgets/budgets-search.ts';
import { parseConnectSearch } from './pages/connect/connect-search.ts';
import { parseLimitsSearch } from './pages/limits/limits-search.ts';
import { parsePricesSearch } from './pages/prices/prices-search.ts';
import { parseRaiseSearch } from './pages/raises/raise-search.ts';
import { parseSpendSearch } from './pages/spend/spend-search.ts';
import { parseStatementSearch } from './pages/statement/statement-search.ts';

const root = createRootRouteWithContext<{ client: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: PageFailed,
});

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: parseNext,
  loader: ({ context }) =>
    // If this request fails, the form is still shown.
    context.client
      .ensureQueryData(providersQuery)
      .catch(() => ({ items: [], password_login: 'all' as const, mails_links: false })),
  pendingComponent: Waiting,
  component: lazyRouteComponent(() => import('./pages/login/login-page.tsx'), 'LoginPage'),
});

const forgot = createRoute({
  getParentRoute: () => root,
  path: '/forgot',
  component: lazyRouteComponent(() => import('./pages/reset/forgot-page.tsx'), 'ForgotPage'),
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: lazyRouteComponent(() => import('./pages/invitation/invitation-page.tsx'), 'InvitationPage'),
});

const alertMail = createRoute({
  getParentRoute: () => root,
  path: '/alert-mail',
  component: lazyRouteComponent(() => import('./pages/alert-mail/alert-mail-page.tsx'), 'AlertMailPage'),
});

const reset = createRoute({
  getParentRoute: () => root,
  path: '/reset',
  component: lazyRouteComponent(() => import('./pages/reset/reset-page.tsx'), 'ResetPage'),
});

/** The end of a provider's log-in: the browser has a session that the page does not know yet. */
const loginDone = createRoute({
  getParentRoute: () => root,
  path: '/login/done',
  validateSearch: parseNext,
  beforeLoad({ search, context }) {
    sessionHint.set();
    connection.sessionBegan();
    context.client.clear();
    redirect({ href: search.next ?? '/', replace: true, throw: true });
  },
});

const loginLink = createRoute({
  getParentRoute: () => root,
  path: '/login/link',
  validateSearch: ({ link }: Record<string, unknown>): { link?: string } => (isId(link) ? { link } : {}),
  component: lazyRouteComponent(() => import('./pages/login/link-page.tsx'), 'LinkPage'),
});

const loginFailed = createRoute({
  getParentRoute: () => root,
  path: '/login/failed',
  validateSearch: ({ failure, request }: Record<string, unknown>): { failure?: string; request?: string } => ({
    ...(isId(failure) && { failure }),
    ...(isId(request) && { request }),
  }),
  component: lazyRouteComponent(() => import('./pages/login/failed-page.tsx'), 'FailedPage'),
});

function parseNext({ next }: Record<string, unknown>): { next?: string } {
  return isPathHere(next) ? { next } : {};
}

function isId(text: unknown): text is string {
  return typeof text === 'string' && /^[\w-]{1,64}$/.test(text);
}

/** Pages for people who are logged in. */
const account = createRoute({
  getParentRoute: () => root,
  id: 'account',
  async beforeLoad({ context, location }) {
    const search = location.href === '/' ? {} : { next: location.href };
    if (!sessionHint.get()) redirect({ to: '/login', search, throw: true });
    try {
      await context.client.ensureQueryData(accountQuery);
    } catch (error) {
      if (error instanceof TollkeeperError && error.status === 401) redirect({ to: '/login', search, throw: true });
      throw error;
    }
  },
  pendingComponent: Waiting,
});

const home = createRoute({ getParentRoute: () => account, path: '/', component: HomeGate });

const newWorkspace = createRoute({
  getParentRoute: () => account,
  path: '/new-workspace',
  component: lazyRouteComponent(() => import('./pages/new-workspace/new-workspace-page.tsx'), 'NewWorkspacePage'),
});

const device = createRoute({
  getParentRoute: () => account,
  path: '/device',
  component: lazyRouteComponent(() => import('./pages/device/device-page.tsx'), 'DevicePage'),
});

const workspace = createRoute({
  getParentRoute: () => account,
  path: '/w/$slug',
  validateSearch: parseSpan,
  search: { middlewares: [retainSearchParams([...SPAN_PARTS])] },
  component: WorkspaceGate,
});

const inWorkspace = () => workspace;

/** Every page of a workspace. Each has its own file, which is loaded when the page is first opened. */
const pages = [
  createRoute({
    getParentRoute: inWorkspace,
    path: '/',
    validateSearch: parseChartSearch,
    component: lazyRouteComponent(() => import('./pages/overview/overview-page.tsx'), 'OverviewPage'),
  }),
  createRoute({
    getParentRoute: inWorkspace,
    path: 'spend',
    validateSearch: parseSpendSearch,
    component: lazyRouteComponent(() => import('./pages/spend/spend-page.tsx'), 'SpendPage'),
  }),
  createRoute({
    getParentRoute: inWorkspace,
    path: 'spend/statement',
    validateSearch: parseStatementSearch,
    component: lazyRouteComponent(() => import('./pages/statement/statement-page.tsx'), 'StatementPage'),
  }),
  createRoute({
    getParentRoute: inWorkspace,
    path: 'agents',
    validateSearch: parseAgentsSearch,
    component: lazyRouteComponent(() => import('./pages/agents/agents-page.tsx'), 'AgentsPage'),
  }),
  createRoute({
    getParentRoute: inWorkspace,
    path: 'agents/$agentId',
    validateSearch: parseChartSearch,
    // The figures of one agent never appear under the name of another, not even while they load.
    remountDeps: ({ params }) => params,
    component: lazyRouteComponent(() => import('./pages/agents/agent-page.tsx'), 'AgentPage'),
  }),
  createRoute({
    getParentRoute: inWorkspace,
    path: 'blocked',
    validateSearch: parseBlockedSearch,
    component: lazyRouteComponent(() => import('./pages/blocked/blocked-page.tsx'), 'BlockedPage'),
  }),
  createRoute({
    getParentRoute: inWorkspace,
    path: 'budgets',
    validateSearch: parseBudgetsSearch,
    component: lazyRouteComponent(() => import('./pages/budgets/budgets-page.tsx'), 'BudgetsPage'),
  }),
  createRoute({
    getParentRoute: inWorkspace,
    path: 'limits',
    validateSearch: parseLimitsSearch,
    component: lazyRouteComponent(() => import('./pages/limits/limits-page.tsx'), 'LimitsPage'),
  }),
  createRoute({
    getParentRoute: inWorkspace,
    path: 'raises',
    component: lazyRouteComponent(() => import('./pages/raises/raises-page.tsx'), 'RaisesPage'),
  }),
  createRoute({
    getParentRoute: inWorkspace,
    path: 'raises/$raiseId',
    validateSearch: parseRaiseSearch,
    // Nobody decides about another request than the one on the page.
    remountDeps: ({ params }) => params,
    component: lazyRouteComponent(() => import('./pages/raises/raise-page.tsx'), 'RaisePage'),
  }),
  createRoute({
    getParentRoute: inWorkspace,
    path: 'alerts',
    validateSearch: parseAlertsSearch,
    component: lazyRouteComponent(() => import('./pages/alerts/alerts-page.tsx'), 'AlertsPage'),
  }),
  createRoute({
    getParentRoute: inWorkspace,
    path: 'rules',
    component: lazyRouteComponent(() => import('./pages/rules/rules-page.tsx'), 'RulesPage'),
  }),
  createRoute({
    getParentRoute: inWorkspace,
    path: 'channels',
    component: lazyRouteComponent(() => import('./pages/channels/channels-page.tsx'), 'ChannelsPage'),
  }),
  createRoute({
    getParentRoute: inWorkspace,
    path: 'prices',
    validateSearch: parsePricesSearch,
    component: lazyRouteComponent(() => import('./pages/prices/prices-page.tsx'), 'PricesPage'),
  }),
  createRoute({
    getParentRoute: inWorkspace,
    path: 'bills',
    component: lazyRouteComponent(() => import('./pages/bills/bills-page.tsx'), 'BillsPage'),
  }),
  createRoute({
    getParentRoute: inWorkspace,
    path: 'bills/$billId',
    validateSearch: parseBillSearch,
    // The figures of one bill never appear under the name of another.
    remountDeps: ({ params }) => params,
    component: lazyRouteComponent(() => import('./pages/bills/bill-page.tsx'), 'BillPage'),
  }),
  createRoute({
    getParentRoute: inWorkspace,
    path: 'keys',
    component: lazyRouteComponent(() => import('./pages/keys/keys-page.tsx'), 'KeysPage'),
  }),
  createRoute({
    getParentRoute: inWorkspace,
    path: 'connect',
    validateSearch: parseConnectSearch,
    component: lazyRouteComponent(() => import('./pages/connect/connect-page.tsx'), 'ConnectPage'),
  }),
  createRoute({
    getParentRoute: inWorkspace,
    path: 'members',
    component: lazyRouteComponent(() => import('./pages/members/members-page.tsx'), 'MembersPage'),
  }),
  createRoute({
    getParentRoute: inWorkspace,
    path: 'audit',
    validateSearch: parseAuditSearch,
    component: lazyRouteComponent(() => import('./pages/audit/audit-page.tsx'), 'AuditPage'),
  }),
  createRoute({
    getParentRoute: inWorkspace,
    path: 'settings',
    component: lazyRouteComponent(() => import('./pages/settings/settings-page.tsx'), 'SettingsPage'),
  }),
] as const;

const routeTree = root.addChildren([
  login,
  forgot,
  invitation,
  alertMail,
  reset,
  loginDone,
  loginLink,
  loginFailed,
  account.addChildren([home, newWorkspace, device, workspace.addChildren(pages)]),
]);

/**
 * Loads the files of all pages. If a file failed to load on opening its page, the error would replace the present page
 * and everything typed there.
 */
export function loadAllPages(): void {
  for (const { preload } of LATER) preload?.()?.catch(() => undefined);
  for (const { options } of pages) {
    const { component } = options as { component?: { preload?: () => Promise<unknown> } };
    component?.preload?.().catch(() => undefined);
  }
}

export function createAppRouter(client: QueryClient) {
  return createRouter({
    routeTree,
    context: { client },
    // A page gets only the part of its URL that it has validated.
    search: { strict: true },
    parseSearch: readSearch,
    stringifySearch: writeSearch,
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultErrorComponent: PageFailed,
    defaultNotFoundComponent: NotFound,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
