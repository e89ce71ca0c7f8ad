export const PRICE_SOURCES = ['override', 'table'] as const;
type PriceSource = (typeof PRICE_SOURCES)[number];

/** Which prices the page shows; those of the workspace by default. */
export interface PricesSearch {
  source?: PriceSource;
  find?: string;
}

export function parsePricesSearch({ source, find }: Record<string, unknown>): PricesSearch {
  const known = PRICE_SOURCES.find((each) => each === source);
  return {
    ...(known !== undefined && { source: known }),
    ...(typeof find === 'string' && find !== '' && { find: find.slice(0, 128) }),
  };
}
