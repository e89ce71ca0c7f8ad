import { isDivision, type Division } from '../../charts/division.ts';

/** The dimension that spend is divided by; the total without one. */
export interface SpendSearch {
  by?: Division;
}

export function parseSpendSearch({ by }: Record<string, unknown>): SpendSearch {
  return isDivision(by) ? { by } : {};
}
