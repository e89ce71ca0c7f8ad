import { afterEach, describe, expect, it } from '@jest/globals';
import { createLogger } from './logger.ts';
import { createMetrics } from './metrics.ts';
import { createOpsServer } from './ops-server.ts';
import type { OpsServer } from './ops-server.ts';

const logger = createLogger({ service: 'test', level: 'silent' });
let server: OpsServer | undefined;

async function start(
  ready: () => Promise<void>,
  metrics = [createMetrics('a')],
  readyTimeoutMs = 5_000,
  impaired = async () => {},
): Promise<string> {
  server = createOpsServer({ port: 0, host: '127.0.0.1', metrics, ready, impaired, readyTimeoutMs, logger });
  await server.start();
  return `http://127.0.0.1:${server.port}`;
}

afterEach(() => server?.stop());

describe('createOpsServer', () => {
  it('is alive though it is not ready, and says why it is not', async () => {
    const url = await start(() => Promise.reject(new Error('mongo: no primary')));
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const answer = await fetch(`${url}/readyz`);
    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({ status: 'not ready', reason: 'mongo: no primary' });
  });

  it('is ready when everything in the process is', async () => {
    expect((await fetch(`${await start(async () => undefined)}/readyz`)).status).toBe(200);
  });

  it('is ready, and says so, while there is something that it can not do', async () => {
    const impaired = () => Promise.reject(new Error('consumer: no broker answers'));
    const answer = await fetch(`${await start(async () => undefined, [], 5_000, impaired)}/readyz`);
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { status: 'ready', impaired: 'consumer: no broker answers' },
    ]);
  });

  it('shows a scraper, too, that it is impaired', async () => {
    const impaired = () => Promise.reject(new Error('consumer: no broker answers'));
    const url = await start(async () => undefined, [], 5_000, impaired);
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('tollkeeper_impaired 1');
    await server?.stop();
    expect(await (await fetch(`${await start(async () => undefined)}/metrics`)).text()).toContain(
      'tollkeeper_impaired 0',
    );
  });

  it('is not ready while a dependency does not answer', async () => {
    const url = await start(() => new Promise(() => undefined), [], 20);
    const answer = await fetch(`${url}/readyz`);
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain('no answer within 20 ms');
  });

  it('shows the metrics of the process and of every service in it, each family once', async () => {
    const services = [createMetrics('alpha'), createMetrics('beta')];
    for (const { counter } of services) counter({ name: 'events_total', help: 'Events' }).inc(2);
    const text = await (await fetch(`${await start(async () => undefined, services)}/metrics`)).text();
    expect(text.match(/# TYPE events_total counter/g)).toHaveLength(1);
    expect(text).toContain('events_total{service="alpha"} 2');
    expect(text).toContain('events_total{service="beta"} 2');
    expect(text).toContain('process_cpu_seconds_total');
  });

  it('shows in its metrics too whether it is ready', async () => {
    const url = await start(async () => undefined);
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('tollkeeper_ready 1');
    await server?.stop();
    const broken = await start(() => Promise.reject(new Error('mongo: no primary')));
    expect(await (await fetch(`${broken}/metrics`)).text()).toContain('tollkeeper_ready 0');
  });

  it('shows which version of a service runs', async () => {
    const url = await start(async () => undefined, [createMetrics('alpha', '1.2.3'), createMetrics('beta')]);
    const text = await (await fetch(`${url}/metrics`)).text();
    expect(text).toContain('tollkeeper_build_info{version="1.2.3",service="alpha"} 1');
    expect(text).not.toContain('service="beta"');
  });

  it('answers 404 and 405 to anything else', async () => {
    const url = await start(async () => undefined);
    expect((await fetch(`${url}/other`)).status).toBe(404);
    expect((await fetch(`${url}/healthz`, { method: 'POST' })).status).toBe(405);
  });
});
