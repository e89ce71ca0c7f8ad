import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { AuditAction, AuditActor, Cause } from '@tollkeeper/contracts';
import { AppError, createTurns, may } from '@tollkeeper/kernel';
import type { Act, Caller, ExplainError, NeededRole } from '@tollkeeper/kernel';
import {
  type HttpServiceConfig,
  type Logger,
  type Metrics,
  type ServiceDeps,
  type Tracer,
  withSpan,
} from '@tollkeeper/runtime';
import express from 'express';
import type { Express, Request, RequestHandler, Response } from 'express';
import { answerStatus } from './answer-status.ts';
import { CALLER_HEADER, CLIENT_HEADER, tokenKey, verifyCallerToken, verifyClientAddress } from './caller-token.ts';
import type { TokenKey } from './caller-token.ts';
import { createErrorAnswerer, handleErrors } from './error-answerer.ts';
import { type BodyBudget, createBodyBudget, observeBodies } from './body-budget.ts';
import { createHttpListener } from './http-listener.ts';
import type { HttpListener, HttpListenerOptions } from './http-listener.ts';
import { openApiDocument } from './openapi.ts';
import { createRefusalCounter } from './refusals.ts';
import type { CountRefusal } from './refusals.ts';
import { createBodyReader } from './request-body.ts';
import type { BodyReaderOptions } from './request-body.ts';
import { REQUEST_ID_HEADER, requestIdOf } from './request-id.ts';
import type { Method, RequestFacts, Route, RouteResult } from './route.ts';
import { endServerSpan, startServerSpan } from './server-span.ts';
import { validate } from './validation.ts';

/** Version of the public API. The gateway merges its document from those of the services. */
const API_VERSION = '1';

const DEFAULT_BODY_LIMIT_BYTES = 1024 * 1024;
const DEFAULT_BODY_BUDGET_BYTES = 32 * 1024 * 1024;
/** Share of the budget that may be parsed at a time: a value takes up to twenty times the bytes of its text. */
const VALUES_SHARE = 1 / 8;

/** `metrics` gets the histogram `http_server_request_duration_seconds` by method, route and status. */
export interface HttpServerOptions extends ServiceDeps<HttpServiceConfig> {
  routes: readonly Route[];
  /** Name of the service as the gateway uses it, such as `keys`. Only caller tokens for this name are accepted. */
  name: string;
  /** Translates errors of libraries that the handlers use into answers. Other errors are answered as `internal`. */
  explain?: ExplainError;
  bodyLimitBytes?: number;
  /**
   * Most bytes of the bodies of all requests in flight, as far as they have arrived. A body beyond it is answered 503,
   * unless a stalled one loses its room.
   */
  bodyBudgetBytes?: number;
  resendsAfter503?: HttpListenerOptions['resendsAfter503'];
}

/** `bodies` and `countRefusal` are for servers of the same service that share its memory for bodies. */
export type HttpServer = HttpListener & { readonly bodies: BodyBudget; readonly countRefusal: CountRefusal };

/**
 * The HTTP server of a service behind the gateway.
 *
 * Checks, in this order: caller 401, role 403, content type 415, size 413, JSON 400, then parameters, query and body
 * together (400 with every problem). A known path with another method is 405 with `Allow`, an unknown one 404. Every
 * response has `X-Request-Id`; every error has the common error body, or is a `google.rpc.Status` for protobuf
 * requests. The service's own OpenAPI document is at `GET /openapi.json`.
 */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { config, name, metrics, bodyBudgetBytes = DEFAULT_BODY_BUDGET_BYTES } = options;
  const countRefusal = createRefusalCounter(metrics);
  const bodies = createBodyBudget({ budgetBytes: bodyBudgetBytes, countRefusal });
  observeBodies(metrics, [bodies]);
  const listener = createHttpListener({
    name: `http (${name})`,
    host: config.HOST,
    port: config.HTTP_PORT,
    listener: createApp(options, bodies),
    metrics,
    countRefusal,
    resendsAfter503: options.resendsAfter503,
  });
  return Object.assign(listener, { bodies, countRefusal });
}

function createApp(options: HttpServerOptions, budget: BodyBudget): Express {
  const { routes, name, config, logger, metrics, tracer } = options;
  const { bodyLimitBytes = DEFAULT_BODY_LIMIT_BYTES, bodyBudgetBytes = DEFAULT_BODY_BUDGET_BYTES } = options;
  const turns = createTurns({ capacity: bodyBudgetBytes * VALUES_SHARE, ofSender: 1 });
  const key = tokenKey(config.CALLER_TOKEN_SECRET);
  // One buffer that all answers share. From a string, each answer would make a copy.
  const document = Buffer.from(
    JSON.stringify(openApiDocument(routes, { title: `Tollkeeper ${name}`, version: API_VERSION })),
  );
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.enable('case sensitive routing');

  app.use(createRequestObserver(metrics, logger, tracer));
  app.use(readColons);
  app
    .route('/openapi.json')
    .get((_req, res) => void res.type('application/json').send(document))
    .all(refuseMethod(['get']));
  for (const [path, ofPath] of byPath(routes)) {
    const expressRoute = app.route(toExpressPath(path));
    for (const route of ofPath) {
      const limitBytes = route.bodyLimitBytes ?? bodyLimitBytes;
      const maxRatio = route.bodyRatioLimit ?? Infinity;
      const pipeline = createPipeline({ route, service: name, key, limitBytes, maxRatio, budget, turns });
      expressRoute[route.takesAnyRequest ? 'all' : route.method](pipeline);
      if (route.takesAnyRequest) app.all(new RegExp(`^${path}/.`), pipeline);
    }
    expressRoute.all(refuseMethod(ofPath.map(({ method }) => method)));
  }
  app.use(refuseUnrouted);
  app.use(handleErrors(createErrorAnswerer(logger, options.explain)));
  return app;
}

/** `/rules/{id}:pause` in express's notation, where a colon starts a parameter. */
function toExpressPath(path: string): string {
  return path.replaceAll(':', '\\:').replaceAll(/\{(\w+)\}/g, ':$1');
}

/**
 * The routes of each path. The first matching path wins, so literal words come before parameters, and a parameter with
 * a verb (`{id}:pause`) before one that would match the verb as well.
 */
function byPath(routes: readonly Route[]): [string, Route[]][] {
  const rank = (path: string): string =>
    // No path contains a tilde, which sorts after all other characters of paths.
    path.replaceAll(/\{\w+\}(?=\/|$)/g, '~~').replaceAll(/\{\w+\}/g, '~');
  const served = routes.flatMap((route) => [route.path, ...route.otherPaths].map((path) => ({ path, route })));
  return [...Map.groupBy(served, ({ path }) => path)]
    .map(([path, ofPath]): [string, Route[]] => [path, ofPath.map(({ route }) => route)])
    .sort(([a], [b]) => (rank(a) < rank(b) ? -1 : 1));
}

const ENCODED_COLON = /%3a/i;

/** A percent-encoded colon counts as a colon, as in `{id}:pause`. Other encodings stay: `%2F` is not a separator. */
const readColons: RequestHandler = (req, _res, next) => {
  if (ENCODED_COLON.test(req.url)) req.url = req.url.replace(/^[^?]*/, (path) => path.replaceAll(/%3a/gi, ':'));
  next();
};

/** Gives the request its id, counts it, and logs it when it is answered, all within its span. */
function createRequestObserver(metrics: Metrics, logger: Logger, tracer: Tracer | undefined): RequestHandler {
  const duration = metrics.histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Time from the request line to the end of the response',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });
  return (req, res, next) => {
    const startedAt = performance.now();
    const requestId = requestIdOf(req.headers[REQUEST_ID_HEADER]);
    res.locals['requestId'] = requestId;
    res.setHeader(REQUEST_ID_HEADER, requestId);
    const onClose = () => {
      const ms = performance.now() - startedAt;
      const route = (res.locals['operationId'] as string | undefined) ?? 'unknown';
      const status = answerStatus(res);
      duration.observe({ method: req.method, route, status }, ms / 1000);
      logger.debug({ request_id: requestId, route, status, ms: Math.round(ms) }, 'request');
    };
    if (tracer === undefined) {
      res.on('close', onClose);
      return next();
    }
    const span = startServerSpan(tracer, req, requestId);
    res.on('close', () => {
      withSpan(span, onClose);
      endServerSpan(span, req.method, res.locals['routePath'] as string | undefined, res);
    });
    withSpan(span, next);
  };
}

interface PipelineDeps extends BodyReaderOptions {
  route: Route;
  service: string;
  key: TokenKey;
}

function createPipeline({ route, service, key, ...bodyOptions }: PipelineDeps): RequestHandler {
  const readBody = createBodyReader(route, bodyOptions);
  return async (req, res) => {
    res.locals['operationId'] = route.operationId;
    res.locals['routePath'] = route.path;
    const facts: RequestFacts = {
      headers: req.headers,
      requestId: res.locals['requestId'] as string,
      clientAddress: await clientAddress(req, service, key),
    };
    const askedAt = performance.now();
    const { caller, sender, actor } = await authenticate(route, facts, service, key);
    const accessMs = performance.now() - askedAt;
    const cause = typeof route.audit === 'string' ? causeOf(route.audit, actor, facts) : undefined;
    const { read, release } = await readBody(req, res, sender, {
      arrived: (bytes) => route.chargeBytes?.(caller, bytes),
      use(body) {
        route.charge?.(caller, body.value);
        return validate(route, req.params, req.url, body);
      },
    });
    const abandoned = new AbortController();
    res.once('close', () => {
      if (!res.writableFinished) abandoned.abort();
    });
    const { signal } = abandoned;
    try {
      await send(req, res, await route.handler({ ...facts, ...read, caller, accessMs, cause, signal }));
    } catch (error) {
      // Nobody waits for an answer.
      if (!signal.aborted || error !== signal.reason) throw error;
    } finally {
      release();
    }
  };
}

interface Authenticated {
  caller: unknown;
  /** The person who makes the request, if already known. */
  actor?: AuditActor;
  /** The sender whose large bodies take turns with those of others. */
  sender: string;
}

async function authenticate(route: Route, facts: RequestFacts, service: string, key: TokenKey): Promise<Authenticated> {
  const { access } = route;
  if (access === 'public') return { caller: null, sender: facts.clientAddress };
  if (typeof access === 'object') {
    const caller = await access.authenticate(facts);
    return { caller, sender: access.senderOf(caller) };
  }
  const token = facts.headers[CALLER_HEADER];
  if (access === 'visitor' && token === undefined) return { caller: null, sender: facts.clientAddress };
  const caller = await verifyCallerToken(key, service, typeof token === 'string' ? token : '');
  if (access !== 'session' && access !== 'visitor') requireRole(caller, actOf(route), access);
  const { userId, name = userId } = caller;
  return { caller, sender: caller.tenantId ?? userId, actor: { type: 'user', id: userId, name } };
}

/** What members of a workspace do by the route. Those that record nothing change nothing. */
function actOf({ audit }: Route): Act {
  return typeof audit === 'string' ? 'change' : 'read';
}

function causeOf(action: AuditAction, actor: AuditActor | undefined, facts: RequestFacts): Partial<Cause> {
  const { clientAddress: address, requestId, headers } = facts;
  return { action, ...(actor && { actor }), address, userAgent: headers['user-agent'] ?? null, requestId };
}

function requireRole({ tenantId, role }: Caller, act: Act, needed: NeededRole): void {
  if (tenantId === null || role === null)
    throw new AppError('workspace_required', 'Name a workspace with /w/{slug}/api/v1/… or the X-Workspace header.');
  if (!may(role, act, needed))
    throw new AppError('forbidden', `This requires the role ${needed} in the workspace; yours is ${role}.`);
}

async function clientAddress(req: Request, service: string, key: TokenKey): Promise<string> {
  const token = req.headers[CLIENT_HEADER];
  const peer = req.socket.remoteAddress ?? '';
  if (typeof token !== 'string') return peer;
  return verifyClientAddress(key, service, token).catch(() => peer);
}

async function send(req: Request, res: Response, { status, headers, body, stream, bytes }: RouteResult): Promise<void> {
  // Requested before the head is sent, so that immediate failures still get an error answer.
  const pieces = stream?.[Symbol.asyncIterator]();
  const first = await pieces?.next();
  res.status(status);
  for (const [name, value] of Object.entries(headers ?? {})) res.setHeader(name, value);
  if (pieces !== undefined && first !== undefined && req.method !== 'HEAD') return sendPieces(res, first, pieces);
  await pieces?.return?.();
  if (bytes !== undefined) res.end(bytes);
  else if (body === undefined) res.end();
  else res.json(body);
}

/** Sends at the client's speed: the next piece is requested when there is room for it. */
async function sendPieces(res: Response, first: IteratorResult<string>, pieces: AsyncIterator<string>): Promise<void> {
  async function* all(): AsyncGenerator<string> {
    try {
      for (let piece = first; piece.done !== true; piece = await pieces.next()) yield piece.value;
    } finally {
      await pieces.return?.();
    }
  }
  try {
    await pipeline(Readable.from(all()), res);
  } catch (error) {
    // The client disconnected.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

/** Refuses other methods. Express answers HEAD wherever GET is defined. */
function refuseMethod(methods: readonly Method[]): RequestHandler {
  const allow = methods.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
  return () => {
    throw new AppError('method_not_allowed', `This path accepts ${allow.join(', ')}.`, { allow });
  };
}

const refuseUnrouted: RequestHandler = () => {
  throw new AppError('not_found', 'This path does not exist. GET /openapi.json lists all paths.');
};
