import { describe, expect, it } from '@jest/globals';
import type { Api } from '@tollkeeper/client';
import { badFields, bodyOf, formOf, PRICE_FIELDS } from '../web/src/pages/prices/price-form.ts';

const TODAY = '2026-11-29';

function price(change: Partial<Api.Price> = {}): Api.Price {
  const none = Object.fromEntries(PRICE_FIELDS.map((field) => [field, null]));
  return {
    ...none,
    ...{ id: 'price_1', source: 'override', provider: 'azure', model: 'house-1', names: ['house-1'], ends: false },
    ...{ valid_from: '2026-10-01T07:30:00.000Z', valid_to: null, input_micros_per_million: 2_500_001 },
    ...change,
  } as Api.Price;
}

describe('the form of a price', () => {
  it('of the workspace sends the same price from the same time, unless another day is chosen', () => {
    const own = price();
    const form = formOf(own, TODAY);
    expect([form.day, form.amounts.input_micros_per_million]).toEqual(['2026-10-01', '2.500001']);
    const body = { model: 'house-1', provider: 'azure', ends: false, input_micros_per_million: 2_500_001 };
    expect(bodyOf(form, own)).toEqual({ ...body, valid_from: own.valid_from });
    expect(bodyOf({ ...form, day: TODAY }, own)).toEqual({ ...body, valid_from: `${TODAY}T00:00:00.000Z` });
  });

  it('of the release is for calls of any provider, from today on', () => {
    const ofRelease = price({ source: 'table', valid_from: '2026-10-01T00:00:00.000Z' });
    expect(bodyOf(formOf(ofRelease, TODAY), ofRelease)).toMatchObject({
      provider: null,
      valid_from: `${TODAY}T00:00:00.000Z`,
    });
  });

  it('has exact prices, and 0 is one', () => {
    const form = { ...formOf(null, TODAY), model: ' m ', provider: ' ' };
    const amounts = { ...form.amounts, input_micros_per_million: '$1,250.000001', output_micros_per_million: '0' };
    expect(bodyOf({ ...form, amounts }, null)).toEqual({
      ...{ model: 'm', provider: null, valid_from: `${TODAY}T00:00:00.000Z`, ends: false },
      ...{ input_micros_per_million: 1_250_000_001, output_micros_per_million: 0 },
    });
  });

  it('sends nothing without a price, or with one that is none', () => {
    const form = { ...formOf(null, TODAY), model: 'm' };
    expect([bodyOf(form, null), badFields(form)]).toEqual([null, []]);
    const amounts = { ...form.amounts, input_micros_per_million: '1', reasoning_micros_per_million: '1.0000001' };
    expect([bodyOf({ ...form, amounts }, null), badFields({ ...form, amounts })]).toEqual([
      null,
      ['reasoning_micros_per_million'],
    ]);
  });

  it('ends a price without sending any, whatever was typed', () => {
    const own = price();
    const form = formOf(own, TODAY);
    const amounts = { ...form.amounts, output_micros_per_million: 'x' };
    expect(bodyOf({ ...form, amounts, what: 'table', day: TODAY }, own)).toEqual({
      ...{ model: 'house-1', provider: 'azure', valid_from: `${TODAY}T00:00:00.000Z`, ends: true },
    });
    expect(formOf(price({ ends: true, input_micros_per_million: null }), TODAY).what).toBe('table');
  });
});
