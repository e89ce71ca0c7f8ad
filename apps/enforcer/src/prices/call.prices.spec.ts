import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { AppError, provenTenantId } from '@tollkeeper/kernel';
import type { PricePeer } from '@tollkeeper/price-sources';
import { createMetrics } from '@tollkeeper/runtime';
import { testLogger } from '@tollkeeper/testing';
import { type CallPrices, createCallPrices } from './call.prices.ts';

const TENANT = provenTenantId('ws_1');
const DAY = 86_400_000;

let budgets: { down: boolean; prices: Awaited<ReturnType<PricePeer['listPrices']>>['prices'] };
let time: number;
let prices: ReturnType<typeof createCallPrices>;

beforeEach(async () => {
  budgets = { down: false, prices: [] };
  time = Date.parse('2026-11-29T12:00:00Z');
  prices = createCallPrices({
    budgets: {
      listPrices: async () => {
        if (budgets.down) throw new AppError('service_unavailable', 'down');
        return { prices: budgets.prices };
      },
    },
    config: {},
    logger: testLogger().logger,
    metrics: createMetrics('enforcer'),
    clock: () => time,
    now: () => time,
  });
});
afterEach(() => prices.stop());

const million = (model: string, provider?: string): Parameters<CallPrices['amountOf']>[1] => ({
  model,
  provider,
  tokens: { input: 1_000_000 },
});

it('a call has the price of the workspace now, else that of the release, else none', async () => {
  await prices.start();
  budgets.prices = [
    { id: 'price_1', model: 'house-1', validFrom: 0, input: 7 },
    { id: 'price_2', model: 'house-1', validFrom: time + DAY, input: 8 },
    { id: 'price_3', model: 'gpt-4o', provider: 'azure', validFrom: 0, input: 9 },
  ];
  const amounts = () =>
    Promise.all(
      [
        million('house-1'),
        million('gpt-4o', 'azure'),
        million('gpt-4o', 'openai'),
        million('gpt-4o'),
        million('odd'),
      ].map(async (call) => (await prices.amountOf(TENANT, call))?.micros),
    );
  expect(await amounts()).toEqual([7, 9, 2_500_000, 2_500_000, undefined]);
  time += DAY;
  expect(await amounts()).toEqual([8, 9, 2_500_000, 2_500_000, undefined]);
});

it('all kinds of tokens are priced', async () => {
  const tokens = { input: 176, cacheRead: 1_024, output: 345, reasoning: 128 };
  expect(await prices.amountOf(TENANT, { model: 'gpt-4o-2026-08-06', tokens })).toMatchObject({ micros: 5_170 });
});

it('an estimate is the price of all output that a call may have, and of a token of input for two bytes', async () => {
  const estimate = (inputBytes: number, maxOutputTokens: number, model = 'gpt-4o') =>
    prices.estimateOf(TENANT, { model, inputBytes, maxOutputTokens });
  expect([await estimate(1_000, 400), await estimate(0, 1), await estimate(3, 0)]).toEqual([5_250, 10, 5]);
  expect(await estimate(1_000, 400, 'odd')).toBeUndefined();
});

it('while budgets is down it starts, and prices only calls of workspaces whose prices it knows', async () => {
  budgets.prices = [{ id: 'price_1', model: 'house-1', validFrom: 0, input: 7 }];
  await prices.amountOf(TENANT, million('house-1'));
  budgets.down = true;
  await prices.start();
  time += DAY;
  expect(await prices.amountOf(TENANT, million('house-1'))).toMatchObject({
    ...{ micros: 7, pricedBy: 'override', priceId: 'price_1' },
  });
  await expect(prices.amountOf(provenTenantId('ws_2'), million('gpt-4o'))).rejects.toMatchObject({
    code: 'service_unavailable',
  });
});
