import { describe, expect, it } from '@jest/globals';
import { toCursor } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { useMongo } from '@tollkeeper/testing';
import { MAX_PRICES } from '../src/prices/price.ts';
import { newTenant, useBudgets } from './budgets.stack.ts';

const mongo = useMongo();
const budgets = useBudgets(mongo);
const replica = useBudgets(mongo, budgets.database);

const HOUSE = { model: 'house-1', valid_from: '2026-11-01T00:00:00.000Z', input_micros_per_million: 2_500_000 };
const NO_AMOUNTS = {
  input_micros_per_million: null,
  output_micros_per_million: null,
  cached_input_micros_per_million: null,
  cache_write_micros_per_million: null,
  cache_write_1h_micros_per_million: null,
  reasoning_micros_per_million: null,
};

interface Listed {
  items: Record<string, unknown>[];
  next_cursor: string | null;
}

const set = (tenantId: TenantId, fields: Record<string, unknown> = {}, on = budgets) =>
  on.callPrices('put', tenantId, '', { body: { ...HOUSE, ...fields } });
const page = async (tenantId: TenantId, query = '') =>
  (await budgets.callPrices('get', tenantId, query, { role: 'member' })).body as Listed;
const items = async (tenantId: TenantId, query = '') => (await page(tenantId, query)).items;

/** All items, by pages of `limit`. */
async function paged(tenantId: TenantId, query: string, limit: number): Promise<Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const at: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const { items: some, next_cursor }: Listed = await page(tenantId, `?limit=${limit}${query}${at}`);
    all.push(...some);
    cursor = next_cursor;
  }
  return all;
}

/** What ingest gets, with as many questions as it needs. */
async function served(tenantId: TenantId) {
  const prices = [];
  let after: number | undefined = 0;
  let pages = 0;
  while (after !== undefined) {
    const answer: Awaited<ReturnType<typeof budgets.listPrices>> = await budgets.listPrices(tenantId, after);
    prices.push(...answer.prices);
    after = answer.nextAfter;
    pages += 1;
  }
  return { prices, pages };
}

describe('setting a price', () => {
  it('answers it as the list has it, and ingest gets it with each kind of tokens', async () => {
    const tenantId = newTenant();
    const amounts = {
      input_micros_per_million: 3_000_000,
      output_micros_per_million: 0,
      cached_input_micros_per_million: 300_000,
      cache_write_micros_per_million: 3_750_000,
      cache_write_1h_micros_per_million: 6_000_000,
      reasoning_micros_per_million: 10_000_000_000,
    };
    const body = { provider: 'Azure', model: 'GPT-4o', valid_from: '2026-11-01T01:00:00+01:00', ...amounts };
    const answer = await set(tenantId, body);
    expect(answer).toMatchObject({
      status: 200,
      body: {
        ...{ id: expect.stringMatching(/^price_[0-9A-Za-z]{20}$/), source: 'override', ...body, ends: false },
        ...{ names: ['GPT-4o'], tier: 'default', above_tokens: null, valid_from: HOUSE.valid_from, valid_to: null },
        ...{ created_at: new Date(budgets.clock.now).toISOString(), created_by: 'user_1' },
      },
    });
    expect(await items(tenantId)).toEqual([answer.body]);
    const { prices } = await served(tenantId);
    expect(prices).toEqual([
      expect.objectContaining({
        ...{ id: answer.body.id, provider: 'Azure', model: 'GPT-4o', validFrom: Date.parse(HOUSE.valid_from) },
        ...{ input: 3_000_000, output: 0, cacheRead: 300_000, cacheWrite: 3_750_000, cacheWriteHour: 6_000_000 },
        reasoning: 10_000_000_000,
      }),
    ]);
  });

  it('ends the one before of the same provider and model, in any case, and no other', async () => {
    const tenantId = newTenant();
    await set(tenantId);
    await set(tenantId, { provider: 'azure' });
    await set(tenantId, { model: 'house-2' });
    await set(tenantId, { model: 'HOUSE-1', valid_from: '2026-12-01T00:00:00.000Z' });
    const ends = (await items(tenantId)).map(({ provider, model, valid_to }) => [provider, model, valid_to]);
    expect(ends).toEqual([
      [null, 'HOUSE-1', null],
      [null, 'house-2', null],
      ['azure', 'house-1', null],
      [null, 'house-1', '2026-12-01T00:00:00.000Z'],
    ]);
  });

  it('corrects one from the same time, which then never counted, and adds nothing if it is the same again', async () => {
    const tenantId = newTenant();
    const first = await set(tenantId);
    expect((await set(tenantId)).body).toEqual(first.body);
    const corrected = await set(tenantId, { input_micros_per_million: 0 });
    expect(await items(tenantId)).toEqual([corrected.body, { ...first.body, valid_to: HOUSE.valid_from }]);
    expect((await served(tenantId)).prices.map(({ input }) => input)).toEqual([2_500_000, 0]);
  });

  it('with ends leaves calls to the table again from then on', async () => {
    const tenantId = newTenant();
    await set(tenantId);
    const { model } = HOUSE;
    const end = { model, valid_from: '2026-11-20T00:00:00.000Z', ends: true };
    const answer = await budgets.callPrices('put', tenantId, '', { body: end });
    expect(answer).toMatchObject({ status: 200, body: { ...end, ...NO_AMOUNTS } });
    expect(await items(tenantId)).toMatchObject([{ ends: true }, { ends: false, valid_to: end.valid_from }]);
    const [, last] = (await served(tenantId)).prices;
    expect([last?.input, last?.output, last?.cacheRead]).toEqual([undefined, undefined, undefined]);
  });

  it('with ends is refused if it ends no price, and names the field', async () => {
    const tenantId = newTenant();
    const end = async (valid_from: string, more: object = {}) => {
      const body = { model: HOUSE.model, valid_from, ends: true, ...more };
      return budgets.callPrices('put', tenantId, '', { body });
    };
    const refused = { status: 400, body: { details: [{ path: 'ends' }] } };
    expect(await end('2026-11-20T00:00:00.000Z')).toMatchObject(refused);
    await set(tenantId);
    expect(await end('2020-01-01T00:00:00.000Z')).toMatchObject(refused);
    expect(await end('2026-11-20T00:00:00.000Z', { provider: 'other' })).toMatchObject(refused);
    for (let time = 0; time < 2; time += 1) expect((await end('2026-11-20T00:00:00.000Z')).status).toBe(200);
    expect(await end('2026-11-21T00:00:00.000Z')).toMatchObject(refused);
    expect(await items(tenantId)).toHaveLength(2);
  });

  it.each([
    ['no model', { model: undefined }, 'model'],
    ['an empty model', { model: '' }, 'model'],
    ['a model of 129 bytes', { model: `${'x'.repeat(127)}ä` }, 'model'],
    ['an empty provider', { provider: '' }, 'provider'],
    ['an operator object as provider', { provider: { $gt: '' } }, 'provider'],
    ['no time', { valid_from: undefined }, 'valid_from'],
    ['a day', { valid_from: '2026-11-01' }, 'valid_from'],
    ['a negative price', { input_micros_per_million: -1 }, 'input_micros_per_million'],
    ['a fraction of a micro', { output_micros_per_million: 0.5 }, 'output_micros_per_million'],
    ['a price in another unit', { input_micros_per_million: 10_000_000_001 }, 'input_micros_per_million'],
    ['a price in text', { reasoning_micros_per_million: '1' }, 'reasoning_micros_per_million'],
    ['no price', { input_micros_per_million: undefined }, 'input_micros_per_million'],
    ['a price and an end', { ends: true }, 'input_micros_per_million'],
    ['a field that it does not know', { image_micros: 1 }, 'image_micros'],
  ])('refuses %s and names the field', async (_case, fields, path) => {
    const tenantId = newTenant();
    expect(await set(tenantId, fields)).toMatchObject({ status: 400, body: { details: [{ path }] } });
    expect(await items(tenantId)).toEqual([]);
  });

  it('is for owners, reading for every member, and both for callers of the gateway alone', async () => {
    const tenantId = newTenant();
    for (const role of ['member', 'admin'] as const) {
      expect((await budgets.callPrices('put', tenantId, '', { role, body: HOUSE })).status).toBe(403);
      expect((await budgets.callPrices('get', tenantId, '', { role })).status).toBe(200);
    }
    for (const method of ['get', 'put'] as const) {
      const body = method === 'put' ? HOUSE : undefined;
      expect((await budgets.callPrices(method, tenantId, '', { token: null, body })).status).toBe(401);
    }
    expect(await items(tenantId)).toEqual([]);
  });

  it('is of one workspace alone', async () => {
    const [one, other] = [newTenant(), newTenant()];
    await set(one);
    expect(await items(other)).toEqual([]);
    expect((await served(other)).prices).toEqual([]);
  });
});

describe('the prices of a workspace', () => {
  it('are at most 1000, however many replicas set them at once: then 409 says what to do', async () => {
    const tenantId = newTenant();
    await set(tenantId);
    const price = { tenantId, key: 'm', provider: null, model: 'm', validFrom: new Date(0), createdBy: 'user_1' };
    await budgets.collection('prices').insertMany(
      Array.from({ length: MAX_PRICES - 4 }, (_, nth) => ({
        ...{ _id: `price_${tenantId}_${nth}`, number: nth + 2, ...price, validFrom: new Date(nth) },
        ...{ microsPerMillion: { input: nth }, createdAt: new Date(0) },
      })) as never[],
    );
    await budgets.collection('price_counts').updateOne({ _id: tenantId as never }, { $set: { count: MAX_PRICES - 3 } });

    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, nth) => set(tenantId, { model: `m-${nth}` }, nth % 2 === 0 ? budgets : replica)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 409, 409, 409, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body.error).toMatch(/1000 prices.*gen_ai\.usage\.cost/s);
    const { prices, pages } = await served(tenantId);
    expect([prices.length, new Set(prices.map(({ id }) => id)).size, pages]).toEqual([MAX_PRICES, MAX_PRICES, 2]);
  });

  it('are listed by pages, the one set last first, and found by a part of their model or provider', async () => {
    const tenantId = newTenant();
    for (let nth = 0; nth < 5; nth += 1) await set(tenantId, { model: `House-${nth}` });
    await set(tenantId, { provider: 'Azure' });
    const models = (all: readonly Record<string, unknown>[]) => all.map(({ model }) => model);
    expect(models(await paged(tenantId, '', 2))).toEqual([
      ...['house-1', 'House-4', 'House-3', 'House-2', 'House-1', 'House-0'],
    ]);
    expect(models(await items(tenantId, '?search=USE-3'))).toEqual(['House-3']);
    expect(models(await items(tenantId, '?search=azu'))).toEqual(['house-1']);
    expect(await items(tenantId, '?search=.*')).toEqual([]);
  });

  it('have cursors of their own: one of the table is 400', async () => {
    const tenantId = newTenant();
    const { next_cursor } = await page(tenantId, '?source=table&limit=1');
    const answer = await budgets.callPrices('get', tenantId, `?cursor=${next_cursor}`);
    expect(answer).toMatchObject({ status: 400, body: { details: [{ path: 'cursor' }] } });
  });
});

describe('the table of the release', () => {
  it('is found by a part of the name, with the kinds, tiers and thresholds of a model', async () => {
    const found = await items(newTenant(), '?source=table&search=Gemini-2.5-Pro&limit=100');
    const own = found.filter(({ id }) => id === 'gemini-2.5-pro');
    expect(own.map(({ tier, above_tokens }) => [tier, above_tokens])).toEqual(
      expect.arrayContaining([
        ['default', null],
        ['default', 200_000],
        ['batch', null],
      ]),
    );
    const [usual] = own.filter(({ tier, above_tokens }) => tier === 'default' && above_tokens === null);
    expect(usual).toMatchObject({
      ...{ source: 'table', model: 'gemini-2.5-pro', names: ['gemini-2.5-pro'], created_at: null, created_by: null },
      ...{ input_micros_per_million: 1_250_000, output_micros_per_million: 10_000_000 },
      cached_input_micros_per_million: 125_000,
    });
  });

  it('has the days on which prices changed', async () => {
    const o3 = (await items(newTenant(), '?source=table&search=o3&limit=100')).filter(({ id }) => id === 'o3');
    const inputs = o3.filter(({ tier, input_micros_per_million: input }) => tier === 'default' && input !== null);
    expect(
      inputs.map(({ input_micros_per_million, valid_from, valid_to }) => [
        ...[input_micros_per_million, valid_from, valid_to],
      ]),
    ).toEqual([
      [10_000_000, null, '2025-06-10T00:00:00.000Z'],
      [2_000_000, '2025-06-10T00:00:00.000Z', null],
    ]);
  });

  it('is listed from its beginning after a cursor that is before it, and empty after one behind its end', async () => {
    const tenantId = newTenant();
    const of = async (place: number) => items(tenantId, `?source=table&limit=1&cursor=${toCursor(place, 'table')}`);
    expect(await of(-2)).toEqual(await items(tenantId, '?source=table&limit=1'));
    expect(await of(1_000_000)).toEqual([]);
  });

  it('is listed by pages, each price once, and is the same for every workspace', async () => {
    const all = await paged(newTenant(), '&source=table&search=claude-haiku', 7);
    expect(all.length).toBeGreaterThan(20);
    expect(new Set(all.map((price) => JSON.stringify(price))).size).toBe(all.length);
    expect(await paged(newTenant(), '&source=table&search=claude-haiku', 100)).toEqual(all);
  });
});
