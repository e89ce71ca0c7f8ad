import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type ErrorAnswerer, handleErrors, REQUEST_ID_HEADER, requestIdOf } from '@tollkeeper/http';
import { AppError } from '@tollkeeper/kernel';
import express, { type Express, type RequestHandler } from 'express';
import sirv from 'sirv';

/**
 * Only files of this service may run, style or load, nothing is sent elsewhere, and no script is made from text. The
 * pages are tested under this policy.
 */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const A_YEAR_SECONDS = 365 * 24 * 3600;

/**
 * Serves the files of the pages, each in the smallest encoding that the browser accepts. A file below `/assets` is
 * named after its content, so it is cached for a year. Every other path is a page and gets the same document, which is
 * not cached, so a reload shows a new version. GET and HEAD only.
 */
export function createPages(folder: string, answerError: ErrorAnswerer): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(identified);
  app.use(readsOnly);
  if (existsSync(join(folder, 'index.html'))) {
    app.use('/assets', files(join(folder, 'assets'), `public, max-age=${A_YEAR_SECONDS}, immutable`), refuseUnknown);
    app.use(files(folder, 'no-store', true));
  }
  app.use(refuseUnbuilt);
  app.use(handleErrors(answerError));
  return app;
}

function files(folder: string, cacheControl: string, pages = false): RequestHandler {
  const serve = sirv(folder, {
    brotli: true,
    gzip: true,
    single: pages,
    // Page URLs contain ids, which may have dots.
    ignores: false,
    setHeaders(res) {
      res.setHeader('cache-control', cacheControl);
      res.setHeader('content-security-policy', PAGE_POLICY);
      res.setHeader('x-content-type-options', 'nosniff');
      res.setHeader('referrer-policy', 'no-referrer');
    },
  });
  return (req, res, next) => serve(req, res, next);
}

const identified: RequestHandler = (req, res, next) => {
  res.locals['requestId'] = requestIdOf(req.headers[REQUEST_ID_HEADER]);
  res.setHeader(REQUEST_ID_HEADER, res.locals['requestId']);
  next();
};

const readsOnly: RequestHandler = (req, _res, next) => {
  if (req.method === 'GET' || req.method === 'HEAD') return next();
  throw new AppError('method_not_allowed', 'Pages accept GET and HEAD.', { allow: ['GET', 'HEAD'] });
};

const refuseUnknown: RequestHandler = () => {
  throw new AppError('not_found', 'This file does not exist. Reload the page: it may be from an earlier version.');
};

const refuseUnbuilt: RequestHandler = () => {
  throw new AppError('service_unavailable', 'The console is not built. Run: npm run build -w @tollkeeper/console');
};
