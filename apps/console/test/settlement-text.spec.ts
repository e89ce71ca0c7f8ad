import { describe, expect, it } from '@jest/globals';
import { PRICED_BY } from '@tollkeeper/contracts';
import { settlement } from '../web/src/text/settlement.ts';

const PARTS = {
  cache_read_tokens: 1024,
  cache_write_tokens: 200,
  cache_write_1h_tokens: 100,
  reasoning_tokens: 128,
};

describe('a settlement', () => {
  it('says in words where its price is from, whoever says what it cost', () => {
    for (const by of PRICED_BY) expect(settlement.source(by)).toMatch(/^[A-Z][a-z]+( price)?$/);
    expect(settlement.source('contract')).toBe('contract');
  });

  it('names the parts of its tokens that it has', () => {
    expect(settlement.parts(PARTS)).toBe(
      '1,024 cache read, 200 cache write, 100 cache write for an hour, 128 reasoning',
    );
    expect(settlement.parts({ reasoning_tokens: 20_000, cache_read_tokens: 0 })).toBe('20K reasoning');
    expect(settlement.parts({})).toBe('');
  });

  it('has one line with its model, its tokens and where its price is from, of which any may be unknown', () => {
    const call = { model: 'gpt-4o', input_tokens: 1500, output_tokens: 345, reasoning_tokens: 128, priced_by: 'table' };
    expect(settlement.details(call)).toBe('gpt-4o, 1,500 tokens in, 345 out (128 reasoning), release price');
    expect(settlement.details({ input_tokens: 5 })).toBe('5 tokens in, 0 out');
    expect(settlement.details({ priced_by: 'none' })).toBe('no price');
    expect(settlement.details({})).toBe('');
  });
});
