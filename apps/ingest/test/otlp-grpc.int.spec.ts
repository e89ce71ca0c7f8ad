import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import type { GatewayEventRecord } from '@tollkeeper/contracts';
import { AppError, type TenantId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { useIngest } from './ingest.stack.ts';
import { traces } from './otlp.bodies.ts';
import { exportBytes, type Exporting, LOGS_EXPORT, METRICS_EXPORT, TRACE_EXPORT } from './reporter.client.ts';
import { bodyOf, callSpan, RECEIVED_MS, RECORDED } from './senders.ts';

const MIB = 1024 * 1024;
const mongo = useMongo();
const ingest = useIngest(mongo);
const spansOf = (...spans: ReturnType<typeof callSpan>[]) =>
  traces({ resource: [['service.name', 'bot']], spans }, 'protobuf');
const bearer = (apiKey: string) => ({ authorization: `Bearer ${apiKey}` });
const send = (bytes: Buffer, options: Exporting = {}, to = ingest) => exportBytes(to.grpcAddress(), bytes, options);
const events = (tenantId: TenantId) => ingest.logged(tenantId).map(({ event }: GatewayEventRecord) => event);

type Signal = 'traces' | 'logs';
type Post = (signal: Signal, bytes: Buffer, apiKey: string) => Promise<boolean>;

async function postByHttp(signal: Signal, bytes: Buffer, apiKey: string): Promise<boolean> {
  const headers = { ...bearer(apiKey), 'content-type': 'application/x-protobuf' };
  return (await fetch(`${ingest.url()}/v1/${signal}`, { method: 'POST', headers, body: Buffer.from(bytes) })).ok;
}

function postByGrpc({ gzip }: { gzip: boolean }): Post {
  const paths = { traces: TRACE_EXPORT, logs: LOGS_EXPORT };
  return async (signal, bytes, apiKey) =>
    (await send(bytes, { path: paths[signal], metadata: bearer(apiKey), gzip })).code === 'OK';
}

/** Sends a body, and then a call that is logged after its events. Resolves to the events of the body. */
async function eventsOf(post: Post, signal: Signal, body: Buffer) {
  const { apiKey, tenantId } = ingest.keys.issue();
  expect(await post(signal, body, apiKey)).toBe(true);
  expect(await post('traces', spansOf(callSpan()), apiKey)).toBe(true);
  await eventually(() => expect(events(tenantId).at(-1)?.source).toBe('otel/bot'));
  return events(tenantId).slice(0, -1);
}

describe('reports of calls by OTLP over gRPC', () => {
  it('of every recorded sender become the same events as over HTTP, compressed or not', async () => {
    ingest.clock.now = RECEIVED_MS;
    const recorded = RECORDED.filter(({ headers }) => headers['content-type'] === 'application/x-protobuf');
    const files: string[] = [];
    for (const { file, path } of recorded) {
      const signal = path.endsWith('/logs') ? 'logs' : 'traces';
      const expected = await eventsOf(postByHttp, signal, bodyOf(file));
      for (const gzip of [false, true]) {
        expect([file, await eventsOf(postByGrpc({ gzip }), signal, bodyOf(file))]).toEqual([file, expected]);
      }
      if (expected.length > 0) files.push(file);
    }
    expect(files.length).toBeGreaterThan(10);
    expect(ingest.logs.text()).not.toContain('PROMPTTEXT');
  });

  it('are of the workspace of the key, wherever the metadata have it', async () => {
    const basic = (apiKey: string) => ({ authorization: `Basic ${Buffer.from(`any:${apiKey}`).toString('base64')}` });
    for (const metadata of [bearer, basic, (apiKey: string) => ({ 'x-api-key': apiKey })]) {
      const { apiKey, tenantId } = ingest.keys.issue();
      expect((await send(spansOf(callSpan()), { metadata: metadata(apiKey) })).code).toBe('OK');
      await eventually(() => expect(events(tenantId)).toHaveLength(1));
    }
  });

  it('are of the agent that the metadata name', async () => {
    const { apiKey, tenantId } = ingest.keys.issue();
    await send(spansOf(callSpan()), { metadata: { ...bearer(apiKey), 'x-tollkeeper-agent': 'My Agent' } });
    await eventually(() => expect(events(tenantId).map(({ data }) => data.agent_id)).toEqual(['My-Agent']));
  });

  it('that are sent again over HTTP count once', async () => {
    const { apiKey, tenantId } = ingest.keys.issue();
    await send(spansOf(callSpan()), { metadata: bearer(apiKey) });
    const headers = { ...bearer(apiKey), 'content-type': 'application/x-protobuf' };
    await fetch(`${ingest.url()}/v1/traces`, { method: 'POST', headers, body: Buffer.from(spansOf(callSpan())) });
    await eventually(() => expect(events(tenantId)).toHaveLength(2));
    expect(new Set(events(tenantId).map(({ id, source }) => `${source} ${id}`)).size).toBe(1);
  });

  it('of up to 20 MiB are taken, and larger ones refused for good, compressed or not', async () => {
    const sized = (bytes: number) => {
      const letters = randomBytes(bytes).toString('base64').slice(0, bytes);
      return spansOf(callSpan([['text', letters]]));
    };
    const large = sized(20 * MIB - 400);
    expect(large.length).toBeGreaterThan(20 * MIB - 400);
    expect(large.length).toBeLessThanOrEqual(20 * MIB);
    for (const gzip of [false, true]) {
      // Each uses up the quota of its workspace.
      const { apiKey, tenantId } = ingest.keys.issue();
      expect((await send(large, { metadata: bearer(apiKey), gzip })).code).toBe('OK');
      await eventually(() => expect(events(tenantId)).toHaveLength(1));
      const refused = await send(sized(20 * MIB), { metadata: bearer(ingest.keys.issue().apiKey), gzip });
      expect([refused.code, refused.retryAfterSeconds]).toEqual(['INVALID_ARGUMENT', undefined]);
      expect(refused.details).toMatch(/larger than 20 MiB\. .*OTEL_BSP_MAX_EXPORT_BATCH_SIZE.*send_batch_max_size/);
    }
  });

  it('may have no call, or be metrics, which count nothing', async () => {
    const { apiKey, tenantId } = ingest.keys.issue();
    const metadata = bearer(apiKey);
    for (const path of [TRACE_EXPORT, LOGS_EXPORT, METRICS_EXPORT]) {
      expect(await send(Buffer.alloc(0), { path, metadata })).toMatchObject({ code: 'OK', bytes: Buffer.alloc(0) });
    }
    expect((await send(spansOf(callSpan()), { path: METRICS_EXPORT, metadata })).code).toBe('OK');
    await send(spansOf(callSpan()), { metadata });
    await eventually(() => expect(events(tenantId)).toHaveLength(1));
  });

  it('without a known price are named in the answer, as over HTTP', async () => {
    const { apiKey } = ingest.keys.issue();
    const { code, bytes } = await send(spansOf(callSpan([], '1'.repeat(16), 'house-model')), {
      metadata: bearer(apiKey),
    });
    expect(code).toBe('OK');
    expect(bytes.toString()).toContain('1 call counts as 0 USD');
  });
});

describe('a report by gRPC that cannot be taken', () => {
  it.each(['Bearer x', 'Basic x', 'Basic bm90LWEta2V5', undefined])(
    'is UNAUTHENTICATED with the key %s',
    async (authorization) => {
      const metadata: Record<string, string> = authorization === undefined ? {} : { authorization };
      expect((await send(spansOf(callSpan()), { metadata })).code).toBe('UNAUTHENTICATED');
    },
  );

  it('is PERMISSION_DENIED with a key that may not write', async () => {
    const { apiKey } = ingest.keys.issue('read_only');
    expect((await send(spansOf(callSpan()), { metadata: bearer(apiKey) })).code).toBe('PERMISSION_DENIED');
  });

  it('is INVALID_ARGUMENT if it does not decode, without quoting it', async () => {
    const metadata = bearer(ingest.keys.issue().apiKey);
    const answer = await send(Buffer.from('PROMPTTEXT'), { metadata });
    expect(answer).toMatchObject({ code: 'INVALID_ARGUMENT', retryAfterSeconds: undefined });
    expect(answer.details + ingest.logs.text()).not.toContain('PROMPT');
  });

  it('is INVALID_ARGUMENT if it grows more than 200 times by decompression', async () => {
    const metadata = { ...bearer(ingest.keys.issue().apiKey) };
    const bomb = spansOf(callSpan([['text', 'x'.repeat(19 * MIB)]]));
    expect(gzipSync(bomb).length).toBeLessThan(bomb.length / 200);
    const answer = await send(bomb, { metadata, gzip: true });
    expect(answer).toMatchObject({ code: 'INVALID_ARGUMENT', details: expect.stringContaining('200 times') });
    expect((await send(bomb, { metadata })).code).toBe('OK');
  });

  it('is UNIMPLEMENTED for another service', async () => {
    const metadata = bearer(ingest.keys.issue().apiKey);
    const path = '/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export';
    expect((await send(spansOf(callSpan()), { path, metadata })).code).toBe('UNIMPLEMENTED');
  });
});

describe('a workspace over its quota', () => {
  const few = { WORKSPACE_EVENTS_PER_SECOND: '1', WORKSPACE_BURST_EVENTS: '1000' };
  const limited = useIngest(mongo, undefined, few);

  it('gets RESOURCE_EXHAUSTED with the time to wait', async () => {
    const metadata = bearer(limited.keys.issue().apiKey);
    const many = Array.from({ length: 1002 }, (_none, index) =>
      callSpan(undefined, index.toString(16).padStart(16, '1')),
    );
    expect((await send(spansOf(...many), { metadata }, limited)).code).toBe('OK');
    expect(await send(spansOf(callSpan()), { metadata }, limited)).toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      details: expect.stringContaining('events per second'),
      retryAfterSeconds: 3,
    });
  });
});

describe('a failure on our side', () => {
  let failure: Error = new Error('something unexpected');
  const failing = useIngest(mongo, (log) => ({ ...log, append: () => Promise.reject(failure) }));
  const report = () => send(spansOf(callSpan()), { metadata: bearer(failing.keys.issue().apiKey) }, failing);

  it('is UNAVAILABLE with the time to wait, because exporters lose a report after INTERNAL', async () => {
    const answer = await report();
    expect(answer).toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 5 });
    expect(answer.details).not.toContain('unexpected');
  });

  it('is UNAVAILABLE while the log is', async () => {
    failure = new AppError('service_unavailable', 'The log is full.', { retryAfterSeconds: 7 });
    expect(await report()).toMatchObject({ code: 'UNAVAILABLE', details: 'The log is full.', retryAfterSeconds: 7 });
  });

  it('is UNAVAILABLE while keys cannot be checked', async () => {
    await failing.keys.stop();
    expect(await report()).toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 1 });
    await failing.keys.start();
  });
});
