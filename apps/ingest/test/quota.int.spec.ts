import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '@tollkeeper/runtime';
import { eventually, useMongo } from '@tollkeeper/testing';
import type { Response } from 'supertest';
import { ingestConfig } from '../src/index.ts';
import { BATCH, EVENTS_PATH, ONE, spend, useIngest } from './ingest.stack.ts';

const batchOf = (count: number) => Array.from({ length: count }, () => spend());
const limitOf = ({ status, headers }: Response) => [status, headers['retry-after']];

describe('the events of one workspace', () => {
  const ingest = useIngest(useMongo(), undefined, {
    WORKSPACE_EVENTS_PER_SECOND: '100',
    WORKSPACE_BURST_EVENTS: '2000',
  });
  const { keys, clock, logged, post } = ingest;
  const send = (apiKey: string, count: number) => post({ apiKey, type: BATCH, body: batchOf(count) });

  it('are taken up to a burst, then refused with 429 and the seconds after which they pass', async () => {
    const { apiKey, tenantId } = keys.issue();
    expect((await send(apiKey, 1000)).status).toBe(202);
    expect((await send(apiKey, 1000)).status).toBe(202);

    const refused = await send(apiKey, 500);
    expect(limitOf(refused)).toEqual([429, '1']);
    expect(refused.body).toMatchObject({
      code: 'rate_limited',
      error: expect.stringContaining('100 events per second'),
    });
    clock.now += 1_000;
    expect((await send(apiKey, 500)).status).toBe(202);

    // First, the last batch's excess over the quota must be made up for: 400 events, and one for the next request
    // itself.
    expect(limitOf(await send(apiKey, 1))).toEqual([429, '5']);
    clock.now += 4_000;
    expect(limitOf(await send(apiKey, 1))).toEqual([429, '1']);
    clock.now += 1_000;
    expect((await send(apiKey, 1)).status).toBe(202);
    await eventually(() => expect(logged(tenantId)).toHaveLength(2501));
  });

  it('are counted by the workspace: what one sends takes nothing from another', async () => {
    const [one, other] = [keys.issue(), keys.issue()];
    await send(one.apiKey, 1000);
    await send(one.apiKey, 1000);
    expect((await send(one.apiKey, 1)).status).toBe(429);
    expect((await send(other.apiKey, 1000)).status).toBe(202);
  });

  it('are taken whole or not at all: of a refused batch none is in the log', async () => {
    const { apiKey, tenantId } = keys.issue();
    await send(apiKey, 1000);
    await send(apiKey, 1000);
    expect((await send(apiKey, 1000)).status).toBe(429);

    // The log keeps the order per workspace, so the next event shows that nothing was appended before it.
    clock.now += 1_000;
    const next = spend();
    expect((await post({ apiKey, body: next })).status).toBe(202);
    await eventually(() => expect(logged(tenantId).at(-1)?.event.id).toBe(next.id));
    expect(logged(tenantId)).toHaveLength(2001);
  });

  it('of batches that come together go over the burst by less than one batch', async () => {
    const { apiKey, tenantId } = keys.issue();
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(apiKey, 700)));
    const taken = answers.filter(({ status }) => status === 202);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10 - taken.length);
    expect(taken.length).toBe(3);
    await eventually(() => expect(logged(tenantId)).toHaveLength(2100));
  });

  it('cost the same when they are not valid, so that bad batches are bounded too', async () => {
    const { apiKey } = keys.issue();
    const bad = Array(1000).fill({});
    expect((await post({ apiKey, type: BATCH, body: bad })).status).toBe(400);
    expect((await post({ apiKey, type: BATCH, body: bad })).status).toBe(400);
    expect((await post({ apiKey, type: BATCH, body: bad })).status).toBe(429);
  });

  it('cost one where they cannot be counted, and no more than a batch may hold', async () => {
    const { apiKey } = keys.issue();
    expect((await post({ apiKey, type: BATCH, body: `[${'0,'.repeat(9_000)}0]` })).status).toBe(400);
    expect((await send(apiKey, 997)).status).toBe(202);
    expect((await post({ apiKey, type: BATCH, body: '[' })).status).toBe(400);
    expect((await post({ apiKey, body: {} })).status).toBe(400);
    expect((await post({ apiKey, body: spend() })).status).toBe(202);
    expect((await post({ apiKey, body: spend() })).status).toBe(429);
  });

  it('are refused before their body is read, once nothing is left', async () => {
    const { apiKey } = keys.issue();
    await send(apiKey, 1000);
    await send(apiKey, 1000);
    const refused = await fetch(ingest.url() + EVENTS_PATH, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'text/plain' },
      body: 'not read',
    });
    expect(refused.status).toBe(429);
  });

  it('are never refused for a key that may not send them: such a request costs its workspace nothing', async () => {
    const { apiKey } = keys.issue('read_only');
    for (let i = 0; i < 5; i += 1) expect((await send(apiKey, 1000)).status).toBe(403);
  });

  it('show in the metrics and, once a minute, in the log when they are too many', async () => {
    const { apiKey, tenantId } = keys.issue();
    const counted = async () =>
      (await ingest.metrics.registry.getSingleMetric('ingest_requests_over_quota_total')!.get()).values.find(
        ({ labels }) => labels['quota'] === 'events',
      )!.value;
    const warnings = () =>
      ingest.logs
        .text()
        .split('\n')
        .filter((line) => line.includes(tenantId) && line.includes('WORKSPACE_EVENTS_PER_SECOND'));
    await send(apiKey, 1000);
    await send(apiKey, 1000);
    const before = await counted();

    await send(apiKey, 1);
    await send(apiKey, 1);
    expect([await counted(), warnings().length]).toEqual([before + 2, 1]);
    clock.now += 60_001;
    for (let i = 0; i < 3; i += 1) await send(apiKey, 1000);
    expect(warnings()).toHaveLength(2);
  });
});

describe('the bytes of one workspace', () => {
  const ingest = useIngest(useMongo(), undefined, {
    WORKSPACE_BYTES_PER_SECOND: '1000000',
    WORKSPACE_BURST_BYTES: '6000000',
  });
  const { keys, clock, logged, post } = ingest;
  /** One event, padded with white space to the size of the body. */
  const bodyOf = (bytes: number) => JSON.stringify(spend()).padEnd(bytes);
  const send = (apiKey: string, bytes: number) => post({ apiKey, body: bodyOf(bytes) });
  const counted = async () =>
    (await ingest.metrics.registry.getSingleMetric('ingest_requests_over_quota_total')!.get()).values;

  it('are taken up to a burst, then refused with 429, which says of what, how much and when to try again', async () => {
    const { apiKey, tenantId } = keys.issue();
    expect((await send(apiKey, 5_000_000)).status).toBe(202);
    expect((await send(apiKey, 4_000_000)).status).toBe(202);

    const refused = await send(apiKey, 1_000);
    expect(limitOf(refused)).toEqual([429, '4']);
    expect(refused.body).toMatchObject({
      code: 'rate_limited',
      error:
        'The workspace may send 1000000 bytes per second, or 6000000 at once after a pause. None of these events were ' +
        'accepted. Try again in 4 s.',
    });
    expect(await counted()).toContainEqual({ labels: { quota: 'bytes' }, value: 1 });
    expect(ingest.logs.text()).toContain('WORKSPACE_BYTES_PER_SECOND');
    clock.now += 3_000;
    expect(limitOf(await send(apiKey, 1_000))).toEqual([429, '1']);
    clock.now += 1_000;
    expect((await send(apiKey, 1_000)).status).toBe(202);
    await eventually(() => expect(logged(tenantId)).toHaveLength(3));
  });

  it('are counted by the workspace: what one sends takes nothing from another', async () => {
    const [one, other] = [keys.issue(), keys.issue()];
    await send(one.apiKey, 5_000_000);
    await send(one.apiKey, 5_000_000);
    expect((await send(one.apiKey, 1_000)).status).toBe(429);
    expect((await send(other.apiKey, 5_242_880)).status).toBe(202);
  });

  it('of bodies that come together go over the burst by less than one body, whatever is in them', async () => {
    const { apiKey } = keys.issue();
    const bodies = [bodyOf(4_000_000), '['.padEnd(4_000_000), '{}'.padEnd(4_000_000), bodyOf(4_000_000)];
    const answers = await Promise.all(bodies.map((body) => post({ apiKey, body })));
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(2);
  });

  it('count as they are after decompression, also when they were sent before', async () => {
    const { apiKey } = keys.issue();
    const body = gzipSync(bodyOf(5_000_000));
    const statuses: number[] = [];
    for (let i = 0; i < 3; i += 1) {
      const headers = { authorization: `Bearer ${apiKey}`, 'content-type': ONE, 'content-encoding': 'gzip' };
      statuses.push((await fetch(ingest.url() + EVENTS_PATH, { method: 'POST', headers, body })).status);
    }
    expect(statuses).toEqual([202, 202, 429]);
  });

  it('are refused before a body is read, once nothing is left', async () => {
    const { apiKey } = keys.issue();
    await send(apiKey, 5_000_000);
    await send(apiKey, 5_000_000);
    expect((await post({ apiKey, type: 'text/plain', body: 'not read' })).status).toBe(429);
  });
});

it('a burst that no full body would pass is refused at the start', () => {
  const environment = {
    KEYS_GRPC: 'keys:9090',
    IDENTITY_GRPC: 'identity:9090',
    BUDGETS_GRPC: 'budgets:9090',
    CALLER_TOKEN_SECRET: 'a-caller-token-secret-of-enough-bytes',
    WORKSPACE_BURST_BYTES: '5242879',
  };
  expect(() => loadConfig(ingestConfig, environment)).toThrow(
    /WORKSPACE_BURST_BYTES: must be a whole number from 5242880 .* at least the 5242880 \(5 MiB\) of a body/,
  );
});

it('a burst that no full batch would pass is refused at the start', () => {
  const environment = {
    KEYS_GRPC: 'keys:9090',
    IDENTITY_GRPC: 'identity:9090',
    BUDGETS_GRPC: 'budgets:9090',
    CALLER_TOKEN_SECRET: 'a-caller-token-secret-of-enough-bytes',
    WORKSPACE_BURST_EVENTS: '999',
  };
  expect(() => loadConfig(ingestConfig, environment)).toThrow(
    /WORKSPACE_BURST_EVENTS: must be a whole number from 1000 .* at least the 1000 of a batch/,
  );
});
