import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openApiDocument } from '@tollkeeper/http';
import request from 'supertest';
import { mergeDocuments } from '../src/openapi/merge.ts';
import { createPublishedDocument } from '../src/openapi/published-document.ts';
import { executeRoute } from '../src/http/execute.ts';
import { testLogger } from '@tollkeeper/testing';
import type { EchoService, Stack } from './stack.fixture.ts';
import { startEcho, startStack } from './stack.fixture.ts';

const own = openApiDocument([executeRoute], { title: 'Tollkeeper', version: '1' });
const documentOf = (path: string, schemas: Record<string, object> = {}) => ({
  openapi: '3.1.1',
  info: { title: 'x', version: '1' },
  paths: {
    [path]: {
      get: {
        operationId: path,
        responses: {
          200: { description: '', content: { 'application/json': { schema: { $ref: '#/components/schemas/Item' } } } },
        },
      },
    },
  },
  components: { schemas },
});

describe('mergeDocuments', () => {
  it('keeps every path, and one copy of what services mean alike', () => {
    const item = { type: 'object' as const };
    const merged = mergeDocuments(own, [
      { service: 'keys', document: documentOf('/a', { Item: item }) },
      { service: 'dashboard', document: documentOf('/b', { Item: item }) },
    ]);
    expect(Object.keys(merged.paths ?? {})).toEqual(['/a', '/b', '/api/v1/execute']);
    expect(Object.keys(merged.components?.schemas ?? {})).toEqual(['Error', 'Item']);
  });

  it('renames what a later service means differently, with all that refers to it', () => {
    const list = { type: 'array' as const, items: { $ref: '#/components/schemas/Item' } };
    const merged = mergeDocuments(own, [
      { service: 'keys', document: documentOf('/a', { Item: { type: 'string' } }) },
      { service: 'dashboard', document: documentOf('/b', { Item: { type: 'number' }, List: list }) },
    ]);
    expect(merged.components?.schemas).toMatchObject({
      Item: { type: 'string' },
      DashboardItem: { type: 'number' },
      List: { type: 'array', items: { $ref: '#/components/schemas/DashboardItem' } },
    });
    expect(JSON.stringify(merged.paths?.['/b'])).toContain('#/components/schemas/DashboardItem');
    expect(JSON.stringify(merged.paths?.['/a'])).toContain('#/components/schemas/Item');
  });

  it('refuses two services that claim one path', () => {
    const twice = ['keys', 'dashboard'].map((service) => ({ service, document: documentOf('/a') }));
    expect(() => mergeDocuments(own, twice)).toThrow('dashboard defines /a');
    const ours = [{ service: 'keys', document: documentOf('/api/v1/execute') }];
    expect(() => mergeDocuments(own, ours)).toThrow('keys defines /api/v1/execute');
  });
});

describe('the published document', () => {
  const serve = (service: EchoService, document: object) => {
    service.answer = (_req, res) =>
      void res.setHeader('content-type', 'application/json').end(JSON.stringify(document));
  };

  it('asks each service once a minute, names one that is down, and shows its last good copy', async () => {
    const keys = await startEcho('keys');
    const dashboard = await startEcho('dashboard');
    serve(keys, documentOf('/keys'));
    serve(dashboard, documentOf('/dashboard'));
    let now = 0;
    const published = createPublishedDocument({
      upstreams: { keys: keys.url, dashboard: dashboard.url },
      routes: [executeRoute],
      logger: testLogger().logger,
      clock: () => now,
    });
    const read = async () => JSON.parse(String(await published.read())) as { info: object; paths: object };

    const [first] = await Promise.all([read(), read()]);
    expect(Object.keys(first.paths)).toEqual(['/keys', '/dashboard', '/api/v1/execute']);
    expect(first.info).not.toHaveProperty('x-unavailable-services');
    now = 59_999;
    await read();
    expect([keys.requests, dashboard.requests]).toEqual([1, 1]);

    await keys.close();
    now = 60_000;
    const second = await read();
    expect(Object.keys(second.paths)).toContain('/keys');
    expect(second.info).toMatchObject({ 'x-unavailable-services': ['keys'] });
    await dashboard.close();
  });

  it('leaves out a service that was never up, and asks it again soon', async () => {
    const keys = await startEcho('keys');
    keys.answer = (_req, res) => void res.writeHead(500).end('{"error":"Not now."}');
    let now = 0;
    const log = testLogger();
    const published = createPublishedDocument({
      upstreams: { keys: keys.url },
      routes: [executeRoute],
      logger: log.logger,
      clock: () => now,
    });
    expect(JSON.parse(String(await published.read()))).toMatchObject({ info: { 'x-unavailable-services': ['keys'] } });
    expect(log.lines()).toEqual([expect.objectContaining({ level: 'warn', upstream: 'keys', err: expect.anything() })]);
    serve(keys, documentOf('/keys'));
    now = 4_999;
    expect(JSON.parse(String(await published.read())).paths).not.toHaveProperty('/keys');
    now = 5_000;
    expect(JSON.parse(String(await published.read())).paths).toHaveProperty('/keys');
    await keys.close();
  });

  it('takes the document of a service from that service alone: a redirect is none', async () => {
    const [keys, other] = [await startEcho('keys'), await startEcho('other')];
    serve(other, documentOf('/other'));
    keys.answer = (_req, res) => void res.writeHead(302, { location: `${other.url}/openapi.json` }).end();
    const published = createPublishedDocument({
      upstreams: { keys: keys.url },
      routes: [executeRoute],
      logger: testLogger().logger,
    });
    expect(JSON.parse(String(await published.read()))).toMatchObject({ info: { 'x-unavailable-services': ['keys'] } });
    expect(other.requests).toBe(0);
    for (const service of [keys, other]) await service.close();
  });

  it('is made anew after it could not be made', async () => {
    const [keys, dashboard] = [await startEcho('keys'), await startEcho('dashboard')];
    for (const service of [keys, dashboard]) serve(service, documentOf('/same'));
    const published = createPublishedDocument({
      upstreams: { keys: keys.url, dashboard: dashboard.url },
      routes: [executeRoute],
      logger: testLogger().logger,
      clock: () => 1,
    });
    await expect(published.read()).rejects.toThrow('dashboard defines /same');
    serve(dashboard, documentOf('/dashboard'));
    expect(JSON.parse(String(await published.read())).paths).toHaveProperty('/dashboard');
    for (const service of [keys, dashboard]) await service.close();
  });
});

describe('the pages', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack();
    for (const [name, service] of Object.entries(stack.services)) {
      service.answer = (_req, res) =>
        void res.setHeader('content-type', 'application/json').end(JSON.stringify(documentOf(`/${name}`)));
    }
  });
  afterAll(() => stack.stop());

  it('GET /openapi.json is the merged document, for everyone', async () => {
    const answer = await request(stack.gateway.httpUrl).get('/openapi.json');
    expect([answer.type, answer.headers['cache-control']]).toEqual(['application/json', 'no-cache']);
    expect(Object.keys(answer.body.paths)).toEqual([
      ...['/identity', '/dashboard', '/budgets', '/alerts', '/notifier', '/keys', '/ingest', '/enforcer', '/audit'],
      '/api/v1/execute',
    ]);
    expect(answer.body.components.securitySchemes).toHaveProperty('session');
    expect(answer.body.info).toEqual({
      title: 'Tollkeeper',
      version: '1',
      description: expect.stringContaining('POST /api/v1/auth/login'),
    });
  });

  it('GET /docs is a page that loads only what this gateway serves', async () => {
    const page = await request(stack.gateway.httpUrl).get('/docs');
    expect([page.status, page.type]).toEqual([200, 'text/html']);
    expect(page.headers['x-request-id']).toMatch(/^req_/);
    expect(page.headers['content-security-policy']?.split('; ')).toEqual([
      ...["default-src 'none'", "script-src 'self'", "style-src 'self' 'unsafe-inline'", "img-src 'self' data:"],
      ...["connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"],
    ]);
    const urls = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '');
    expect(urls.length).toBeGreaterThan(2);
    for (const url of urls) expect((await request(stack.gateway.httpUrl).get(url)).status).toBe(200);
    expect(page.text).not.toMatch(/<script>|https?:\/\//);
    const start = await request(stack.gateway.httpUrl).get('/docs/start.js');
    expect([start.type, start.text]).toEqual(['text/javascript', expect.stringContaining("url: '/openapi.json'")]);
    const script = await request(stack.gateway.httpUrl).get('/docs/swagger-ui-bundle.js');
    expect(script.headers['cache-control']).toBe('public, max-age=86400');
  });

  it('take GET and HEAD: other methods are 405, also on what the page loads', async () => {
    for (const path of ['/openapi.json', '/docs', '/docs/start.js', '/docs/swagger-ui.css']) {
      const post = await request(stack.gateway.httpUrl).post(path);
      expect([post.status, post.headers['allow'], post.body.code]).toEqual([405, 'GET, HEAD', 'method_not_allowed']);
      expect(post.body.error).toBe('This path accepts GET and HEAD.');
      expect(post.headers).toMatchObject({
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'cache-control': 'no-store',
      });
    }
    for (const path of ['/Docs', '/OPENAPI.json']) {
      expect((await request(stack.gateway.httpUrl).get(path)).status).toBe(404);
    }
  });
});
