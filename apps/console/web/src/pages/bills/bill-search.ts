export const BILL_PARTS = ['cell', 'model', 'day'] as const;
export type BillPart = (typeof BILL_PARTS)[number];

/** By what the page of a bill shows differences: each model on each day, unless the URL names another part. */
export interface BillSearch {
  by?: BillPart;
}

export function parseBillSearch({ by }: Record<string, unknown>): BillSearch {
  const known = BILL_PARTS.find((part) => part === by);
  return known === undefined ? {} : { by: known };
}
