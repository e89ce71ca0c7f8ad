import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { gatewayEventSchema, type GatewayEventRecord, isCallFailed, isSpendSettled } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { createOverrideBook, createPriceBook, readBundledTable } from '@tollkeeper/prices';
import { eventually, useMongo } from '@tollkeeper/testing';
import { isUnpriced, withPrice } from '../src/intake/call-price.ts';
import { readCalls } from '../src/intake/calls.ts';
import { useIngest } from './ingest.stack.ts';
import { type TestSpan, traces } from './otlp.bodies.ts';
import { readStatus } from './reporter.client.ts';
import { sendReport } from './report.sender.ts';
import { bodyOf, callSpan as call, RECEIVED_MS, RECORDED, recordsOf } from './senders.ts';

const PROTOBUF = 'application/x-protobuf';
const JSON_TYPE = 'application/json';
const TRACES = '/v1/traces';
const LITELLM = '/api/v1/intake/litellm';

const mongo = useMongo();
const ingest = useIngest(mongo);
const prices = createPriceBook(readBundledTable());
const overrides = createOverrideBook([]);

const bearer = (apiKey: string, type = PROTOBUF) => ({ authorization: `Bearer ${apiKey}`, 'content-type': type });
const send = (path: string, bytes: Buffer | string, headers: Record<string, string>, url = ingest.url()) =>
  sendReport(url + path, bytes, headers);
const spansOf = (...spans: TestSpan[]) => traces({ resource: [['service.name', 'bot']], spans }, 'protobuf');
const events = (tenantId: TenantId) => ingest.logged(tenantId).map(({ event }: GatewayEventRecord) => event);

describe('reports of calls', () => {
  it('of every recorded sender become its events, at its own path and with its own headers', async () => {
    ingest.clock.now = RECEIVED_MS;
    for (const body of RECORDED) {
      const { apiKey, tenantId } = ingest.keys.issue();
      const { calls } = await readCalls(await recordsOf(body), { receivedMs: RECEIVED_MS });
      const { 'content-encoding': encoding, 'content-type': type = '' } = body.headers;
      const bytes = bodyOf(body.file);
      const answer = await send(body.path, encoding === 'gzip' ? gzipSync(bytes) : bytes, {
        'content-type': type,
        ...(encoding !== undefined && { 'content-encoding': encoding }),
        ...(body.headers['authorization']?.startsWith('Basic')
          ? { authorization: `Basic ${Buffer.from(`pk-lf-x:${apiKey}`).toString('base64')}` }
          : { 'x-api-key': apiKey }),
      });
      expect([body.file, answer.status]).toEqual([body.file, 200]);
      const priced = calls.map((call) => withPrice(call, { overrides, prices, priceAnew: false }));
      const settled = priced.filter(({ outcome }) => outcome === 'spent');
      const unmetered = priced.filter(({ outcome }) => outcome === 'no_usage' || outcome === 'client_gone');
      const models = new Set(priced.filter(isUnpriced).map(({ provider, model }) => `${provider}/${model}`));
      const failed = priced.flatMap(({ outcome, requestId }) => (outcome === 'failed' ? (requestId ?? []) : []));
      const ended = new Set(failed);
      const expected = settled.length + unmetered.length + models.size + ended.size;
      await eventually(() => expect(events(tenantId)).toHaveLength(expected));
      const idsOf = (wanted: string) =>
        events(tenantId).flatMap(({ type, data }) => (type === wanted && 'call_id' in data ? data.call_id : []));
      expect(idsOf('call.unmetered')).toEqual(unmetered.map(({ settlementId }) => settlementId));
      const endedNow = events(tenantId).flatMap((event) => (isCallFailed(event) ? event.data.request_id : []));
      expect(new Set(endedNow)).toEqual(ended);
      const logged = events(tenantId).filter(isSpendSettled);
      expect(logged.map(({ id, data }) => [id, data.settlement_id, data.amount_micros])).toEqual(
        settled.map(({ settlementId, price }) => [settlementId, settlementId, price.micros]),
      );
      for (const event of events(tenantId)) expect(gatewayEventSchema.safeParse(event).success).toBe(true);
    }
    expect(ingest.logs.text()).not.toContain('PROMPTTEXT');
  });

  it('become settlements with the tokens, model, agent, run, labels and plan of the call', async () => {
    ingest.clock.now = RECEIVED_MS;
    const { apiKey, tenantId, keyId } = ingest.keys.issue('developer', { env: 'prod' });
    const answer = await send(LITELLM, bodyOf('litellm-1.106.2-generic-single.json'), bearer(apiKey, JSON_TYPE));

    expect(answer.body).toEqual({ accepted: 1, dropped: 0, notices: [], errors: [] });
    ingest.expectDocumented(LITELLM, answer.status, answer.body);
    await eventually(() => expect(ingest.logged(tenantId)).toHaveLength(1));
    expect(ingest.logged(tenantId)[0]).toMatchObject({
      keyId,
      event: {
        id: expect.stringMatching(/^rsp:[0-9a-f]{32}$/),
        source: 'litellm',
        type: 'spend.settled',
        time: '2026-11-26T08:54:07.733Z',
        data: {
          run_id: 'run-1',
          agent_id: 'research-agent',
          amount_micros: 5170,
          plan_key: 'gold',
          model: 'gpt-4o',
          provider: 'openai',
          input_tokens: 1200,
          output_tokens: 345,
          tokens: { input: 176, cache_read: 1024, output: 345, reasoning: 128 },
          priced_by: 'sender',
          labels: { env: 'prod', team: 'platform', user: 'end-user-5' },
        },
      },
    });
  });

  it('are of the agent that the header of the request names', async () => {
    const { apiKey, tenantId } = ingest.keys.issue();
    const agent = { 'x-tollkeeper-agent': 'My Agent' };
    await send(TRACES, spansOf(call()), { ...bearer(apiKey), ...agent });
    await send(LITELLM, bodyOf('litellm-1.106.2-generic-single.json'), { ...bearer(apiKey, JSON_TYPE), ...agent });
    await eventually(() => expect(events(tenantId).map(({ data }) => data.agent_id)).toEqual(['My-Agent', 'My-Agent']));
  });

  it('name the reservation that they settle', async () => {
    const { apiKey, tenantId } = ingest.keys.issue();
    const reserved = call([
      ['gen_ai.usage.cost', 0.5],
      ['tollkeeper.reservation_id', 'rsv_1'],
    ]);
    await send(TRACES, spansOf(reserved), bearer(apiKey));
    await eventually(() => expect(events(tenantId)).toMatchObject([{ data: { reservation_id: 'rsv_1' } }]));
  });

  it('are answered in their encoding, empty if all calls count', async () => {
    const { apiKey } = ingest.keys.issue();
    expect(await send(TRACES, spansOf(call()), bearer(apiKey))).toMatchObject({
      status: 200,
      type: PROTOBUF,
      bytes: Buffer.alloc(0),
    });
    const asJson = await send(TRACES, traces({ spans: [call()] }, 'json'), bearer(apiKey, JSON_TYPE));
    expect([asJson.status, asJson.body]).toEqual([200, {}]);
    ingest.expectDocumented(TRACES, asJson.status, asJson.body);
  });

  it('without a cost, or with a cost of 0, have the price of their tokens', async () => {
    const { apiKey, tenantId } = ingest.keys.issue();
    const spans = [call([], '1'.repeat(16)), call([['gen_ai.usage.cost', 0]], '2'.repeat(16)), call()];
    expect((await send(TRACES, spansOf(...spans), bearer(apiKey))).bytes).toHaveLength(0);
    await eventually(() => expect(events(tenantId)).toHaveLength(3));
    const amounts = events(tenantId).filter(isSpendSettled);
    expect(amounts.map(({ data }) => [data.amount_micros, data.input_tokens, data.output_tokens])).toEqual([
      [6450, 1200, 345],
      [6450, 1200, 345],
      [5170, 1200, 345],
    ]);
  });

  it('without a cost and a known price count as 0 USD, and the answer and an event say so', async () => {
    const { apiKey, tenantId } = ingest.keys.issue();
    const spans = [
      call([], '1'.repeat(16), 'house-model'),
      call([['gen_ai.usage.cost', 0]], '2'.repeat(16), 'house-model'),
      call(),
    ];
    const asJson = await send(TRACES, traces({ spans }, 'json'), bearer(apiKey, JSON_TYPE));
    expect(asJson.body).toEqual({
      partialSuccess: { errorMessage: expect.stringContaining('2 calls count as 0 USD') },
    });
    ingest.expectDocumented(TRACES, asJson.status, asJson.body);
    const asProtobuf = await send(TRACES, spansOf(...spans), bearer(apiKey));
    // The message in field 1, its length in two bytes, and its text in field 2.
    expect([asProtobuf.bytes[0], asProtobuf.bytes[3]]).toEqual([0x0a, 0x12]);
    expect(asProtobuf.bytes.toString()).toContain('2 calls count as 0 USD');
    const amounts = (priced: boolean) =>
      events(tenantId)
        .filter(isSpendSettled)
        .filter(({ data }) => (data.priced_by !== 'none') === priced)
        .map(({ data }) => data.amount_micros);
    await eventually(() => expect(amounts(false)).toEqual([0, 0, 0, 0]));
    expect(amounts(true)).toEqual([5170, 5170]);
    // Once, though both bodies have such calls.
    const missing = events(tenantId).filter(({ type }) => type === 'price.missing');
    expect(missing).toMatchObject([{ source: 'tollkeeper/ingest', data: { model: 'house-model' } }]);
    expect(await ingest.metrics.registry.metrics()).toMatch(
      /ingest_reported_calls_total\{[^}]*outcome="unpriced"[^}]*\} \d+/,
    );
  });

  it('without tokens and cost become unmetered calls, with the labels of the key', async () => {
    const { apiKey, tenantId } = ingest.keys.issue('developer', { env: 'prod' });
    const { attributes, ...span } = call([]);
    const withoutUsage = attributes.filter(([name]) => !name.startsWith('gen_ai.usage.'));
    const answer = await send(TRACES, spansOf({ ...span, attributes: withoutUsage }), bearer(apiKey));
    expect([answer.status, answer.bytes.length]).toEqual([200, 0]);
    const data = { reason: 'no_usage', agent_id: 'bot', model: 'gpt-4o', labels: { env: 'prod' } };
    await eventually(() => expect(events(tenantId)).toMatchObject([{ type: 'call.unmetered', data }]));
  });

  it('that a guard blocked become blocked calls', async () => {
    const { apiKey, tenantId } = ingest.keys.issue();
    const cost = ['gen_ai.usage.cost', 0.1] as const;
    const filtered = call([cost, ['gen_ai.response.finish_reasons', ['content_filter']]]);
    await send(TRACES, spansOf(filtered), bearer(apiKey));
    await eventually(() =>
      expect(events(tenantId)).toMatchObject([
        { type: 'spend.settled', data: { amount_micros: 100_000, priced_by: 'sender' } },
        { type: 'guard.blocked', data: { guard: 'content_filter', model: 'gpt-4o' } },
      ]),
    );
    expect(gatewayEventSchema.safeParse(events(tenantId)[1]).success).toBe(true);
  });

  it('may come without a body or a call, and as metrics, which count nothing', async () => {
    const { apiKey, tenantId } = ingest.keys.issue();
    for (const path of [TRACES, '/v1/logs', '/v1/metrics', LITELLM]) {
      const type = path === LITELLM ? JSON_TYPE : PROTOBUF;
      expect([path, (await send(path, '', bearer(apiKey, type))).status]).toEqual([path, 200]);
    }
    expect((await send('/v1/metrics', spansOf(call()), bearer(apiKey))).status).toBe(200);
    expect((await send('/api/v1/otlp/v1/metrics', '{}', bearer(apiKey, JSON_TYPE))).body).toEqual({});
    await send(TRACES, spansOf(call()), bearer(apiKey));
    await eventually(() => expect(events(tenantId)).toHaveLength(1));
  });
});

describe('the key of a report', () => {
  it('says by which names agent, run and labels are read, which guard is ours, and whose prices count', async () => {
    const mapping = { agent: 'app.agent', run: 'app.run', labels: { project: 'app.project' }, priceAnew: true };
    const { apiKey, tenantId } = ingest.keys.issue('developer', {}, { ...mapping, guard: 'our-guard' });
    const said = call([
      ['gen_ai.usage.cost', 1],
      ...[
        ['app.agent', 'mine'],
        ['app.run', 'run-7'],
        ['app.project', 'apollo'],
        ['guardrail_status', 'guardrail_intervened'],
        ['guardrail_name', 'our-guard'],
      ].map(([name, value]) => [name!, value!] as const),
    ]);
    await send(TRACES, spansOf(said), bearer(apiKey));
    const data = { agent_id: 'mine', run_id: 'run-7', labels: { project: 'apollo' }, priced_by: 'table' };
    const settled = { ...data, amount_micros: 6450, sender_amount: '1' };
    await eventually(() => expect(events(tenantId)).toMatchObject([{ type: 'spend.settled', data: settled }]));
    const { apiKey: other, tenantId: othersId } = ingest.keys.issue();
    await send(TRACES, spansOf(said), bearer(other));
    await eventually(() =>
      expect(events(othersId).map(({ type }) => type)).toEqual(['spend.settled', 'guard.blocked']),
    );
    expect(events(othersId)).toMatchObject([{ data: { agent_id: 'bot', amount_micros: 1_000_000 } }, {}]);
  });

  it.each(['Bearer x', 'Basic x', 'Basic bm90LWEta2V5', undefined])(
    'is refused with 401 as %s',
    async (authorization) => {
      const headers = { 'content-type': PROTOBUF, ...(authorization !== undefined && { authorization }) };
      expect((await send(TRACES, spansOf(call()), headers)).status).toBe(401);
    },
  );

  it('is the one in Authorization, if there is another one in X-Api-Key', async () => {
    const [first, second] = [ingest.keys.issue(), ingest.keys.issue()];
    await send(TRACES, spansOf(call()), { ...bearer(first.apiKey), 'x-api-key': second.apiKey });
    await eventually(() => expect(events(first.tenantId)).toHaveLength(1));
    expect(events(second.tenantId)).toEqual([]);
  });

  it('must be allowed to write', async () => {
    const { apiKey } = ingest.keys.issue('read_only');
    expect((await send(TRACES, spansOf(call()), bearer(apiKey))).status).toBe(403);
  });
});

describe('a report that cannot be taken', () => {
  it.each([
    ['400 if it does not decode', 400, PROTOBUF, Buffer.from('text')],
    ['400 if its JSON does not', 400, JSON_TYPE, Buffer.from('{"resourceSpans":[')],
    ['415 for another content type', 415, 'text/plain', Buffer.from('x')],
  ])('is answered %s', async (_case, status, type, bytes) => {
    const { apiKey } = ingest.keys.issue();
    const answer = await send(TRACES, bytes, bearer(apiKey, type));
    expect(answer.status).toBe(status);
    // In the encoding of the request: a `google.rpc.Status` in protobuf.
    const message = type === PROTOBUF ? readStatus(answer.bytes).message : answer.body?.['error'];
    expect([answer.type?.split(';')[0], message]).toEqual([
      type === PROTOBUF ? PROTOBUF : JSON_TYPE,
      expect.stringMatching(/\w \w.*\.$/),
    ]);
  });

  it.each([
    [TRACES, PROTOBUF, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE'],
    ['/api/public/otel/v1/traces', PROTOBUF, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE'],
    ['/v1/logs', JSON_TYPE, 'OTEL_BLRP_MAX_EXPORT_BATCH_SIZE'],
    ['/v1/metrics', JSON_TYPE, 'OTEL_METRICS_EXPORTER=none'],
  ])('is answered 413 over 20 MiB at %s as %s, with the name of the setting: %s', async (path, type, setting) => {
    const { apiKey } = ingest.keys.issue();
    const answer = await send(path, Buffer.alloc(20 * 1024 * 1024 + 1), bearer(apiKey, type));
    const message = type === PROTOBUF ? readStatus(answer.bytes).message : answer.body?.['error'];
    expect([answer.status, message]).toEqual([413, expect.stringContaining('larger than 20 MiB. ')]);
    expect(message).toEqual(expect.stringContaining(setting));
    expect(message).toEqual(expect.stringContaining('send_batch_max_size'));
  });

  it('is answered 413 with the reason if it grows more than 200 times by decompression', async () => {
    const { apiKey } = ingest.keys.issue();
    const bomb = spansOf(call([['text', 'x'.repeat(1024 * 1024)]]));
    const headers = { ...bearer(apiKey), 'content-encoding': 'gzip' };
    const answer = await send(TRACES, gzipSync(bomb), headers);
    expect([answer.status, readStatus(answer.bytes).message]).toEqual([413, expect.stringContaining('200 times')]);
    expect((await send(TRACES, bomb, bearer(apiKey))).status).toBe(200);
  });

  it.each([
    [TRACES, '{"resourceSpans":[{"a":PROMPTTEXT}]}'],
    [LITELLM, '[{"a":PROMPTTEXT}]'],
    [LITELLM, '{}\n{"a":PROMPTTEXT}'],
  ])('at %s is quoted neither in the answer nor in the log: %j', async (path, body) => {
    const { apiKey } = ingest.keys.issue();
    const answer = await send(path, body, bearer(apiKey, JSON_TYPE));
    expect(JSON.stringify(answer.body)).toContain('is not JSON at byte');
    expect(JSON.stringify(answer.body) + ingest.logs.text()).not.toContain('PROMPT');
  });

  it('by LiteLLM loses only the objects that cannot be read', async () => {
    const { apiKey, tenantId } = ingest.keys.issue();
    const single = bodyOf('litellm-1.106.2-generic-single.json').toString();
    const answer = await send(LITELLM, `${single}\n{"id":\n`, bearer(apiKey, JSON_TYPE));
    expect(answer.body).toMatchObject({ accepted: 1, dropped: 1, errors: [{ index: 1 }] });
    await eventually(() => expect(events(tenantId)).toHaveLength(1));
  });
});

describe('a workspace over its quota', () => {
  const few = { WORKSPACE_EVENTS_PER_SECOND: '1', WORKSPACE_BURST_EVENTS: '1000' };
  const limited = useIngest(mongo, undefined, few);

  it('gets 429 with Retry-After for OTLP, and 503 for LiteLLM, which drops its batch after 429', async () => {
    const { apiKey } = limited.keys.issue();
    const many = Array.from({ length: 1002 }, (_none, index) => call(undefined, index.toString(16).padStart(16, '1')));
    const post = (path: string, bytes: Buffer | string, type = PROTOBUF) =>
      send(path, bytes, bearer(apiKey, type), limited.url());
    expect((await post(TRACES, spansOf(...many))).status).toBe(200);
    expect(await post(TRACES, spansOf(call()))).toMatchObject({
      status: 429,
      retryAfter: expect.stringMatching(/^\d+$/),
    });
    expect(await post(LITELLM, bodyOf('litellm-1.106.2-generic-single.json'), JSON_TYPE)).toMatchObject({
      status: 503,
      retryAfter: expect.stringMatching(/^\d+$/),
      body: { error: expect.stringContaining('events per second') },
    });
  });
});

describe('a failure on our side', () => {
  const failing = useIngest(mongo, (log) => ({
    ...log,
    append: () => Promise.reject(new Error('something unexpected')),
  }));

  it('is answered 503, because exporters drop a body after 500', async () => {
    const { apiKey } = failing.keys.issue();
    const answer = await send(TRACES, spansOf(call()), bearer(apiKey), failing.url());
    expect(answer).toMatchObject({ status: 503, retryAfter: '5', type: PROTOBUF });
    expect(readStatus(answer.bytes)).toMatchObject({ message: expect.stringContaining('Send the same body again') });
  });
});
