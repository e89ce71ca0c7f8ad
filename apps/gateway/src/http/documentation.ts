import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError } from '@tollkeeper/kernel';
import express from 'express';
import type { Router } from 'express';
import type { PublishedDocument } from '../openapi/published-document.ts';
import type { EdgeHeaders } from './edge-headers.ts';
import type { EdgeResponse } from './exchange.ts';

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Tollkeeper API</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
    <link rel="icon" href="/docs/favicon-32x32.png" />
  </head>
  <body>
    <div id="api"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

const START = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#api', deepLinking: true, tryItOutEnabled: false });\n`;

const ASSETS = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

/** `GET /openapi.json` and its HTML page, `GET /docs`, which loads nothing from other hosts. */
export function createDocumentationRouter(published: PublishedDocument, edgeHeaders: EdgeHeaders): Router {
  const router = express.Router({ caseSensitive: true });
  const assets = findAssets();
  router.use((_req, res, next) => {
    edgeHeaders.setForDocumentation(res as EdgeResponse);
    next();
  });
  router.get('/openapi.json', async (_req, res) => {
    res
      .type('application/json')
      .set('cache-control', 'no-cache')
      .send(await published.read());
  });
  router.get('/docs', (_req, res) => void res.type('html').send(PAGE));
  router.get('/docs/start.js', (_req, res) => void res.type('text/javascript').send(START));
  for (const name of ASSETS) {
    router.get(`/docs/${name}`, (_req, res) => res.sendFile(name, { root: assets, maxAge: '1d' }));
  }
  for (const path of ['/openapi.json', '/docs', '/docs/start.js', ...ASSETS.map((name) => `/docs/${name}`)]) {
    router.all(path, () => {
      throw new AppError('method_not_allowed', 'This path accepts GET and HEAD.', { allow: ['GET', 'HEAD'] });
    });
  }
  return router;
}

/** The files of Swagger UI: next to the bundle of this app, else in their package. */
function findAssets(): string {
  const bundled = join(import.meta.dirname, 'swagger-ui');
  return existsSync(bundled) ? bundled : dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/swagger-ui.css')));
}
