import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { identityRequests, identityService, toWireRole } from '@tollkeeper/contracts';
import type { IdentityServiceDefinition } from '@tollkeeper/contracts';
import { createGrpcServer, grpcService } from '@tollkeeper/grpc';
import type { GrpcServer, UnaryHandlers } from '@tollkeeper/grpc';
import { CALLER_HEADER, CLIENT_HEADER, verifyCallerToken, verifyClientAddress } from '@tollkeeper/http';
import type { Caller, Role } from '@tollkeeper/kernel';
import { createMetrics, loadConfig, type Tracer } from '@tollkeeper/runtime';
import { testLogger } from '@tollkeeper/testing';
import { createGateway, gatewayConfig } from '../src/index.ts';

export const secret = 'a-secret-of-more-than-32-characters!';

/** A session id in identity's form, the same for the same name. */
export function sessionIdOf(name: string): string {
  return createHash('sha256').update(name).digest('base64url');
}

export function cookieOf(name: string): string {
  return `gw_session=${sessionIdOf(name)}`;
}

/** What an upstream received, as reported in its JSON answer. */
export interface Seen {
  service: string;
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string;
  caller: Caller | null;
  client: string | null;
}

type Listener = (req: IncomingMessage, res: ServerResponse) => void;

/** A service that echoes what it received, or answers as the test decides. */
export interface EchoService {
  server: Server;
  url: string;
  requests: number;
  /** Replaces the echo. */
  answer: Listener | undefined;
  close(): Promise<void>;
}

export async function startEcho(service: string): Promise<EchoService> {
  const echo: EchoService = {
    server: createServer((req, res) => {
      echo.requests += 1;
      if (echo.answer !== undefined) echo.answer(req, res);
      // When the gateway aborts a request, nobody waits for its answer.
      else tellWhatCame(service, req, res).catch(() => res.destroy());
    }),
    url: '',
    requests: 0,
    answer: undefined,
    close: () =>
      new Promise((resolve) => {
        echo.server.close(() => resolve());
        echo.server.closeAllConnections();
      }),
  };
  await new Promise<void>((resolve) => echo.server.listen(0, '127.0.0.1', resolve));
  echo.url = `http://127.0.0.1:${(echo.server.address() as AddressInfo).port}`;
  return echo;
}

async function tellWhatCame(service: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const token = req.headers[CALLER_HEADER];
  const client = req.headers[CLIENT_HEADER];
  const seen: Seen = {
    service,
    method: req.method ?? '',
    url: req.url ?? '',
    headers: req.headers as Record<string, string>,
    body: Buffer.concat(chunks).toString(),
    caller: typeof token === 'string' ? await verifyCallerToken(secret, service, token) : null,
    client: typeof client === 'string' ? await verifyClientAddress(secret, service, client) : null,
  };
  res.setHeader('content-type', 'application/json; charset=utf-8').end(JSON.stringify(seen));
}

interface SessionMembership {
  tenantId: string;
  slug: string;
  role: Role;
}

/** The gRPC side of identity, with sessions set by the test, by cookie name. */
export interface IdentityStub {
  grpc: GrpcServer;
  sessions: Map<string, { userId: string; memberships: SessionMembership[] }>;
  questions: number;
  /** Awaited before each answer. */
  hold: Promise<void> | undefined;
}

export async function startIdentity(port = 0): Promise<IdentityStub> {
  const handlers: UnaryHandlers<IdentityServiceDefinition> = {
    async resolveSession({ sessionSha256 }) {
      stub.questions += 1;
      await stub.hold;
      const found = [...stub.sessions].find(([name]) => sha256(sessionIdOf(name)).equals(sessionSha256));
      if (found === undefined) return {};
      const [, { userId, memberships }] = found;
      const wired = memberships.map((m) => ({ ...m, role: toWireRole(m.role) }));
      return { session: { userId, memberships: wired } };
    },
    getWorkspace: async () => ({}),
    getAgents: async () => ({ agents: [] }),
    registerAgents: async () => ({}),
  };
  const stub: IdentityStub = {
    sessions: new Map(),
    questions: 0,
    hold: undefined,
    grpc: createGrpcServer({
      config: { HOST: '127.0.0.1', GRPC_PORT: port, CALLER_TOKEN_SECRET: secret },
      logger: testLogger().logger,
      metrics: createMetrics('identity'),
      services: [grpcService(identityService, identityRequests, handlers)],
    }),
  };
  await stub.grpc.start();
  return stub;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** A session of a member of `acme`. */
export function memberOfAcme(userId: string): { userId: string; memberships: SessionMembership[] } {
  return { userId, memberships: [{ tenantId: 'ws_acme', slug: 'acme', role: 'member' }] };
}

/**
 * A gateway before real services on loopback. Users: ada owns `acme`, mia is a member, adam an admin, fin of finance,
 * bob is in two.
 */
export async function startStack(env: Record<string, string> = {}, tracer?: Tracer) {
  const identity = await startIdentity();
  const acme = { tenantId: 'ws_acme', slug: 'acme' };
  identity.sessions.set('ada', { userId: 'user_ada', memberships: [{ ...acme, role: 'owner' }] });
  identity.sessions.set('adam', { userId: 'user_adam', memberships: [{ ...acme, role: 'admin' }] });
  identity.sessions.set('fin', { userId: 'user_fin', memberships: [{ ...acme, role: 'finance' }] });
  identity.sessions.set('mia', { userId: 'user_mia', memberships: [{ ...acme, role: 'member' }] });
  identity.sessions.set('bob', {
    userId: 'user_bob',
    memberships: [
      { tenantId: 'ws_bob', slug: 'bob', role: 'owner' },
      { ...acme, role: 'member' },
    ],
  });
  identity.sessions.set('new', { userId: 'user_new', memberships: [] });

  const services = {
    identity: await startEcho('identity'),
    dashboard: await startEcho('dashboard'),
    budgets: await startEcho('budgets'),
    alerts: await startEcho('alerts'),
    notifier: await startEcho('notifier'),
    keys: await startEcho('keys'),
    ingest: await startEcho('ingest'),
    enforcer: await startEcho('enforcer'),
    audit: await startEcho('audit'),
    console: await startEcho('console'),
  };
  const log = testLogger();
  const metrics = createMetrics('gateway');
  const gateway = createGateway({
    config: loadConfig(gatewayConfig, {
      HOST: '127.0.0.1',
      HTTP_PORT: '0',
      PUBLIC_URL: 'https://tollkeeper.example',
      CALLER_TOKEN_SECRET: secret,
      IDENTITY_GRPC: identity.grpc.address,
      IDENTITY_HTTP: services.identity.url,
      DASHBOARD_HTTP: services.dashboard.url,
      BUDGETS_HTTP: services.budgets.url,
      ALERTS_HTTP: services.alerts.url,
      NOTIFIER_HTTP: services.notifier.url,
      KEYS_HTTP: services.keys.url,
      INGEST_HTTP: services.ingest.url,
      ENFORCER_HTTP: services.enforcer.url,
      AUDIT_HTTP: services.audit.url,
      CONSOLE_HTTP: services.console.url,
      // All requests of a suite come from one address.
      PUBLIC_BYTES_PER_SECOND: '1000000000',
      ...env,
    }),
    logger: log.logger,
    metrics,
    tracer,
  });
  await gateway.start();

  return {
    gateway,
    identity,
    services,
    log,
    metrics,
    async stop() {
      await gateway.stop();
      await identity.grpc.stop();
      await Promise.all(Object.values(services).map((service) => service.close()));
    },
  };
}

export type Stack = Awaited<ReturnType<typeof startStack>>;
