import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createMetrics, loadConfig } from '@tollkeeper/runtime';
import { testLogger } from '@tollkeeper/testing';
import supertest from 'supertest';
import { consoleConfig, type ConsoleService, createConsole } from '../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'tollkeeper-console-'));
const DOCUMENT = '<!doctype html><title>Tollkeeper</title>';
const SCRIPT = 'export const answer = 42;\n'.repeat(200);

function start(pages: string): ConsoleService {
  const config = loadConfig(consoleConfig, { HOST: '127.0.0.1', HTTP_PORT: '0' });
  return createConsole({
    config,
    logger: testLogger().logger,
    metrics: createMetrics('console'),
    tracer: undefined,
    pages,
  });
}

let service: ConsoleService;
beforeAll(async () => {
  mkdirSync(join(folder, 'assets'));
  for (const [name, content] of [
    ['index.html', DOCUMENT],
    ['assets/index-abc.js', SCRIPT],
  ] as const) {
    writeFileSync(join(folder, name), content);
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(content));
  }
  service = start(folder);
  await service.start();
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

const get = (path: string, encoding = 'identity') =>
  supertest(service.httpUrl).get(path).set('accept-encoding', encoding);

it.each(['/', '/login', '/w/demo', '/w/demo/agents/gpt-5.1', '/w/demo/agents/a%2Fb.js', '/w/x/budgets?range=3m'])(
  'answers %s with the document, which is kept nowhere',
  async (path) => {
    const { status, text, headers } = await get(path);
    expect([status, text, headers['cache-control']]).toEqual([200, DOCUMENT, 'no-store']);
    expect(headers['content-type']).toMatch(/^text\/html/);
  },
);

it('says what a page may load and run: the files of the console alone, and no script made from text', async () => {
  const { headers } = await get('/w/demo');
  expect(headers['content-security-policy']).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
      "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
      "require-trusted-types-for 'script'",
  );
  expect([headers['x-content-type-options'], headers['referrer-policy']]).toEqual(['nosniff', 'no-referrer']);
});

it('answers a file below /assets for a year, in the smallest form that the browser takes', async () => {
  const sizes: number[] = [];
  for (const [accepted, expected] of [
    ['br, gzip', 'br'],
    ['gzip', 'gzip'],
    ['identity', undefined],
  ] as const) {
    const { headers, text } = await get('/assets/index-abc.js', accepted);
    expect([headers['content-encoding'], headers['vary']]).toEqual([expected, 'Accept-Encoding']);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(headers['content-type']).toMatch(/^text\/javascript/);
    if (expected !== 'br') expect(text).toBe(SCRIPT);
    sizes.push(Number(headers['content-length']));
  }
  expect(sizes).toEqual([...sizes].sort((a, b) => a - b));
});

it.each(['/assets/index-old.js', '/assets/', '/assets/..%2findex.html'])(
  '%s is no file: 404, and not the document in its place',
  async (path) => {
    const { status, body } = await get(path);
    expect([status, body.code]).toEqual([404, 'not_found']);
  },
);

it.each(['/../package.json', '/%2e%2e/package.json', '/..%5cpackage.json', '/assets/../../package.json'])(
  '%s leads to no file outside of the pages',
  async (path) => {
    const { text } = await get(path);
    expect(text).not.toContain('@tollkeeper/console');
  },
);

it('names the request in its errors: the id of the edge where there is one', async () => {
  const answer = await get('/assets/none.js').set('x-request-id', 'req_of-the-edge');
  expect([answer.body.request_id, answer.headers['x-request-id']]).toEqual(['req_of-the-edge', 'req_of-the-edge']);
  expect((await get('/assets/none.js')).body.request_id).toMatch(/^req_/);
});

it('takes GET and HEAD alone', async () => {
  const head = await supertest(service.httpUrl).head('/w/demo');
  expect([head.status, head.text]).toEqual([200, undefined]);
  const post = await supertest(service.httpUrl).post('/w/demo');
  expect([post.status, post.headers['allow'], post.body.code]).toEqual([405, 'GET, HEAD', 'method_not_allowed']);
});

it('says how the pages are built where they are not', async () => {
  const unbuilt = start(join(folder, 'nothing'));
  await unbuilt.start();
  try {
    const { status, body } = await supertest(unbuilt.httpUrl).get('/');
    expect([status, body.code]).toEqual([503, 'service_unavailable']);
    expect(body.error).toContain('npm run build -w @tollkeeper/console');
  } finally {
    await unbuilt.stop();
  }
});
