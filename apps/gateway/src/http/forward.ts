import { Agent } from 'node:http';
import type { ClientRequest, IncomingHttpHeaders } from 'node:http';
import { CALLER_HEADER, CLIENT_HEADER, REQUEST_ID_HEADER, signClientAddress } from '@tollkeeper/http';
import type { ErrorAnswerer, TokenKey } from '@tollkeeper/http';
import { AppError } from '@tollkeeper/kernel';
import { headersOf } from '@tollkeeper/runtime';
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
  /** Origins of the services. */
  upstreams: Record<Upstream, string>;
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
  /**
   * Sends an admitted request to its service and the service's answer to the client. Throws `service_unavailable` when the
   * service has too many under way already.
   */
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

/** Requests to one service at a time, each on a connection of its own: those of a service that hangs must not pile up here. */
const MAX_UNDER_WAY = 1024;

export function createForwarder(options: ForwardOptions): Forwarder {
  const { upstreams, tokenKey, sessions, timeoutMs } = options;
  const agent = new Agent({
    keepAlive: true,
    maxSockets: MAX_UNDER_WAY,
    maxFreeSockets: MAX_UNDER_WAY,
    timeout: timeoutMs,
  });
  const proxies = Object.fromEntries(
    Object.entries(upstreams).map(([name, origin]) => [name, createProxy(name, origin, agent, options)]),
  ) as Record<Upstream, RequestHandler<EdgeRequest, EdgeResponse>>;
  const underWay = new Map<Upstream, number>();

  function countUntilClosed(upstream: Upstream, res: EdgeResponse): void {
    const count = underWay.get(upstream) ?? 0;
    if (count >= MAX_UNDER_WAY) throw tooBusy(upstream);
    underWay.set(upstream, count + 1);
    res.once('close', () => underWay.set(upstream, (underWay.get(upstream) ?? 0) - 1));
  }

  async function forward(req: EdgeRequest, res: EdgeResponse, admitted: Admitted): Promise<void> {
    const { target, cookie, session, membership } = admitted;
    const { area } = target;
    countUntilClosed(area.upstream, res);
    const headers = passedHeaders(req.headers, area, res.locals.requestId);
    const { span } = res.locals;
    // The client's trace state belongs to the client's parent, and the span may have begun a trace of its own.
    if (span !== undefined) {
      delete headers['tracestate'];
      Object.assign(headers, headersOf(span));
    }
    if (session !== null) headers[CALLER_HEADER] = await session.callerToken(membership);
    if (area.tellsClientAddress) headers[CLIENT_HEADER] = await signClientAddress(tokenKey, clientAddress(req));
    req.headers = headers;
    req.url = target.url;
    if (cookie !== undefined && area.upstream === 'identity' && !isSafeMethod(req.method)) {
      res.locals.onAnswer = () => sessions.forget(cookie);
    }
    return proxies[area.upstream](req, res);
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

function createProxy(name: string, origin: string, agent: Agent, { answerError, edgeHeaders }: ForwardOptions) {
  const events: Plugin<EdgeRequest, EdgeResponse> = (proxy) => {
    proxy.on('proxyReq', (proxyReq, req, res) => {
      res.locals.sent = proxyReq;
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
      if (req === undefined || res === undefined || !('writeHead' in res)) return;
      if (wasClosedBefore(error, req, res)) return void forwardAgain(req, res);
      answerError(error instanceof AppError ? error : unreachable(name, error), req, res);
      // What is left of the body would stand before the next request on this connection.
      req.resume();
    });
    // The client went away first: there is no one to answer.
    proxy.on('econnreset', () => undefined);
  };
  const forwardOnce = createProxyMiddleware<EdgeRequest, EdgeResponse>({
    target: new URL(origin),
    agent,
    // The default plugins print to the console and answer errors with a body of their own.
    ejectPlugins: true,
    selfHandleResponse: true,
    plugins: [events],
  });
  const forwardAgain = (req: EdgeRequest, res: EdgeResponse): Promise<void> => {
    res.locals.sentAgain = true;
    return forwardOnce(req, res);
  };
  return forwardOnce;
}

/**
 * Whether a service has let go of a kept connection just when this request was sent into it, as a service does that stops
 * or is restarted. A request that changes nothing may then be sent again.
 */
function wasClosedBefore(
  error: Error,
  { method, headers }: EdgeRequest,
  { headersSent, locals }: EdgeResponse,
): boolean {
  const bodiless = headers['content-length'] === undefined && headers['transfer-encoding'] === undefined;
  return (
    locals.sent?.reusedSocket === true &&
    locals.sentAgain !== true &&
    'code' in error &&
    ['ECONNRESET', 'EPIPE'].includes(String(error.code)) &&
    isSafeMethod(method) &&
    bodiless &&
    !headersSent
  );
}

function limitBody(proxyReq: ClientRequest, req: EdgeRequest, res: EdgeResponse): void {
  const limitBytes = res.locals.area?.bodyLimitBytes ?? 0;
  let bytes = 0;
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > limitBytes) proxyReq.destroy(tooLarge(limitBytes));
  });
}

function tooBusy(name: string): AppError {
  const message = `The ${name} service has as many requests under way as it can take. Try again shortly.`;
  return new AppError('service_unavailable', message, { retryAfterSeconds: 1 });
}

function tooSlow(name: string): AppError {
  return new AppError('upstream_timeout', `The ${name} service took too long to answer. Try again shortly.`);
}

function unreachable(name: string, cause: unknown): AppError {
  return new AppError('service_unavailable', `The ${name} service cannot be reached just now. Try again shortly.`, {
    cause,
  });
}
