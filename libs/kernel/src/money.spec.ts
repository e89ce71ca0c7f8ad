import { describe, expect, it } from '@jest/globals';
import { roundTo2 } from './money.ts';

describe('roundTo2', () => {
  it('rounds to 2 decimals', () => {
    expect([0, 1 / 3, 2 / 3, 12.5, 99.995].map(roundTo2)).toEqual([0, 0.33, 0.67, 12.5, 100]);
  });
});
