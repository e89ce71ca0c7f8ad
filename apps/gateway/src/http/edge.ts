import { createErrorAnswerer, handleErrors } from '@tollkeeper/http';
import type { Logger, Metrics } from '@tollkeeper/runtime';
import express from 'express';
import type { Express, RequestHandler } from 'express';
import type { SessionDirectory } from '../clients/session.directory.ts';
import type { PublishedDocument } from '../openapi/published-document.ts';
import { authorize, checkBody, createAuthentication, createCrossSiteRefusal, findAreaOfRequest } from './admission.ts';
import { createDocumentationRouter } from './documentation.ts';
import type { EdgeHandler } from './exchange.ts';
import { answerExecute } from './execute.ts';
import { createLoginLimit } from './login-limit.ts';
import { createObserver } from './observe.ts';
import { createSecurityHeaders } from './security-headers.ts';

export interface EdgeOptions {
  publicUrl: string;
  trustedProxies: readonly string[];
  loginAttemptsPerMinute: number;
  sessions: SessionDirectory;
  published: PublishedDocument;
  forward: EdgeHandler;
  logger: Logger;
  metrics: Metrics;
}

/** The way of a request through the gateway, step by step: the decided order of checks (decisions §2) is this list. */
export function createEdge(options: EdgeOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.enable('case sensitive routing');
  app.set('trust proxy', options.trustedProxies);

  const steps: EdgeHandler[] = [
    createObserver(options.metrics, options.logger),
    createSecurityHeaders(options.publicUrl),
    answerExecute,
    onlyApi(createDocumentationRouter(options.published)),
    findAreaOfRequest,
    createLoginLimit(options.loginAttemptsPerMinute),
    createAuthentication(options.sessions),
    createCrossSiteRefusal(options.publicUrl),
    authorize,
    checkBody,
    options.forward,
  ];
  for (const step of steps) app.use(step as RequestHandler);
  app.use(handleErrors(createErrorAnswerer(options.logger)));
  return app;
}

/** Passes requests of the API by `pages`: they are the many, and none of them is for it. */
function onlyApi(pages: RequestHandler): EdgeHandler {
  return (req, res, next) => {
    if (req.url.startsWith('/api/') || req.url.startsWith('/w/')) next();
    else pages(req, res, next);
  };
}
