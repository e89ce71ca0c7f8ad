import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  Outlet,
  redirect,
  retainSearchParams,
} from '@tanstack/react-router';
import { TollkeeperError } from './api/api.ts';
import { sessionHint } from './api/session.ts';
import { accountQuery } from './app/account.tsx';
import { HomeGate, NotFound, PageFailed, Waiting, WorkspaceGate } from './app/gates.tsx';
import { parseSpan } from './app/span.ts';

const root = createRootRouteWithContext<{ client: QueryClient }>()({ component: Outlet, notFoundComponent: NotFound, errorComponent: PageFailed });

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: ({ next }: Record<string, unknown>): { next?: string } =>
    // Only a path of this origin: a link to the log-in must not lead away from it.
    typeof next === 'string' && /^\/(?![/\\])/.test(next) ? { next } : {},
  component: lazyRouteComponent(() => import('./pages/login/login-page.tsx'), 'LoginPage'),
});

/** Pages for people who are logged in. */
const account = createRoute({
  getParentRoute: () => root,
  id: 'account',
  async beforeLoad({ context, location }) {
    const toLogin = redirect({ to: '/login', search: location.href === '/' ? {} : { next: location.href } });
    if (!sessionHint.get()) throw toLogin;
    try {
      await context.client.ensureQueryData(accountQuery);
    } catch (error) {
      throw error instanceof TollkeeperError && error.status === 401 ? toLogin : error;
    }
  },
  pendingComponent: Waiting,
  component: Outlet,
});

const home = createRoute({ getParentRoute: () => account, path: '/', component: HomeGate });

const workspace = createRoute({
  getParentRoute: () => account,
  path: '/w/$slug',
  validateSearch: parseSpan,
  search: { middlewares: [retainSearchParams(['range', 'zone'])] },
  component: WorkspaceGate,
});

const inWorkspace = () => workspace;

/** Every page of a workspace, each with its own file that is loaded when it is opened first. */
const pages = [
  createRoute({
    getParentRoute: inWorkspace,
    path: '/',
    component: lazyRouteComponent(() => import('./pages/overview/overview-page.tsx'), 'OverviewPage'),
  }),
  createRoute({
    getParentRoute: inWorkspace,
    path: 'spend',
    component: lazyRouteComponent(() => import('./pages/spend/spend-page.tsx'), 'SpendPage'),
  }),
  createRoute({
    getParentRoute: inWorkspace,
    path: 'agents/$agentId',
    component: () => <Navigate to="/" />,
  }),
] as const;

const routeTree = root.addChildren([login, account.addChildren([home, workspace.addChildren(pages)])]);

export function createAppRouter(client: QueryClient) {
  return createRouter({
    routeTree,
    context: { client },
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
