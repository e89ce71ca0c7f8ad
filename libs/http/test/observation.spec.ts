import { afterEach, beforeEach, expect, it } from '@jest/globals';
import {
  createMetrics,
  createTracing,
  loadConfig,
  type Metrics,
  serviceConfig,
  type Tracing,
} from '@tollkeeper/runtime';
import { eventually, type OtlpReceiver, startOtlpReceiver, type TestLogger, testLogger } from '@tollkeeper/testing';
import { z } from 'zod';
import { createHttpServer, defineRoute, type HttpListener } from '../src/index.ts';
import { secret } from './api.fixture.ts';

let receiver: OtlpReceiver;
let tracing: Tracing;
let log: TestLogger;
let metrics: Metrics;
let server: HttpListener;
let reached: PromiseWithResolvers<void>;
let released: PromiseWithResolvers<void>;

beforeEach(async () => {
  receiver = await startOtlpReceiver();
  log = testLogger();
  metrics = createMetrics('test');
  reached = Promise.withResolvers();
  released = Promise.withResolvers();
  const config = loadConfig(serviceConfig, { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  tracing = await createTracing({ config, logger: log.logger, metrics });
  const about = {
    method: 'get',
    tag: 'Test',
    summary: 'Test',
    access: 'public',
    responses: { 204: { description: 'Done' } },
  } as const;
  const slow = defineRoute({
    ...about,
    path: '/slow',
    operationId: 'getSlow',
    handler: async () => {
      reached.resolve();
      await released.promise;
      return { status: 204 };
    },
  });
  const item = defineRoute({
    ...about,
    path: '/items/{id}',
    operationId: 'getItem',
    params: z.object({ id: z.string() }),
    handler: async ({ params }) => {
      if (params.id === 'broken') throw new Error('broken');
      return { status: 204 };
    },
  });
  server = createHttpServer({
    routes: [slow, item],
    name: 'test',
    config: { HOST: '127.0.0.1', HTTP_PORT: 0, CALLER_TOKEN_SECRET: secret },
    logger: log.logger,
    metrics,
    tracer: tracing.tracerOf('test'),
  });
  await server.start();
});
afterEach(async () => {
  released.resolve();
  await server.stop();
  await tracing.stop();
  await receiver.stop();
});

it('a request that its client gives up before it is answered is counted, logged and traced as 499, and no failure of ours', async () => {
  const patience = new AbortController();
  const given = fetch(`${server.url}/slow`, { signal: patience.signal });
  await reached.promise;
  patience.abort();
  await expect(given).rejects.toThrow();

  const line = await eventually(() => {
    const found = log.lines().find(({ msg }) => msg === 'request');
    expect(found).toBeDefined();
    return found;
  });
  expect(line).toMatchObject({ route: 'getSlow', status: 499 });
  const counted = await metrics.registry.getSingleMetricAsString('http_server_request_duration_seconds');
  expect(counted).toContain('route="getSlow",status="499"');
  expect(counted).not.toContain('status="200"');
  await tracing.stop();
  expect(receiver.spans).toMatchObject([
    { failed: false, attributes: { 'http.response.status_code': 499, 'tollkeeper.aborted': true } },
  ]);
});

it('a request is a span of the trace that it came with, by method and route and never by path', async () => {
  const [traceId, parentSpanId] = ['1'.repeat(32), '2'.repeat(16)];
  const headers = { traceparent: `00-${traceId}-${parentSpanId}-01`, 'x-request-id': 'traced-request' };
  for (const path of ['/items/one', '/items/broken', '/nowhere']) await fetch(`${server.url}${path}`, { headers });
  await server.stop();
  await tracing.stop();

  const common = { 'http.request.method': 'GET', 'tollkeeper.request_id': 'traced-request' };
  const route = { 'http.route': '/items/{id}' };
  const span = { kind: 'SERVER', traceId, parentSpanId, failed: false };
  expect(receiver.spans).toMatchObject([
    { ...span, name: 'GET /items/{id}', attributes: { ...common, ...route, 'http.response.status_code': 204 } },
    {
      ...span,
      name: 'GET /items/{id}',
      failed: true,
      attributes: { ...common, ...route, 'http.response.status_code': 500 },
    },
    { ...span, name: 'GET', attributes: { ...common, 'http.response.status_code': 404 } },
  ]);
  for (const { attributes } of receiver.spans) expect(attributes).not.toHaveProperty(['tollkeeper.aborted']);
  expect(receiver.spans[2]?.attributes).not.toHaveProperty(['http.route']);
});
