import { afterEach, describe, expect, it } from '@jest/globals';
import { createMetrics, createTracing, loadConfig, serviceConfig } from '@tollkeeper/runtime';
import { eventually, startOtlpReceiver, testLogger } from '@tollkeeper/testing';
import request from 'supertest';
import type { Seen, Stack } from './stack.fixture.ts';
import { cookieOf, startStack } from './stack.fixture.ts';

const SPEND = '/w/acme/api/v1/dashboard/spend';
let stack: Stack;
afterEach(() => stack.stop());

/** The log line of the request with this id. */
function lineOf(requestId: string): Promise<Record<string, unknown>> {
  return eventually(() => {
    const [line, ...more] = stack.log.lines().filter((entry) => entry['request_id'] === requestId);
    if (line === undefined || more.length > 0) throw new Error(`not one line about ${requestId}`);
    return line;
  });
}

describe('a request that its client gives up before it is answered', () => {
  it('is counted and logged as 499, so that a service that hangs is no success', async () => {
    stack = await startStack();
    stack.services.dashboard.answer = () => undefined;
    const patience = new AbortController();
    const given = fetch(`${stack.gateway.httpUrl}${SPEND}`, {
      headers: { cookie: cookieOf('ada'), 'x-request-id': 'given-up' },
      signal: patience.signal,
    });
    await eventually(() => expect(stack.services.dashboard.requests).toBe(1));
    patience.abort();
    await expect(given).rejects.toThrow();

    expect(await lineOf('given-up')).toMatchObject({ area: 'dashboard', status: 499, aborted: true });
    const counted = await stack.metrics.registry.getSingleMetricAsString('http_server_request_duration_seconds');
    expect(counted).toContain('route="dashboard",status="499"');
    expect(counted).not.toContain('status="200"');
  });
});

describe('the line about a request', () => {
  it('has at most 256 characters of its path, and says nothing of an end that was none', async () => {
    stack = await startStack();
    const path = `/api/v1/${'x'.repeat(300)}`;
    await request(stack.gateway.httpUrl).get(`${path}?y`).set('x-request-id', 'long-path');
    const line = await lineOf('long-path');
    expect(line).toMatchObject({ path: path.slice(0, 256), area: 'none', status: 404 });
    expect(line).not.toHaveProperty('aborted');
  });
});

describe('the time that a request took', () => {
  it('is counted in seconds, and logged in milliseconds', async () => {
    stack = await startStack();
    await request(stack.gateway.httpUrl).get('/nowhere').set('x-request-id', 'timed-request');
    const { ms } = await lineOf('timed-request');
    const counted = await stack.metrics.registry.getSingleMetricAsString('http_server_request_duration_seconds');
    const seconds = Number(/^http_server_request_duration_seconds_sum\{.*\} (.*)$/m.exec(counted)?.[1]);
    expect(Math.round(seconds * 10_000) / 10).toBe(ms);
  });
});

describe('the line about an invitation', () => {
  it('has its path without the token, also where nothing is at the path', async () => {
    stack = await startStack();
    const token = `tk_invite_${'x'.repeat(43)}`;
    for (const [id, path] of [
      ['was-opened', `/api/v1/invitations/${token}`],
      ['was-mistyped', `/api/v1/invitation/${token}`],
    ] as const) {
      await request(stack.gateway.httpUrl).get(path).set('x-request-id', id);
      expect((await lineOf(id))['path']).toBe(path.replace('x'.repeat(43), '[redacted]'));
    }
    expect(JSON.stringify(stack.log.lines())).not.toContain('x'.repeat(43));
  });
});

describe('the line about a login', () => {
  it('has the address from the trusted proxies, and the line about anything else has none', async () => {
    stack = await startStack({ TRUSTED_PROXIES: '127.0.0.0/8' });
    const send = (method: 'get' | 'post', path: string, id: string) =>
      request(stack.gateway.httpUrl)
        [method](path)
        .set('cookie', cookieOf('ada'))
        .set('x-request-id', id)
        .set('x-forwarded-for', '203.0.113.9, 198.51.100.7');
    await send('post', '/api/v1/auth/login', 'passed-on').send({});
    await send('post', '/api/v1/auth/login', 'refused-here').type('text/plain').send('x');
    await send('get', SPEND, 'of-another-area');
    await send('get', '/nowhere', 'of-no-area');

    expect(await lineOf('passed-on')).toMatchObject({ area: 'login', status: 200, client_address: '198.51.100.7' });
    expect(await lineOf('refused-here')).toMatchObject({ area: 'login', status: 415, client_address: '198.51.100.7' });
    expect(await lineOf('of-another-area')).not.toHaveProperty('client_address');
    expect(await lineOf('of-no-area')).not.toHaveProperty('client_address');
  });
});

describe('the span of a request', () => {
  it('continues the trace of its client, is named by the area and never by the path, and leads to the service', async () => {
    const receiver = await startOtlpReceiver();
    const config = loadConfig(serviceConfig, { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
    const tracing = await createTracing({ config, logger: testLogger().logger, metrics: createMetrics('test') });
    stack = await startStack({}, tracing.tracerOf('gateway'));
    const [traceId, parentSpanId] = ['1'.repeat(32), '2'.repeat(16)];
    const trace = { traceparent: `00-${traceId}-${parentSpanId}-01`, tracestate: 'a=1' };
    const get = (path: string, id: string) =>
      request(stack.gateway.httpUrl).get(path).set('cookie', cookieOf('ada')).set('x-request-id', id).set(trace);
    const known = await get(`${SPEND}?range=1m`, 'of-an-area');
    await get('/api/v1/nowhere', 'of-no-area-either');
    for (const id of ['of-an-area', 'of-no-area-either']) await lineOf(id);
    await tracing.stop();
    await receiver.stop();

    const spans = receiver.spans.filter(({ kind }) => kind === 'SERVER');
    const span = { service: 'gateway', traceId, parentSpanId, failed: false };
    const method = { 'http.request.method': 'GET' };
    const area = { 'http.route': '/api/v1/dashboard' };
    expect(spans).toMatchObject([
      { ...span, name: 'GET /api/v1/dashboard', attributes: { ...method, ...area, 'http.response.status_code': 200 } },
      { ...span, name: 'GET', attributes: { ...method, 'http.response.status_code': 404 } },
    ]);
    expect(spans.map(({ attributes }) => attributes['tollkeeper.request_id'])).toEqual([
      'of-an-area',
      'of-no-area-either',
    ]);
    const { headers } = known.body as Seen;
    expect([headers['traceparent'], headers['tracestate']]).toEqual([`00-${traceId}-${spans[0]?.spanId}-01`, 'a=1']);
  });
});
