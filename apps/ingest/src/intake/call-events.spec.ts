import { describe, expect, it } from '@jest/globals';
import { ASKED, type AttributeValue, emptyRecord, type IntakeRecord } from '@tollkeeper/call-facts';
import { decodeGatewayEvent, encodeGatewayEvent, gatewayEventSchema } from '@tollkeeper/contracts';
import { provenTenantId } from '@tollkeeper/kernel';
import { createOverrideBook, createPriceBook, readBundledTable } from '@tollkeeper/prices';
import fc from 'fast-check';
import { eventsOf, missingPricesOf } from './call-events.ts';
import { withPrice } from './call-price.ts';
import { readCalls } from './calls.ts';

const PRICES = createPriceBook(readBundledTable());
const SOURCES = { overrides: createOverrideBook([]), prices: PRICES, priceAnew: false };

const VALUE: fc.Arbitrary<AttributeValue> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc.double(),
  fc.nat(),
  fc.maxSafeInteger(),
  fc.boolean(),
  fc.constantFrom('guardrail_intervened', 'content_filter', 'chat', 'LLM', 'gpt-4o'),
  fc.array(fc.constantFrom('guardrail_intervened', 'content_filter', 'x')),
);
const ATTRIBUTES = fc.dictionary(fc.constantFrom(...ASKED.names), VALUE, { noNullPrototype: false });

const RECORD: fc.Arbitrary<IntakeRecord> = fc
  .record({
    kind: fc.constantFrom('span', 'log', 'callback'),
    attributes: ATTRIBUTES,
    resource: ATTRIBUTES,
    timeMs: fc.oneof(fc.constant(0), fc.maxSafeNat()),
  })
  .map(({ kind, attributes, resource, timeMs }) => ({
    ...emptyRecord(kind, {
      scope: { name: 'x' },
      attributes: new Map([['gen_ai.operation.name', 'chat'], ['gen_ai.usage.cost', 1], ...Object.entries(attributes)]),
      resource: new Map(Object.entries(resource)),
    }),
    timeMs,
  }));

const NOW = Date.parse('2026-11-26T10:00:00Z');
const MODELS = { 'gen_ai.response.model': 'gpt-4o-2026-08-06', 'gen_ai.request.model': 'gpt-4o' };
const USAGE = { 'gen_ai.usage.input_tokens': 1500, 'gen_ai.usage.output_tokens': 345 };

/** Spans with these attributes. */
function recordsOf(...spans: Record<string, AttributeValue>[]) {
  return spans.map((attributes) => {
    const all = new Map(Object.entries({ 'gen_ai.operation.name': 'chat', ...attributes }));
    return { ...emptyRecord('span', { scope: { name: 'x' }, resource: new Map(), attributes: all }), timeMs: NOW };
  });
}

/** The calls of spans with these attributes. */
async function callsOf(...spans: Record<string, AttributeValue>[]) {
  return (await readCalls(recordsOf(...spans), { receivedMs: NOW })).calls.map((call) => withPrice(call, SOURCES));
}

async function eventOf(attributes: Record<string, AttributeValue>) {
  const events = await eventsOf(await callsOf(attributes), []);
  expect(events).toHaveLength(1);
  return events[0]!;
}

describe('the settlement of a call', () => {
  it('has its tokens by kind, its models, its tier, what its sender says, and the request of its reservation', async () => {
    const { type, data } = await eventOf({
      ...{ ...MODELS, ...USAGE, 'gen_ai.usage.cost': 0.0071351999999999995, 'litellm.call_id': 'c1' },
      'gen_ai.usage.cache_read.input_tokens': 1024,
      'gen_ai.usage.cache_creation.input_tokens': 300,
      'anthropic.usage.cache_creation.ephemeral_1h_input_tokens': 100,
      'gen_ai.usage.reasoning_tokens': 128,
      'gen_ai.response.service_tier': 'batch',
      'sampling.probability': 0.5,
    });
    expect([type, data]).toEqual([
      'spend.settled',
      {
        settlement_id: 'call:c1',
        request_id: 'call:c1',
        run_id: 'call:c1',
        agent_id: 'unknown',
        model: 'gpt-4o-2026-08-06',
        response_model: 'gpt-4o-2026-08-06',
        request_model: 'gpt-4o',
        amount_micros: 7135,
        priced_by: 'sender',
        sender_amount: '0.0071351999999999995',
        input_tokens: 1500,
        output_tokens: 345,
        tokens: { input: 176, cache_read: 1024, cache_write: 200, cache_write_1h: 100, output: 345, reasoning: 128 },
        service_tier: 'batch',
        flags: ['sampled'],
      },
    ]);
  });

  it('leaves out what is not known or none, and names that are too long', async () => {
    const long = 'x'.repeat(200);
    const { data } = await eventOf({
      ...{ 'gen_ai.request.model': 'gpt-4o', 'gen_ai.usage.cost': 1, ...USAGE },
      ...{ 'gen_ai.response.model': long, 'gen_ai.response.service_tier': long },
    });
    expect(data).toMatchObject({ model: 'gpt-4o', request_model: 'gpt-4o', tokens: { input: 1500, output: 345 } });
    for (const name of ['response_model', 'service_tier', 'flags', 'request_id', 'reservation_id', 'price_id']) {
      expect(data).not.toHaveProperty(name);
    }
  });

  it('has the price of its tokens if its sender reports no cost, and none if nobody knows the price', async () => {
    const { data } = await eventOf({ ...MODELS, ...USAGE });
    const { priceId, priceVersion } = PRICES.price({
      ...{ timeMs: NOW, responseModel: 'gpt-4o-2026-08-06', requestModel: 'gpt-4o', provider: undefined },
      ...{ serviceTier: undefined },
      tokens: { input: 1500, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 345, reasoning: 0 },
    })!;
    const table = { priced_by: 'table', price_id: priceId, price_version: priceVersion };
    expect(data).toMatchObject({ amount_micros: 7200, ...table });
    const { data: unpriced } = await eventOf({ 'gen_ai.request.model': 'house-1', 'gen_ai.usage.cost': 0, ...USAGE });
    expect(unpriced).toMatchObject({ amount_micros: 0, priced_by: 'none', tokens: { input: 1500, output: 345 } });
    for (const each of [data, unpriced]) expect(each).not.toHaveProperty('sender_amount');
    expect(unpriced).not.toHaveProperty('price_id');
  });

  it('has the price of its tokens if calls of the key are priced anew, and still says what its sender does', async () => {
    const anew = async (attributes: Record<string, AttributeValue>) => {
      const { calls } = await readCalls(recordsOf(attributes), { receivedMs: NOW });
      const priced = calls.map((call) => withPrice(call, { ...SOURCES, priceAnew: true }));
      return (await eventsOf(priced, []))[0]!.data;
    };
    const cost = { 'gen_ai.usage.cost': 1.25 };
    const said = { sender_amount: '1.25' };
    expect(await anew({ ...MODELS, ...USAGE, ...cost })).toMatchObject({
      priced_by: 'table',
      amount_micros: 7200,
      ...said,
    });
    const house = { 'gen_ai.request.model': 'house-1', ...USAGE, ...cost };
    expect(await anew(house)).toMatchObject({ priced_by: 'none', amount_micros: 0, ...said });
    // Nothing says how many tokens it had.
    expect(await anew({ ...MODELS, ...cost })).toMatchObject({
      priced_by: 'sender',
      amount_micros: 1_250_000,
      ...said,
    });
  });

  it('can be read from the log if the name of its price has a slash', async () => {
    const event = await eventOf({
      ...{ 'gen_ai.request.model': 'mistral-large-latest', 'gen_ai.provider.name': 'mistral_ai' },
      ...USAGE,
    });
    const record = { tenantId: provenTenantId('ws_1'), receivedAt: new Date(NOW).toISOString(), event };
    const { data } = decodeGatewayEvent(encodeGatewayEvent(record).value).event;
    expect(data).toMatchObject({ priced_by: 'table', price_id: 'mistral/mistral-large-latest' });
  });

  it('names the reservation that its sender names, and no request beside it', async () => {
    const { data } = await eventOf({
      'gen_ai.usage.cost': 1,
      'tollkeeper.reservation_id': 'rsv_1',
      'x-request-id': 'c',
    });
    expect(data).toMatchObject({ reservation_id: 'rsv_1' });
    expect(data).not.toHaveProperty('request_id');
  });
});

describe('a call without tokens and without a cost', () => {
  it('is unmetered, and not a settlement', async () => {
    const id = { 'gen_ai.response.id': `chatcmpl-${'a'.repeat(29)}` };
    const event = await eventOf({ ...MODELS, ...id, 'gen_ai.conversation.id': 'run-1', 'team.id': 'platform' });
    expect(event).toEqual({
      specversion: '1.0',
      id: expect.stringMatching(/^unmetered:[0-9a-f]{32}$/),
      source: 'otel/unknown',
      type: 'call.unmetered',
      time: '2026-11-26T10:00:00.000Z',
      data: {
        call_id: expect.stringMatching(/^rsp:[0-9a-f]{32}$/),
        run_id: 'run-1',
        agent_id: 'unknown',
        model: 'gpt-4o-2026-08-06',
        labels: { team: 'platform' },
        reason: 'no_usage',
      },
    });
    const settled = await eventOf({ ...MODELS, ...id, ...USAGE, 'gen_ai.usage.cost': 1 });
    expect(settled).toMatchObject({ id: (event.data as { call_id?: string }).call_id });
  });

  it('says that its client left where its gateway does', async () => {
    const { data } = await eventOf({ ...MODELS, 'envoy.response_flags': 'DC' });
    expect(data).toMatchObject({ reason: 'client_gone' });
  });

  it('that failed has no event if it cannot have a reservation', async () => {
    const failed = await callsOf({ ...MODELS, 'error.type': '500' });
    expect(await eventsOf(failed, [])).toEqual([]);
    expect(await missingPricesOf(failed, NOW)).toEqual([]);
  });

  it('that failed names the request of its reservation, and all of its attempts are one event', async () => {
    const attempt = { ...MODELS, 'error.type': '500', 'litellm.call_id': 'c1', 'team.id': 'platform' };
    const [first, second, other] = await eventsOf(
      await callsOf(attempt, { ...attempt, 'error.type': '429' }, { ...attempt, 'litellm.call_id': 'c2' }),
      [],
    );
    expect(first).toMatchObject({
      type: 'call.failed',
      data: { request_id: 'call:c1', run_id: 'call:c1', agent_id: 'unknown', model: 'gpt-4o-2026-08-06' },
    });
    expect([second!.id, other!.id === first!.id]).toEqual([first!.id, false]);
  });

  it('that Tollkeeper denied has no event, which it has written already', async () => {
    const blocked = { guardrail_status: 'guardrail_intervened', 'litellm.call_id': 'c1', 'error.type': '400' };
    const typesOf = async (guard: string) =>
      (await eventsOf(await callsOf({ ...blocked, guardrail_name: guard }), [])).map(({ type }) => type);
    expect([await typesOf('tollkeeper'), await typesOf('pii')]).toEqual([[], ['call.failed']]);
  });
});

describe('a model without a price', () => {
  const unpriced = { ...USAGE, 'gen_ai.provider.name': 'openai' };

  it('is one event for all of its calls of a day, whenever they are reported', async () => {
    const calls = await callsOf(
      ...[1, 2].map((call) => ({ ...unpriced, 'gen_ai.request.model': 'house-1', 'tollkeeper.call_id': `${call}` })),
      { ...unpriced, 'gen_ai.request.model': 'house-2' },
      { ...unpriced, 'gen_ai.request.model': 'gpt-4o', 'gen_ai.usage.cost': 1 },
    );
    const events = await missingPricesOf(calls, NOW);
    const common = { specversion: '1.0', source: 'tollkeeper/ingest', type: 'price.missing' };
    const [one, two] = events;
    expect(events).toEqual(
      ['house-1', 'house-2'].map((model) => ({
        ...{ ...common, time: '2026-11-26T10:00:00.000Z', id: expect.stringMatching(/^price:[0-9a-f]{32}$/) },
        data: { model, provider: 'openai' },
      })),
    );
    expect(two!.id).not.toBe(one!.id);
    const idsAt = async (time: string) => (await missingPricesOf(calls, Date.parse(time))).map(({ id }) => id);
    expect(await idsAt('2026-11-26T23:59:59.999Z')).toEqual(events.map(({ id }) => id));
    expect(await idsAt('2026-11-27T00:00:00.000Z')).not.toContain(one!.id);
  });

  it('is another one with another provider, and without a name unknown', async () => {
    const calls = await callsOf({ ...unpriced }, { ...unpriced, 'gen_ai.provider.name': 'azure' });
    const events = await missingPricesOf(calls, NOW);
    expect(events.map(({ data }) => data)).toEqual([
      { model: 'unknown', provider: 'openai' },
      { model: 'unknown', provider: 'azure' },
    ]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(2);
  });
});

it('every event of a call is valid, whatever the values of its attributes are', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(RECORD, { maxLength: 5 }),
      fc.option(fc.string(), { nil: undefined }),
      async (records, agent) => {
        const { calls, blocks } = await readCalls(records, { receivedMs: NOW, agent: agent || undefined });
        const priced = calls.map((call) => withPrice(call, SOURCES));
        for (const event of [...(await eventsOf(priced, blocks)), ...(await missingPricesOf(priced, NOW))]) {
          expect(gatewayEventSchema.safeParse(event).error?.issues).toBeUndefined();
        }
      },
    ),
  );
});
