import { describe, expect, it } from '@jest/globals';
import { isSpendSettled } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { renderMetrics } from '@tollkeeper/runtime';
import { eventually, useMongo } from '@tollkeeper/testing';
import { useIngest } from './ingest.stack.ts';
import { type TestSpan, traces } from './otlp.bodies.ts';
import { RECEIVED_MS } from './senders.ts';

const PATH = '/v1/traces';
const DAY = 86_400_000;
const mongo = useMongo();
const { keys, prices, clock, logs, url, logged } = useIngest(mongo);
clock.now = RECEIVED_MS;

let spans = 0;

/** A call with a million tokens of input, so that its amount is the price. */
function call(model: string, { cost, daysAgo = 0 }: { cost?: number; daysAgo?: number } = {}): TestSpan {
  spans += 1;
  return {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: spans.toString(16).padStart(16, '0'),
    endNanos: BigInt(RECEIVED_MS - daysAgo * DAY) * 1_000_000n,
    attributes: [
      ['gen_ai.operation.name', 'chat'],
      ['gen_ai.request.model', model],
      ['gen_ai.provider.name', 'openai'],
      ['gen_ai.usage.input_tokens', 1_000_000n],
      ['gen_ai.usage.output_tokens', 0n],
      ...(cost === undefined ? [] : ([['gen_ai.usage.cost', cost]] as const)),
    ],
  };
}

const send = (apiKey: string, ...calls: TestSpan[]) => sendTo(url(), apiKey, ...calls);

async function sendTo(origin: string, apiKey: string, ...calls: TestSpan[]): Promise<Response> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/x-protobuf' };
  const body = traces({ resource: [], spans: calls }, 'protobuf');
  return fetch(origin + PATH, { method: 'POST', headers, body: new Uint8Array(body) });
}

/** Model, amount, and who says so, of each settlement in the log, in order. */
const amounts = (tenantId: TenantId) =>
  logged(tenantId).flatMap(({ event }) =>
    isSpendSettled(event) ? [[event.data.model, event.data.amount_micros, event.data.priced_by]] : [],
  );

const price = (id: string, model: string, more: object = {}) => ({
  id,
  model,
  validFrom: 0,
  input: 7_000_000,
  ...more,
});

describe('the prices of a workspace', () => {
  it('count before those of the table and after the cost of the sender, at the time of the call', async () => {
    const { apiKey, tenantId } = keys.issue();
    prices.set(tenantId, [
      price('price_1', 'gpt-4o'),
      price('price_2', 'gpt-4o', { validFrom: RECEIVED_MS - DAY, input: 8_000_000 }),
      price('price_3', 'house-1', { input: 0 }),
      price('price_4', 'gpt-4o-mini', { provider: 'azure' }),
      price('price_5', 'o3', { input: undefined }),
    ]);
    const calls = [
      call('gpt-4o'),
      call('gpt-4o', { daysAgo: 2 }),
      call('gpt-4o', { cost: 0.5 }),
      call('gpt-4o', { cost: 0 }),
      call('house-1'),
      call('gpt-4o-mini'),
      call('o3'),
    ];
    expect((await send(apiKey, ...calls)).status).toBe(200);
    await eventually(() =>
      expect(amounts(tenantId)).toEqual([
        ['gpt-4o', 8_000_000, 'override'],
        ['gpt-4o', 7_000_000, 'override'],
        ['gpt-4o', 500_000, 'sender'],
        ['gpt-4o', 8_000_000, 'override'],
        ['house-1', 0, 'override'],
        ['gpt-4o-mini', 150_000, 'table'],
        ['o3', 2_000_000, 'table'],
      ]),
    );
    const [first] = logged(tenantId).map(({ event }) => event.data);
    expect(first).toMatchObject({ price_id: 'price_2' });
    expect(first).not.toHaveProperty('price_version');
  });

  it('have all kinds of tokens', async () => {
    const { apiKey, tenantId } = keys.issue();
    const kinds = { input: 1e6, cacheRead: 2e6, cacheWrite: 3e6, cacheWriteHour: 5e6, output: 7e6, reasoning: 11e6 };
    prices.set(tenantId, [price('price_1', 'house-1', kinds)]);
    const base = call('house-1');
    const attributes: TestSpan['attributes'] = [
      ['gen_ai.operation.name', 'chat'],
      ['gen_ai.request.model', 'house-1'],
      ['gen_ai.usage.input_tokens', 1_111_000n],
      ['gen_ai.usage.cache_read.input_tokens', 10_000n],
      ['gen_ai.usage.cache_creation.input_tokens', 101_000n],
      ['anthropic.usage.cache_creation.ephemeral_1h_input_tokens', 1_000n],
      ['gen_ai.usage.output_tokens', 110n],
      ['gen_ai.usage.reasoning_tokens', 10n],
    ];
    await send(apiKey, { ...base, attributes });
    const micros = 1_000_000 + 2 * 10_000 + 3 * 100_000 + 5 * 1_000 + 7 * 100 + 11 * 10;
    await eventually(() => expect(amounts(tenantId)).toEqual([['house-1', micros, 'override']]));
  });

  it('are never those of another workspace', async () => {
    const [one, other] = [keys.issue(), keys.issue()];
    prices.set(other.tenantId, [price('price_1', 'gpt-4o')]);
    for (const { apiKey } of [other, one]) await send(apiKey, call('gpt-4o'));
    await eventually(() => expect(amounts(one.tenantId)).toEqual([['gpt-4o', 2_500_000, 'table']]));
  });

  it('are asked for once in 3 s, and a new one counts from then on', async () => {
    const { apiKey, tenantId } = keys.issue();
    const before = prices.state.asked;
    await send(apiKey, call('house-1'));
    prices.set(tenantId, [price('price_1', 'house-1')]);
    clock.now += 2_999;
    await send(apiKey, call('house-1'));
    expect(prices.state.asked - before).toBe(1);
    clock.now += 1;
    await send(apiKey, call('house-1'));
    await eventually(() =>
      expect(amounts(tenantId)).toEqual([
        ['house-1', 0, 'none'],
        ['house-1', 0, 'none'],
        ['house-1', 7_000_000, 'override'],
      ]),
    );
  });
});

describe('while budgets is down', () => {
  it('the last known prices stay in force, and the log says so', async () => {
    const { apiKey, tenantId } = keys.issue();
    prices.set(tenantId, [price('price_1', 'gpt-4o')]);
    await send(apiKey, call('gpt-4o'));
    prices.state.down = true;
    clock.now += 3_600_000;
    expect((await send(apiKey, call('gpt-4o'))).status).toBe(200);
    prices.state.down = false;
    clock.now += 3_000;
    await eventually(() => expect(amounts(tenantId).map(([, amount]) => amount)).toEqual([7_000_000, 7_000_000]));
    expect(logs.text()).toContain('the last known prices stay in force');
  });

  it('calls of a workspace whose prices were never read are 503, so that their sender sends them again', async () => {
    const { apiKey, tenantId } = keys.issue();
    prices.set(tenantId, [price('price_1', 'gpt-4o')]);
    prices.state.down = true;
    const refused = await send(apiKey, call('gpt-4o'));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    const litellm = await fetch(`${url()}/api/v1/intake/litellm`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify([
        { id: 'x', model: 'gpt-4o', prompt_tokens: 5, status: 'success', call_type: 'acompletion' },
      ]),
    });
    expect(litellm.status).toBe(503);
    expect(amounts(tenantId)).toEqual([]);
    prices.state.down = false;
    clock.now += 1_000;
    expect((await send(apiKey, call('gpt-4o'))).status).toBe(200);
    await eventually(() => expect(amounts(tenantId)).toEqual([['gpt-4o', 7_000_000, 'override']]));
  });

  it('bodies whose calls all have a cost are taken, also of a workspace whose prices were never read', async () => {
    const { apiKey, tenantId } = keys.issue();
    prices.state.down = true;
    const before = prices.state.asked;
    const { status } = await send(apiKey, call('gpt-4o', { cost: 0.25 }));
    prices.state.down = false;
    expect([status, prices.state.asked - before]).toEqual([200, 0]);
    await eventually(() => expect(amounts(tenantId)).toEqual([['gpt-4o', 250_000, 'sender']]));
  });
});

describe('while the list at PRICES_URL was never read', () => {
  const ingest = useIngest(mongo, undefined, { PRICES_URL: 'https://localhost:1/prices.json' });
  ingest.clock.now = RECEIVED_MS;

  it('calls that need a price of it are 503, others are taken, and a metric says so', async () => {
    const { apiKey, tenantId } = ingest.keys.issue();
    ingest.prices.set(tenantId, [price('price_1', 'house-1')]);
    const status = async (...calls: TestSpan[]) => (await sendTo(ingest.url(), apiKey, ...calls)).status;
    expect(await status(call('house-1'), call('gpt-4o'))).toBe(503);
    expect(ingest.logged(tenantId)).toEqual([]);
    expect(await status(call('house-1'))).toBe(200);
    expect(await status(call('gpt-4o', { cost: 0.25 }))).toBe(200);
    expect(await renderMetrics([ingest.metrics.registry])).toMatch(/^ingest_price_file_in_force\{.*\} 0$/m);
  });
});
