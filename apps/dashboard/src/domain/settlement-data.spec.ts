import { expect, it } from '@jest/globals';
import { toSettlementData } from './settlement-data.ts';

const settled = { settlement_id: 's', run_id: 'r', agent_id: 'a', amount_micros: 7, input_tokens: 1200 };

it('a settlement without details is stored as it is', () => {
  expect(toSettlementData({ ...settled, labels: { team: 'x' } })).toEqual({ ...settled, labels: { team: 'x' } });
});

it('a settlement is stored with its kinds of tokens as fields, those that it has, and with its price and models', () => {
  const price = { priced_by: 'table', price_id: 'p', price_version: 'v' } as const;
  const facts = { ...price, service_tier: 'batch', response_model: 'm-2', request_model: 'm' };
  const tokens = { input: 176, cache_read: 1024, cache_write: 0, output: 345, reasoning: 128 };
  expect(toSettlementData({ ...settled, ...facts, tokens })).toEqual({
    ...{ ...settled, ...facts, cache_read_tokens: 1024, reasoning_tokens: 128 },
  });
  expect(toSettlementData({ ...settled, tokens: { cache_write: 3, cache_write_1h: 2 } })).toEqual({
    ...{ ...settled, cache_write_tokens: 3, cache_write_1h_tokens: 2 },
  });
});

it('a settlement is stored without what nothing shows, so that it stays small', () => {
  const unseen = { request_id: 'call:1', sender_amount: '0.1', flags: ['late' as const] };
  expect(toSettlementData({ ...settled, ...unseen })).toEqual(settled);
});
