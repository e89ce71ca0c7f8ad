import { describe, expect, it } from '@jest/globals';
import { MAX_MICROS } from '@tollkeeper/kernel';
import fc from 'fast-check';
import { microsCost, usdCost } from './usd.ts';

describe('the cost that a sender says', () => {
  it.each([
    [0.00517, 5170],
    // A double that stands for 0.0071352 less a bit.
    [0.0071351999999999995, 7135],
    ['0.0000005', 1],
    ['0.00000049999999999999999999', 0],
    [1.6e-7, 0],
    ['1e-6', 1],
    ['12E3', 12_000_000_000],
    ['  2.5 ', 2_500_000],
    ['9007199254.740991', MAX_MICROS],
  ])('%p USD is %p micros', (value, micros) => {
    expect(usdCost(value)?.micros).toBe(micros);
  });

  it.each([0, '0', '0.000', '-1', -1, NaN, Infinity, '', '-', '1,5', '0x10', '1e999', '9007199254.740992', '1 USD'])(
    '%p is none',
    (value) => {
      expect(usdCost(value)).toBeUndefined();
    },
  );

  it('keeps how it was written', () => {
    expect(usdCost('0.00517000')).toEqual({ micros: 5170, text: '0.00517000' });
    expect(usdCost(1.6e-7)).toEqual({ micros: 0, text: '1.6e-7' });
    expect(microsCost(7135n.toString())).toEqual({ micros: 7135, text: '0.007135' });
    expect(microsCost(12_345_678)).toEqual({ micros: 12_345_678, text: '12.345678' });
  });

  it('is rounded half up, exactly, whatever the number of digits', () => {
    const decimals = fc.tuple(fc.bigInt(1n, 10n ** 18n), fc.integer({ min: 0, max: 30 }));
    fc.assert(
      fc.property(decimals, ([digits, places]) => {
        const text = digits.toString().padStart(places + 1, '0');
        const decimal = places === 0 ? text : `${text.slice(0, -places)}.${text.slice(-places)}`;
        // Of the amount in millionths of a micro, so that only whole numbers are compared.
        const scaled = (digits * 10n ** 12n * 10n ** 30n) / 10n ** BigInt(places);
        const expected = (scaled + 10n ** 36n / 2n) / 10n ** 36n;
        const micros = usdCost(decimal)?.micros;
        expect(micros).toBe(expected > BigInt(MAX_MICROS) ? undefined : Number(expected));
      }),
    );
  });

  it.each([0, -5, 1.5, NaN, 'x', 2 ** 53])('in micros is none for %p', (value) => {
    expect(microsCost(value)).toBeUndefined();
  });
});
