import { handleErrors } from '@tollkeeper/http';
import type { CountRefusal, ErrorAnswerer } from '@tollkeeper/http';
import { AppError } from '@tollkeeper/kernel';
import { type Logger, type Metrics, type Tracer, withSpan } from '@tollkeeper/runtime';
import express from 'express';
import type { Express, NextFunction, RequestHandler } from 'express';
import { type Area, AREAS, findArea, PAGES } from '../domain/area.ts';
import type { Membership } from '../domain/membership.ts';
import type { SessionDirectory } from '../domain/session.ts';
import { createWriteProtection, hasBody, isSafeMethod } from '../domain/write-protection.ts';
import type { PublishedDocument } from '../openapi/published-document.ts';
import {
  authenticate,
  authorize,
  checkBody,
  keyOf,
  networkOf,
  notFound,
  readUrl,
  sessionCookie,
  targetOf,
} from './admission.ts';
import { createDocumentationRouter } from './documentation.ts';
import type { EdgeHeaders } from './edge-headers.ts';
import type { EdgeRequest, EdgeResponse } from './exchange.ts';
import { answerExecute, isExecute } from './execute.ts';
import type { Admitted, Forwarder } from './forward.ts';
import { createLoginLimit } from './login-limit.ts';
import { createObserver } from './observe.ts';
import type { PagesProxy } from './pages.proxy.ts';
import { createPublicBytesLimit } from './public-bytes.limit.ts';
import { createInFlightLimit, type InFlightLimit } from './in-flight.limit.ts';
import type { WaitingBodies } from './waiting.bodies.ts';

export interface EdgeOptions {
  publicUrl: string;
  /** Addresses and CIDR ranges whose X-Forwarded-For is trusted. */
  trustedProxies: readonly string[];
  loginAttemptsPerMinute: number;
  inFlightPerSender: number;
  inFlightPerAddress: number;
  publicBytesPerSecond: number;
  countRefusal: CountRefusal;
  bodies: WaitingBodies;
  sessions: SessionDirectory;
  published: PublishedDocument;
  forward: Forwarder['forward'];
  sendPage: PagesProxy['send'];
  edgeHeaders: EdgeHeaders;
  answerError: ErrorAnswerer;
  logger: Logger;
  metrics: Metrics;
  tracer: Tracer | undefined;
}

/** The public HTTP interface: the API, its documentation, and the console. */
export function createEdge(options: EdgeOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.enable('case sensitive routing');
  app.set('trust proxy', options.trustedProxies);

  const observe = createObserver(options.metrics, options.logger, options.tracer);
  const addresses = createInFlightLimit(options.inFlightPerAddress, options.countRefusal);
  const answerApi = createApi(options, addresses);
  const publicBytes = createPublicBytesLimit(options.publicBytesPerSecond, options.countRefusal);
  const answerPages = createPages(options);
  const answerDocumentation = createDocumentationRouter(options.published, options.edgeHeaders);

  // One step instead of several, because every request passes here and each step costs throughput.
  const answer = (req: EdgeRequest, res: EdgeResponse, next: NextFunction): void | Promise<void> => {
    observe(req, res);
    if (isApi(req.url)) {
      const { span } = res.locals;
      return span === undefined ? answerApi(req, res) : withSpan(span, () => answerApi(req, res));
    }
    const address = networkOf(res.locals.clientAddress);
    addresses.enter(address, res);
    publicBytes.enter(address, res);
    if (!isDocumentation(req.url)) return answerPages(req, res);
    answerDocumentation(req, res, next);
  };
  app.use(answer as RequestHandler);
  app.use(refuseUnknown);
  app.use(handleErrors(options.answerError));
  return app;
}

function isApi(url: string): boolean {
  return url.startsWith('/api/') || OTHER_API_PATHS.test(url);
}

/** API paths, mistyped ones too: their callers need an error that they can parse, not a page. */
const OTHER_API_PATHS = /^\/+(?:w\/[^/?]*\/)?(?:api|v1)(?:[/?]|$)/i;

/** Starting a log-in at a provider costs identity a document and requests to the provider. */
function costsAttempt({ limitsAttempts }: Area, method: string, path: string): boolean {
  return limitsAttempts && (method === 'POST' || path.endsWith('/start'));
}

function isDocumentation(url: string): boolean {
  return /^\/(?:docs|openapi\.json)(?:[/?]|$)/i.test(url);
}

const refuseUnknown: RequestHandler = () => {
  throw notFound();
};

/** Handles requests for pages and files of the console. They are public, since they contain no user data. */
function createPages({ sendPage }: EdgeOptions): (req: EdgeRequest, res: EdgeResponse) => void {
  return (req, res) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      throw new AppError('method_not_allowed', 'Pages accept GET and HEAD.', { allow: ['GET', 'HEAD'] });
    }
    res.locals.area = PAGES;
    sendPage(req, res);
  };
}

/** Handles requests to the API: the checks in the order of the table in the README. */
function createApi(
  options: EdgeOptions,
  addresses: InFlightLimit,
): (req: EdgeRequest, res: EdgeResponse) => Promise<void> {
  const { sessions, forward, edgeHeaders, bodies, countRefusal } = options;
  // Users and keys are counted separately, because an unverified key is any text and could equal a user's id.
  const users = createInFlightLimit(options.inFlightPerSender, countRefusal);
  // Each area is counted separately, so that events whose service hangs do not block the same key's reservations.
  const keys = new Map(AREAS.map((area) => [area, createInFlightLimit(options.inFlightPerSender, countRefusal)]));
  const limitLogins = createLoginLimit(options.loginAttemptsPerMinute);
  // Counted apart, so that jobs do not use up the logins of people who share their address.
  const limitExchanges = createLoginLimit(options.loginAttemptsPerMinute);
  const refuseCrossSite = createWriteProtection(options.publicUrl);

  return async (req, res) => {
    const url = readUrl(req.url);
    if (isExecute(url.path)) {
      edgeHeaders.setForApi(res);
      return answerExecute(req, res);
    }
    const exchange = res.locals;
    const found = findArea(url.path);
    addresses.enter(networkOf(exchange.clientAddress), res, found?.area.atLimit);
    const { headers, method } = req;
    const target = targetOf(found, url, headers);
    const { area } = target;
    exchange.area = area;
    const cookie = sessionCookie(headers);
    let session = await authenticate(area, cookie, sessions.resolve, exchange.requestId);
    if (session !== null) {
      exchange.session = session;
      users.enter(session.userId, res);
    }
    const key = keyOf(area, headers);
    if (key !== undefined) keys.get(area)?.enter(key, res, area.atLimit);
    // Browsers send cookies automatically, but never keys.
    if (area.access !== 'key' || cookie !== undefined) refuseCrossSite(method, headers);
    const isWrite = session !== null && !isSafeMethod(method);
    const authorizeAnew = async (): Promise<Membership | null> => {
      session = await authenticate(area, cookie, sessions.resolveAnew, exchange.requestId);
      return authorize(target, session, method);
    };
    let membership: Membership | null;
    try {
      membership = authorize(target, session, method);
    } catch (refusal) {
      // The role may have been given just now.
      if (!isWrite) throw refusal;
      membership = await authorizeAnew();
    }
    if (membership !== null) exchange.membership = membership;
    checkBody(target, method, headers);
    // Last, so that requests that identity never sees, such as cross-site ones, do not use up log-in attempts.
    if (costsAttempt(area, method, url.path)) {
      const limit = url.path.endsWith(':exchange') ? limitExchanges : limitLogins;
      limit(exchange.clientAddress);
    }

    let body: Admitted['body'] = null;
    if (hasBody(headers)) {
      body = await bodies.wait(area, req, res);
      if (body === null) return;
    }
    // Checked after all waiting. Otherwise a write, such as a new key, could follow the loss of the role.
    if (isWrite) membership = await authorizeAnew();
    return forward(req, res, { target, cookie, session, membership, body });
  };
}
