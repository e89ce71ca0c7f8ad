import { type LabelSearch, parseLabel } from '../../app/label-search.ts';
import { isDivision, type Division } from '../../charts/division.ts';

/** The label that spend is filtered by, or else the dimension that it is divided by; the total without one. */
export type SpendSearch = LabelSearch & { by?: Division };

export function parseSpendSearch(search: Record<string, unknown>): SpendSearch {
  const label = parseLabel(search);
  // The API divides only the spend of the whole workspace.
  if (Object.keys(label).length > 0) return label;
  return isDivision(search['by']) ? { by: search['by'] } : {};
}
