export const DIVISIONS = ['agent', 'model', 'plan'] as const;

/** What spend is divided by; a whole without it. */
export interface SpendSearch {
  by?: (typeof DIVISIONS)[number];
}

export function parseSpendSearch({ by }: Record<string, unknown>): SpendSearch {
  const found = DIVISIONS.find((division) => division === by);
  return found === undefined ? {} : { by: found };
}
