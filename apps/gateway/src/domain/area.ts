import { INTAKE_PATHS } from '@tollkeeper/contracts';
import type { NeededRole } from '@tollkeeper/kernel';

/** The services that serve the API behind the gateway. */
export type Upstream =
  'identity' | 'dashboard' | 'budgets' | 'alerts' | 'notifier' | 'keys' | 'ingest' | 'enforcer' | 'audit';

/**
 * Who may use an area: anyone (`public`), anyone with or without a session (`visitor`), anyone with a session, holders
 * of a workspace key (which the service itself checks), or members of the workspace whose role includes one for reading
 * and one for writing.
 */
type AreaAccess = 'public' | 'visitor' | 'session' | 'key' | { read: NeededRole; write: NeededRole };

/** A part of what the gateway serves. */
export interface Part {
  /** The name in logs and metrics. */
  name: string;
  /** The path in traces. */
  path: string;
  /** Whether log lines contain the client's address. */
  tellsClientAddress: boolean;
}

/** The attributes of an event in CloudEvents' binary mode. */
const EVENT_HEADERS = ['ce-specversion', 'ce-id', 'ce-source', 'ce-type', 'ce-time'] as const;
type EventHeader = (typeof EVENT_HEADERS)[number];

/** What proxies say of a call before they pass it on. */
const CALL_HEADERS = [
  'x-tollkeeper-agent',
  'x-tollkeeper-run',
  'x-tollkeeper-plan',
  'x-tollkeeper-model',
  'x-tollkeeper-estimate-micros',
  'x-envoy-auth-partial-body',
] as const;
type CallHeader = (typeof CALL_HEADERS)[number];

/** The paths of the API that share a service and the access that they need. */
export interface Area extends Part {
  /**
   * The area is this path and everything below it. `{tenant_id}` stands for a segment that names the workspace;
   * `{token}` at the end, for one that begins with a one-time token.
   */
  path: string;
  upstream: Upstream;
  access: AreaAccess;
  /** Request headers that this area's service gets in addition to the harmless ones: credentials, and what it reads. */
  headers: readonly ('cookie' | 'authorization' | 'x-api-key' | EventHeader | CallHeader)[];
  /** Largest request body in bytes. */
  bodyLimitBytes: number;
  /** True if the service needs the client's address of every request, not only of a person's write. */
  tellsClientAddress: boolean;
  /**
   * True if a POST costs identity a slow password hash, or a document that anybody can have it store. Such requests are
   * limited by address and minute.
   */
  limitsAttempts: boolean;
  /** For callers that wait no longer: if the service has not answered within this time, the edge answers 503. */
  answerWithinMs: number | undefined;
  /**
   * How long the service may leave what it has of a request without any reaction, if senders wait less than
   * `UPSTREAM_TIMEOUT_MS`. Then the edge answers 503.
   */
  silentForMs: number | undefined;
  /**
   * True if a body may come from a plain HTML form. So a mail program can say that its reader wants no more mail (RFC
   * 8058). Only for areas that no cookie reaches: another site's page could send such a body.
   */
  takesForms: boolean;
  /** The refusal of a sender with too many requests in flight: 429, or 503 where senders drop their data after 429. */
  atLimit: 'rate_limited' | 'service_unavailable';
}

const DEFAULTS = {
  headers: [],
  bodyLimitBytes: 1024 * 1024,
  tellsClientAddress: false,
  limitsAttempts: false,
  answerWithinMs: undefined,
  silentForMs: undefined,
  takesForms: false,
  atLimit: 'rate_limited',
} as const;

/** Exporters lose what is not answered within 10 seconds, which include the upload. Ingest answers sooner than this. */
const REPORTS = { ...DEFAULTS, upstream: 'ingest', silentForMs: 5_000 } as const;

/** Telemetry comes at paths that its senders choose, with a key where their settings can have it. */
const TELEMETRY = {
  ...REPORTS,
  access: 'key',
  headers: ['authorization', 'x-api-key', 'x-tollkeeper-agent'],
  bodyLimitBytes: INTAKE_PATHS.traces.maxBytes,
} as const;

/** Hooks of gateways, which send the prompts of calls, and wait for three seconds or more. */
const HOOKS = {
  ...DEFAULTS,
  upstream: 'enforcer',
  access: 'key',
  headers: ['authorization', 'x-api-key', 'x-tollkeeper-agent'],
  bodyLimitBytes: 8 * 1024 * 1024,
  answerWithinMs: 2_500,
} as const;

const anyMember = { read: 'member', write: 'member' } as const;
const admins = { read: 'admin', write: 'admin' } as const;
const owners = { read: 'owner', write: 'owner' } as const;

/** The whole API except `execute`. The first area that matches a path is the one of the path. */
export const AREAS: readonly Area[] = [
  {
    ...DEFAULTS,
    name: 'login',
    path: '/api/v1/auth/login',
    upstream: 'identity',
    access: 'public',
    headers: ['cookie'],
    tellsClientAddress: true,
    limitsAttempts: true,
  },
  {
    ...DEFAULTS,
    name: 'reset',
    path: '/api/v1/auth/reset',
    upstream: 'identity',
    access: 'public',
    tellsClientAddress: true,
    limitsAttempts: true,
  },
  {
    ...DEFAULTS,
    name: 'single-sign-on',
    path: '/api/v1/auth/oidc',
    upstream: 'identity',
    access: 'public',
    headers: ['cookie'],
    tellsClientAddress: true,
    limitsAttempts: true,
  },
  // A program polls for its login. Starts are limited apart from polls, which cost one read.
  {
    ...DEFAULTS,
    name: 'device-token',
    path: '/api/v1/auth/device/token',
    upstream: 'identity',
    access: 'public',
    tellsClientAddress: true,
  },
  {
    ...DEFAULTS,
    name: 'device',
    path: '/api/v1/auth/device',
    upstream: 'identity',
    access: 'public',
    tellsClientAddress: true,
    limitsAttempts: true,
  },
  {
    ...DEFAULTS,
    name: 'forgot',
    path: '/api/v1/auth/forgot',
    upstream: 'identity',
    access: 'public',
    tellsClientAddress: true,
  },
  {
    ...DEFAULTS,
    name: 'auth',
    path: '/api/v1/auth',
    upstream: 'identity',
    access: 'session',
    headers: ['cookie'],
    tellsClientAddress: true,
  },
  { ...DEFAULTS, name: 'budgets', path: '/api/v1/workspaces/{tenant_id}/budgets', upstream: 'budgets', access: owners },
  {
    ...DEFAULTS,
    name: 'budget-list',
    path: '/api/v1/budgets',
    upstream: 'budgets',
    access: { read: 'member', write: 'owner' },
  },
  {
    ...DEFAULTS,
    name: 'prices',
    path: '/api/v1/prices',
    upstream: 'budgets',
    access: { read: 'member', write: 'owner' },
  },
  {
    ...DEFAULTS,
    name: 'pauses',
    path: '/api/v1/pauses',
    upstream: 'budgets',
    access: { read: 'member', write: 'admin' },
  },
  // Members ask for raises here too; budgets leaves decisions to owners.
  { ...DEFAULTS, name: 'raises', path: '/api/v1/raises', upstream: 'budgets', access: anyMember },
  {
    ...DEFAULTS,
    name: 'repricing',
    path: '/api/v1/prices:reprice',
    upstream: 'dashboard',
    access: { read: 'member', write: 'owner' },
  },
  {
    ...DEFAULTS,
    name: 'reconciliations',
    path: '/api/v1/reconciliations',
    upstream: 'dashboard',
    access: { read: 'member', write: 'admin' },
  },
  {
    ...DEFAULTS,
    name: 'scheduled-exports',
    path: '/api/v1/scheduled-exports',
    upstream: 'dashboard',
    access: owners,
  },
  { ...DEFAULTS, name: 'workspaces', path: '/api/v1/workspaces', upstream: 'identity', access: 'session' },
  { ...DEFAULTS, name: 'organisations', path: '/api/v1/organisations', upstream: 'identity', access: 'session' },
  { ...DEFAULTS, name: 'workspace', path: '/api/v1/workspace', upstream: 'identity', access: owners },
  {
    ...DEFAULTS,
    name: 'invitation',
    path: '/api/v1/invitations/{token}',
    upstream: 'identity',
    access: 'visitor',
    tellsClientAddress: true,
    limitsAttempts: true,
  },
  { ...DEFAULTS, name: 'invitations', path: '/api/v1/invitations', upstream: 'identity', access: owners },
  {
    ...DEFAULTS,
    name: 'membership',
    path: '/api/v1/members/me',
    upstream: 'identity',
    access: { read: 'member', write: 'any' },
  },
  { ...DEFAULTS, name: 'members', path: '/api/v1/members', upstream: 'identity', access: owners },
  {
    ...DEFAULTS,
    name: 'agents',
    path: '/api/v1/agents',
    upstream: 'identity',
    access: { read: 'member', write: 'owner' },
  },
  // The preview of a budget is a POST that changes nothing.
  {
    ...DEFAULTS,
    name: 'dashboard',
    path: '/api/v1/dashboard',
    upstream: 'dashboard',
    access: { read: 'member', write: 'any' },
  },
  { ...DEFAULTS, name: 'channels', path: '/api/v1/alerts/channels', upstream: 'notifier', access: admins },
  {
    ...DEFAULTS,
    name: 'alert-mails',
    path: '/api/v1/alert-mails/{token}',
    upstream: 'notifier',
    access: 'public',
    tellsClientAddress: true,
    takesForms: true,
  },
  { ...DEFAULTS, name: 'alerts', path: '/api/v1/alerts', upstream: 'alerts', access: admins },
  { ...DEFAULTS, name: 'keys', path: '/api/v1/management/workspace-keys', upstream: 'keys', access: owners },
  { ...DEFAULTS, name: 'intake-reports', path: '/api/v1/intake-reports', upstream: 'keys', access: anyMember },
  {
    ...REPORTS,
    name: 'events',
    path: INTAKE_PATHS.events.path,
    access: 'key',
    headers: ['authorization', ...EVENT_HEADERS],
    bodyLimitBytes: INTAKE_PATHS.events.maxBytes,
  },
  { ...TELEMETRY, name: 'otlp', path: '/v1' },
  { ...TELEMETRY, name: 'otlp-below-api', path: '/api/v1/otlp' },
  { ...TELEMETRY, name: 'otlp-of-langfuse', path: '/api/public/otel' },
  {
    ...TELEMETRY,
    name: 'intake',
    path: '/api/v1/intake',
    bodyLimitBytes: INTAKE_PATHS.litellm.maxBytes,
    // Ingest takes such a body part by part, each within the time of a whole body of the others.
    silentForMs: 20_000,
    atLimit: 'service_unavailable',
  },
  {
    ...DEFAULTS,
    name: 'reservations',
    path: '/api/v1/reservations',
    upstream: 'enforcer',
    access: 'key',
    headers: ['authorization'],
    answerWithinMs: 1_000,
  },
  {
    ...DEFAULTS,
    name: 'raise-requests',
    path: '/api/v1/raise-requests',
    upstream: 'enforcer',
    access: 'key',
    headers: ['authorization'],
  },
  {
    ...DEFAULTS,
    name: 'authz',
    path: '/api/v1/adapters/authz',
    upstream: 'enforcer',
    access: 'key',
    headers: ['authorization', 'x-api-key', ...CALL_HEADERS],
    answerWithinMs: 1_000,
  },
  { ...HOOKS, name: 'litellm', path: '/api/v1/adapters/litellm' },
  { ...HOOKS, name: 'portkey', path: '/api/v1/adapters/portkey' },
  {
    ...DEFAULTS,
    name: 'leases',
    path: '/api/v1/leases',
    upstream: 'enforcer',
    access: 'key',
    headers: ['authorization'],
    answerWithinMs: 1_000,
  },
  {
    ...DEFAULTS,
    name: 'limit-leases',
    path: '/api/v1/limits/leases',
    upstream: 'enforcer',
    access: { read: 'admin', write: 'owner' },
  },
  {
    ...DEFAULTS,
    name: 'limit-reservations',
    path: '/api/v1/limits/reservations',
    upstream: 'enforcer',
    access: { read: 'admin', write: 'owner' },
  },
  {
    ...DEFAULTS,
    name: 'limits',
    path: '/api/v1/limits',
    upstream: 'enforcer',
    access: { read: 'member', write: 'owner' },
  },
  { ...DEFAULTS, name: 'audit', path: '/api/v1/audit', upstream: 'audit', access: owners },
];

/** The pages of the console: every path outside the API and its documentation, for GET and HEAD. */
export const PAGES: Part = { name: 'pages', path: '/', tellsClientAddress: false };

const TOKEN = '{token}';
const TOKEN_SEGMENT = /^tk_[^/]*$/;

/** The parts of an area's path before and after the workspace id, or before the token. */
const matchers = AREAS.map((area) => {
  const [before = '', after] = area.path.split('{tenant_id}');
  const endsInToken = before.endsWith(TOKEN);
  return { area, before: endsInToken ? before.slice(0, -TOKEN.length) : before, after, endsInToken };
});

/** The area of `path`, and the workspace id if the path names one; null if the path belongs to no area. */
export function findArea(path: string): { area: Area; tenantId: string | undefined } | null {
  for (const { area, before, after, endsInToken } of matchers) {
    if (!path.startsWith(before)) continue;
    const rest = path.slice(before.length);
    if (endsInToken) {
      if (TOKEN_SEGMENT.test(rest)) return { area, tenantId: undefined };
      continue;
    }
    if (after === undefined) {
      if (isPathEnd(rest)) return { area, tenantId: undefined };
      continue;
    }
    const idEnd = rest.indexOf('/');
    if (idEnd > 0 && rest.startsWith(after, idEnd) && isPathEnd(rest.slice(idEnd + after.length))) {
      return { area, tenantId: rest.slice(0, idEnd) };
    }
  }
  return null;
}

function isPathEnd(rest: string): boolean {
  return rest === '' || rest.startsWith('/');
}

/** Whether requests to the area act in a workspace. */
export function actsInWorkspace(area: Area): area is Area & { access: { read: NeededRole; write: NeededRole } } {
  return typeof area.access === 'object';
}
