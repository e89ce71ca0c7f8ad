import { Agent } from 'node:http';
import type { ClientRequest, IncomingHttpHeaders } from 'node:http';
import { CALLER_HEADER, CLIENT_HEADER, REQUEST_ID_HEADER, signClientAddress } from '@tollkeeper/http';
import type { ErrorAnswerer, TokenKey } from '@tollkeeper/http';
import { AppError } from '@tollkeeper/kernel';
import { createProxyMiddleware } from 'http-proxy-middleware';
import type { Plugin, RequestHandler } from 'http-proxy-middleware';
import type { Session, SessionDirectory } from '../clients/session.directory.ts';
import type { Area, Upstream } from '../domain/area.ts';
import { isSafeMethod } from '../domain/write-protection.ts';
import type { Membership } from '../domain/membership.ts';
import { clientAddress, tooLarge } from './admission.ts';
import type { Target } from './admission.ts';
import type { EdgeHeaders } from './edge-headers.ts';
import type { EdgeRequest, EdgeResponse } from './exchange.ts';

export interface ForwardOptions {
  /** Origins of the services; the area of a service without one answers 503. */
  upstreams: Record<Upstream, string | undefined>;
  tokenKey: TokenKey;
  sessions: SessionDirectory;
  /** Longest silence of a service, in milliseconds. */
  timeoutMs: number;
  edgeHeaders: EdgeHeaders;
  /** Answers a request whose service failed. */
  answerError: ErrorAnswerer;
}

/** What the checks have found out about a request. */
export interface Admitted {
  target: Target;
  cookie: string | undefined;
  session: Session | null;
  membership: Membership | null;
}

export interface Forwarder {
  /** Sends an admitted request to its service and the service's answer to the client. */
  forward(req: EdgeRequest, res: EdgeResponse, admitted: Admitted): Promise<void>;
  /** Drops the connections to the services. */
  close(): void;
}

/** What passes from outside to any service. All else stays out: callers' tokens, addresses, hop-by-hop headers. */
const PASSED_HEADERS = [
  'accept',
  'accept-encoding',
  'accept-language',
  'content-encoding',
  'content-length',
  'content-type',
  'traceparent',
  'tracestate',
  'transfer-encoding',
  'user-agent',
] as const;

/** Connections to one service at a time; more requests wait for one of them. */
const MAX_CONNECTIONS = 1024;

export function createForwarder(options: ForwardOptions): Forwarder {
  const { upstreams, tokenKey, sessions, timeoutMs } = options;
  const agent = new Agent({
    keepAlive: true,
    maxSockets: MAX_CONNECTIONS,
    maxFreeSockets: MAX_CONNECTIONS,
    timeout: timeoutMs,
  });
  const proxies = new Map<Upstream, RequestHandler<EdgeRequest, EdgeResponse>>();
  for (const [name, origin] of Object.entries(upstreams) as [Upstream, string | undefined][]) {
    if (origin !== undefined) proxies.set(name, createProxy(name, origin, agent, options));
  }

  async function forward(req: EdgeRequest, res: EdgeResponse, admitted: Admitted): Promise<void> {
    const { target, cookie, session, membership } = admitted;
    const { area } = target;
    const proxy = proxies.get(area.upstream);
    if (proxy === undefined) throw notInstalled(area.upstream);

    const headers = passedHeaders(req.headers, area, res.locals.requestId);
    if (session !== null) headers[CALLER_HEADER] = await session.callerToken(membership);
    if (area.tellsClientAddress) headers[CLIENT_HEADER] = await signClientAddress(tokenKey, clientAddress(req));
    req.headers = headers;
    req.url = target.url;
    if (cookie !== undefined && area.upstream === 'identity' && !isSafeMethod(req.method)) {
      res.locals.onAnswer = () => sessions.forget(cookie);
    }
    return proxy(req, res);
  }

  return { forward, close: () => agent.destroy() };
}

function passedHeaders(given: IncomingHttpHeaders, area: Area, requestId: string): IncomingHttpHeaders {
  const headers: Record<string, string | string[] | undefined> = { [REQUEST_ID_HEADER]: requestId };
  for (const name of PASSED_HEADERS) {
    const value = given[name];
    if (value !== undefined) headers[name] = value;
  }
  for (const name of area.credentials) {
    const value = given[name];
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}

function notInstalled(upstream: Upstream): AppError {
  return new AppError('service_unavailable', `The ${upstream} service is not part of this installation.`);
}

function createProxy(name: Upstream, origin: string, agent: Agent, { answerError, edgeHeaders }: ForwardOptions) {
  const events: Plugin<EdgeRequest, EdgeResponse> = (proxy) => {
    proxy.on('proxyReq', (proxyReq, req, res) => {
      proxyReq.once('timeout', () => proxyReq.destroy(tooSlow(name)));
      // A body without a length can only be found to be too large on its way.
      if (req.headers['transfer-encoding'] !== undefined) limitBody(proxyReq, req, res);
    });
    proxy.on('proxyRes', (proxyRes, _req, res) => {
      if (res.headersSent) return;
      res.locals.onAnswer?.();
      // In one piece: a header set by itself costs several times as much.
      res.writeHead(proxyRes.statusCode ?? 502, edgeHeaders.ofAnswer(res.locals.requestId, proxyRes.rawHeaders));
      proxyRes.pipe(res);
    });
    proxy.on('error', (error, req, res) => {
      if (req !== undefined && res !== undefined && 'writeHead' in res)
        answerError(error instanceof AppError ? error : unreachable(name, error), req, res);
    });
    // The client went away first: there is no one to answer.
    proxy.on('econnreset', () => undefined);
  };
  return createProxyMiddleware<EdgeRequest, EdgeResponse>({
    target: new URL(origin),
    agent,
    // The default plugins print to the console and answer errors with a body of their own.
    ejectPlugins: true,
    selfHandleResponse: true,
    plugins: [events],
  });
}

function limitBody(proxyReq: ClientRequest, req: EdgeRequest, res: EdgeResponse): void {
  const limitBytes = res.locals.area?.bodyLimitBytes ?? 0;
  let bytes = 0;
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > limitBytes) proxyReq.destroy(tooLarge(limitBytes));
  });
}

function tooSlow(name: Upstream): AppError {
  return new AppError('upstream_timeout', `The ${name} service took too long to answer. Try again shortly.`);
}

function unreachable(name: Upstream, cause: unknown): AppError {
  return new AppError('service_unavailable', `The ${name} service cannot be reached just now. Try again shortly.`, {
    cause,
  });
}
