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
  const route = defineRoute({
    method: 'get',
    path: '/slow',
    operationId: 'getSlow',
    tag: 'Test',
    summary: 'Test',
    access: 'public',
    responses: { 204: { description: 'Done' } },
    handler: async () => {
      reached.resolve();
      await released.promise;
      return { status: 204 };
    },
  });
  server = createHttpServer({
    routes: [route],
    title: 'Test',
    service: 'test',
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
  expect(receiver.spans.map(({ attributes, failed }) => [attributes['http.response.status_code'], failed])).toEqual([
    [499, false],
  ]);
});
