export const DIVISIONS = ['agent', 'model', 'plan'] as const;

/** The dimension that spend is divided by; the total without one. */
export interface SpendSearch {
  by?: (typeof DIVISIONS)[number];
}

export function parseSpendSearch({ by }: Record<string, unknown>): SpendSearch {
  const found = DIVISIONS.find((division) => division === by);
  return found === undefined ? {} : { by: found };
}
