import { describe, expect, it } from '@jest/globals';
import { AppError } from '@tollkeeper/kernel';
import { errorOf, type TestSpan, type TestTraces, type TestValue, traces } from '../../test/otlp.bodies.ts';
import { bodyOf } from '../../test/senders.ts';
import type { CallRecord } from './call-record.ts';
import { readCalls, type ReadingOptions } from './calls.ts';
import { decodeOtlp, type Encoding } from './decode.ts';

const NOW = Date.parse('2026-11-26T10:00:00Z');
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const ENCODINGS: readonly Encoding[] = ['protobuf', 'json'];
const nanos = (ms: number) => BigInt(ms) * 1_000_000n;

/** A call with tokens, and what makes it odd. Later attributes of the same key come after those of the call. */
function call(odd: Partial<Omit<TestSpan, 'attributes'>> & { attributes?: Record<string, TestValue> } = {}): TestSpan {
  const { attributes = {}, ...rest } = odd;
  return {
    traceId: TRACE,
    spanId: SPAN,
    endNanos: nanos(NOW),
    ...rest,
    attributes: Object.entries({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.usage.input_tokens': 1200n,
      'gen_ai.usage.output_tokens': 345n,
      ...attributes,
    }),
  };
}

async function read(request: TestTraces, encoding: Encoding, options: Partial<ReadingOptions> = {}) {
  const records = await decodeOtlp(traces(request, encoding), 'span', encoding);
  return readCalls(records, { receivedMs: NOW, ...options });
}

async function callOf(span: TestSpan, encoding: Encoding): Promise<CallRecord> {
  const { calls } = await read({ spans: [span] }, encoding);
  expect(calls).toHaveLength(1);
  return calls[0]!;
}

describe.each(ENCODINGS)('odd input in %s', (encoding) => {
  it('without valid ids has an id of its facts, which is the same each time and another for another call', async () => {
    const zero = { traceId: '0'.repeat(32), spanId: '0'.repeat(16) };
    const { settlementId, runId } = await callOf(call(zero), encoding);
    expect(settlementId).toMatch(/^facts:[0-9a-f]{32}$/);
    expect(runId).toBe(settlementId);
    expect((await callOf(call(zero), encoding)).settlementId).toBe(settlementId);
    expect((await callOf(call({ ...zero, endNanos: nanos(NOW + 1) }), encoding)).settlementId).not.toBe(settlementId);
    expect((await callOf(call({ traceId: 'abcd', spanId: 'ef' }), encoding)).settlementId).toBe(settlementId);
  });

  it('skips a text of 10 MB, and takes one under a mapped name for absent', async () => {
    const large = 'x'.repeat(10 * 1024 * 1024);
    const plain = await callOf(call({ attributes: { 'gen_ai.input.messages': large } }), encoding);
    expect(plain).toMatchObject({ outcome: 'spent', model: 'gpt-4o' });
    const named = await callOf(call({ attributes: { 'gen_ai.response.model': large } }), encoding);
    expect(named.model).toBe('gpt-4o');
    expect((await callOf(call({ attributes: { 'gen_ai.agent.name': large } }), encoding)).agentId).toBe('unknown');
  });

  it('takes the first value of a repeated key', async () => {
    const { attributes, ...span } = call();
    const repeated = await callOf({ ...span, attributes: [...attributes, ['gen_ai.request.model', 'o3']] }, encoding);
    expect(repeated.model).toBe('gpt-4o');
  });

  it('takes the requested model if that of the answer is too long for one', async () => {
    expect((await callOf(call({ attributes: { 'gen_ai.response.model': 'x'.repeat(129) } }), encoding)).model).toBe(
      'gpt-4o',
    );
  });

  it('reads fields in any order', async () => {
    const request = { scope: 'app', resource: [['service.name', 'bot']] as const, spans: [call()] };
    const { calls } = await read(request, encoding);
    expect((await read({ ...request, backwards: true }, encoding)).calls).toEqual(calls);
    expect(calls[0]).toMatchObject({ source: 'otel/bot', agentId: 'bot' });
  });

  it.each<[TestValue, number | undefined]>([
    ['1200', 1200],
    [1200, 1200],
    ['1200.0', 1200],
    [-5n, undefined],
    ['-5', undefined],
    [NaN, undefined],
    [1.5, undefined],
    ['-', undefined],
    ['', undefined],
    [true, undefined],
    [10n ** 12n, 10 ** 12],
    [10n ** 12n + 1n, undefined],
    [2n ** 62n, undefined],
  ])('reads %p tokens as %p', async (value, tokens) => {
    const { tokens: read } = await callOf(call({ attributes: { 'gen_ai.usage.input_tokens': value } }), encoding);
    expect(read?.input).toBe(tokens ?? 0);
  });

  it.each<[TestValue, number | undefined]>([
    [0.00517, 5170],
    ['0.00517', 5170],
    [1.6e-7, 0],
    [5e-7, 1],
    [0.0071351999999999995, 7135],
    [0, undefined],
    ['0.0', undefined],
    [NaN, undefined],
    [Infinity, undefined],
    [-1, undefined],
    ['abc', undefined],
    [1e300, undefined],
    ['1e999', undefined],
  ])('reads a cost of %p USD as %p micros', async (value, micros) => {
    const { cost } = await callOf(call({ attributes: { 'gen_ai.usage.cost': value } }), encoding);
    expect(cost?.micros).toBe(micros);
  });

  it('ignores a cost in another currency and says so', async () => {
    const inEuros = { 'gen_ai.usage.cost.amount': 0.5, 'gen_ai.usage.cost.currency': 'EUR' };
    const { calls, notices } = await read({ spans: [call({ attributes: inEuros })] }, encoding);
    expect(calls[0]).toMatchObject({ cost: undefined, outcome: 'spent' });
    expect(notices).toEqual(['1 call is taken without the reported cost, which is not in USD.']);
  });

  it.each([
    ['0', 0n, NOW],
    ['the year 2100', nanos(Date.parse('2100-01-01T00:00:00Z')), NOW],
    ['the largest time', 2n ** 64n - 1n, NOW],
    ['5 minutes ahead', nanos(NOW + 300_000), NOW + 300_000],
    ['5 minutes and a millisecond ahead', nanos(NOW + 300_001), NOW],
    ['a part of a millisecond', nanos(NOW) - 1n, NOW - 1],
  ])('takes the time %s as %p', async (_case, endNanos, timeMs) => {
    expect((await callOf(call({ endNanos }), encoding)).timeMs).toBe(timeMs);
  });

  it('marks calls that are older than 3 days, and says that limits do not count them', async () => {
    const old = (ms: number) => call({ endNanos: nanos(NOW - 3 * 24 * 60 * 60 * 1000 - ms) });
    const { calls, notices } = await read({ spans: [old(0), old(1)] }, encoding);
    expect(calls.map(({ flags }) => flags)).toEqual([[], ['late']]);
    expect(notices).toEqual(['1 call is older than 3 days, too old to count in limits.']);
  });

  it('takes cached tokens that exceed the input for apart from it, and marks the call', async () => {
    const cached = { 'gen_ai.usage.input_tokens': 176n, 'gen_ai.usage.cache_read.input_tokens': 1024n };
    const { tokens, flags } = await callOf(call({ attributes: cached }), encoding);
    expect([tokens?.input, tokens?.cacheRead, flags]).toEqual([176, 1024, ['usage_inferred']]);
  });

  it.each([
    ['ot=th:8', ['sampled']],
    ['ot=th:0', []],
    ['vendor=th:8', []],
    ['a=b,ot=rv:abc;th:c', ['sampled']],
  ])('marks a call with the trace state %s as %p', async (traceState, flags) => {
    expect((await callOf(call({ traceState }), encoding)).flags).toEqual(flags);
  });

  it('cuts and replaces what an agent may not be called', async () => {
    const { agentId } = await callOf(
      call({ attributes: { 'gen_ai.agent.name': `ünder 🤖 ${'y'.repeat(200)}` } }),
      encoding,
    );
    expect(agentId).toMatch(/^-nder---y+$/);
    expect(agentId).toHaveLength(128);
  });

  it('counts calls whose spans are around each other or around themselves', async () => {
    const [a, b, c] = ['a'.repeat(16), 'b'.repeat(16), 'c'.repeat(16)];
    const parents: [string, string][] = [
      [a, b],
      [b, a],
      [c, c],
    ];
    const spans = parents.map(([spanId, parentSpanId]) => call({ spanId, parentSpanId }));
    expect((await read({ spans }, encoding)).calls).toHaveLength(3);
    const ring = Array.from({ length: 200 }, (_none, index) => (index + 1).toString(16).padStart(16, '0'));
    const around = ring.map((spanId, index) => call({ spanId, parentSpanId: ring.at(index - 1)! }));
    expect((await read({ spans: around }, encoding)).calls).toHaveLength(200);
  });

  it('counts a block by the filter of a provider once, though spans around the call repeat its finish reason', async () => {
    const filtered = { 'gen_ai.response.finish_reasons': ['content_filter'] };
    const around = { ...filtered, 'gen_ai.operation.name': 'invoke_agent' };
    const spans = [
      call({ attributes: around, spanId: 'a'.repeat(16) }),
      call({ attributes: filtered, parentSpanId: 'a'.repeat(16) }),
    ];
    const { blocks, calls } = await read({ spans }, encoding);
    expect([calls.length, blocks.map(({ guard }) => guard)]).toEqual([1, ['content_filter']]);
  });

  it('counts the calls inside one that has as many tokens as they have together, or none', async () => {
    const tokens = (input: bigint, output: bigint) => ({
      'gen_ai.usage.input_tokens': input,
      'gen_ai.usage.output_tokens': output,
    });
    const [outer, first, second] = ['a'.repeat(16), 'b'.repeat(16), 'c'.repeat(16)];
    const inner = [
      call({ spanId: first, parentSpanId: outer, attributes: tokens(100n, 10n) }),
      call({ spanId: second, parentSpanId: outer, attributes: tokens(200n, 20n) }),
    ];
    const around = (input: bigint, output: bigint) => call({ spanId: outer, attributes: tokens(input, output) });
    const counted = async (span: TestSpan) => (await read({ spans: [span, ...inner] }, encoding)).calls.length;
    expect(await counted(around(300n, 30n))).toBe(2);
    expect(await counted(around(0n, 0n))).toBe(2);
    expect(await counted(around(200n, 20n))).toBe(2);
    expect(await counted(around(301n, 30n))).toBe(3);
  });

  it('gives the only call inside one that repeats its tokens the cost of that one, unless it has its own', async () => {
    const at = ['a', 'b', 'c'].map((digit) => digit.repeat(16));
    const usage = { 'gen_ai.usage.input_tokens': 100n, 'gen_ai.usage.output_tokens': 10n };
    /** The calls of three spans, each inside the one before. */
    const costsOf = async (...nested: (Record<string, TestValue> | undefined)[]) => {
      const spans = nested.map((attributes = {}, index) =>
        call({
          spanId: at[index]!,
          ...(index > 0 && { parentSpanId: at[index - 1]! }),
          attributes: { ...usage, ...attributes },
        }),
      );
      // Inner spans end first, so they come first.
      const { calls } = await read({ spans: spans.toReversed() }, encoding);
      return calls.map(({ settlementId, cost }) => [settlementId, cost?.micros]);
    };
    const cost = (usd: number) => ({ 'gen_ai.usage.cost': usd });
    const innermost = `otel:${TRACE}:${at[2]}`;
    expect(await costsOf(cost(0.5), {}, {})).toEqual([[innermost, 500_000]]);
    expect(await costsOf(cost(0.5), cost(0.25), {})).toEqual([[innermost, 250_000]]);
    expect(await costsOf(cost(0.5), {}, cost(0.125))).toEqual([[innermost, 125_000]]);
    expect(await costsOf({ ...cost(0.5), 'gen_ai.usage.cost.currency': 'EUR' }, {}, {})).toEqual([
      [innermost, undefined],
    ]);
    // A call around another one that does not repeat it keeps its cost.
    const more = { 'gen_ai.usage.input_tokens': 101n };
    expect(await costsOf({ ...cost(0.5), ...more }, {}, {})).toEqual([
      [innermost, undefined],
      [`otel:${TRACE}:${at[0]}`, 500_000],
    ]);
    expect(
      await costsOf({ ...cost(0.5), 'gen_ai.usage.input_tokens': '-', 'gen_ai.usage.output_tokens': '-' }, {}),
    ).toEqual([[`otel:${TRACE}:${at[1]}`, 500_000]]);
  });

  it('divides the cost of a call around several among none of them', async () => {
    const [outer, first, second] = ['a'.repeat(16), 'b'.repeat(16), 'c'.repeat(16)];
    const inside = { parentSpanId: outer, attributes: {} };
    const around = (input: bigint, output: bigint) => ({
      'gen_ai.usage.input_tokens': input,
      'gen_ai.usage.output_tokens': output,
      'gen_ai.usage.cost': 0.5,
    });
    for (const attributes of [around(2400n, 690n), around(1200n, 345n)]) {
      const spans = [
        call({ spanId: outer, attributes }),
        call({ spanId: first, ...inside }),
        call({ spanId: second, ...inside }),
      ];
      const { calls } = await read({ spans }, encoding);
      expect(calls.map(({ cost }) => cost)).toEqual([undefined, undefined]);
    }
  });

  it('refuses 10,001 calls, and says which settings make batches smaller', async () => {
    const spans = Array.from({ length: 10_001 }, (_none, index) =>
      call({ spanId: index.toString(16).padStart(16, '1') }),
    );
    const error = await errorOf(read({ spans }, encoding));
    expect(error).toMatchObject({
      code: 'payload_too_large',
      message: expect.stringMatching(/more than 10000 calls\..* OTEL_BSP_MAX_EXPORT_BATCH_SIZE/),
    });
    expect((await read({ spans: spans.slice(1) }, encoding)).calls).toHaveLength(10_000);
  });

  it('refuses 10,001 blocks by guards', async () => {
    const spans = Array.from({ length: 10_001 }, () => ({
      spanId: SPAN,
      attributes: [['guardrail_status', 'guardrail_intervened']] as const,
    }));
    expect(await errorOf(read({ spans }, encoding))).toMatchObject({ code: 'payload_too_large' });
    expect((await read({ spans: spans.slice(1) }, encoding)).blocks).toHaveLength(10_000);
  });

  it('keeps no span without an id and a mapped attribute', async () => {
    const spans = [{ attributes: [] }, { attributes: [['a', 1n]] as const }, { spanId: SPAN, attributes: [] }];
    expect(await decodeOtlp(traces({ spans }, encoding), 'span', encoding)).toHaveLength(1);
  });

  it('takes an empty body, and one without a span', async () => {
    expect(await decodeOtlp(Buffer.alloc(0), 'span', encoding)).toEqual([]);
    expect(await decodeOtlp(traces({ spans: [] }, encoding), 'span', encoding)).toEqual([]);
  });

  it('refuses a body that ends anywhere before its end, with one sentence', async () => {
    const body = traces({ resource: [['service.name', 'bot']], spans: [call(), call()] }, encoding);
    for (let length = 1; length < body.length; length += 1) {
      const error = await errorOf(decodeOtlp(body.subarray(0, length), 'span', encoding));
      expect([length, error]).toEqual([length, expect.any(AppError)]);
      expect((error as AppError).code).toBe('invalid_request');
    }
  });

  it('refuses or reads recorded bodies with a changed byte, and never fails otherwise', async () => {
    const file = encoding === 'json' ? 'claude-code-logs.json' : 'envoy-1.40-otlp-access-log-ok.pb';
    const body = bodyOf(file);
    for (let at = 0; at < body.length; at += 1) {
      for (const byte of [0x00, 0x22, 0x5c, 0x7d, 0xff]) {
        const changed = Buffer.from(body);
        changed[at] = byte;
        const error = await errorOf(decodeOtlp(changed, 'log', encoding));
        if (error !== undefined) expect(error).toBeInstanceOf(AppError);
      }
    }
  });
});

describe('the depth of values', () => {
  const deep = (levels: number): TestValue => (levels === 0 ? 'x' : [deep(levels - 1)]);

  it('does not matter in protobuf, where nobody reads them', async () => {
    const attributes = { 'gen_ai.input.messages': deep(1000) };
    expect(await callOf(call({ attributes }), 'protobuf')).toMatchObject({ outcome: 'spent' });
  });

  it('is at most 64 levels in JSON', async () => {
    const ofDepth = (levels: number) => call({ attributes: { 'gen_ai.input.messages': deep(levels) } });
    expect(await callOf(ofDepth(64), 'json')).toMatchObject({ outcome: 'spent' });
    const error = await errorOf(callOf(ofDepth(1000), 'json'));
    expect(error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('levels of objects') });
  });
});

describe('input that is no OTLP', () => {
  it.each([
    '5',
    '"text"',
    '[]',
    '{"resourceSpans":5}',
    '{"resourceSpans":[5]}',
    '{}x',
    '{"a":}',
    '{"a":1,}',
    '{,}',
    '\xff',
  ])('as JSON %j is refused', async (body) => {
    expect(await errorOf(decodeOtlp(Buffer.from(body, 'latin1'), 'span', 'json'))).toMatchObject({
      code: 'invalid_request',
    });
  });

  it.each([
    '{}',
    ' {"resourceSpans":null}\n',
    '{"resourceSpans":[]}',
    '{"resourceSpans":[{"scopeSpans":[{"spans":null}]}]}',
  ])('as JSON %j has no calls', async (body) => {
    expect(await decodeOtlp(Buffer.from(body), 'span', 'json')).toEqual([]);
  });

  it('such as JSON is refused as protobuf, and protobuf as JSON', async () => {
    const request = { spans: [call()] };
    const refused = [
      decodeOtlp(traces(request, 'json'), 'span', 'protobuf'),
      decodeOtlp(traces(request, 'protobuf'), 'span', 'json'),
      decodeOtlp(traces(request, 'protobuf'), 'log', 'protobuf'),
    ];
    for (const each of refused) expect(await errorOf(each)).toMatchObject({ code: 'invalid_request' });
  });
});
