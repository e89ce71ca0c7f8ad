import type { Origin } from './budget-reads.ts';

export const ORIGINS = Object.keys({ none: 0, workspace: 0, plan: 0, agent: 0 } satisfies Record<
  Origin,
  0
>) as Origin[];
export const SORTS = ['risk', 'name', 'limit'] as const;
export type Sort = (typeof SORTS)[number];

/** What the worksheet shows, and the budget that a link leads to. */
export interface BudgetsSearch {
  find?: string;
  origin?: Origin;
  /** By risk, if it is not given. */
  sort?: Sort;
  /** Id of a budget. */
  budget?: string;
}

export function parseBudgetsSearch({ find, origin, sort, budget }: Record<string, unknown>): BudgetsSearch {
  const knownOrigin = ORIGINS.find((each) => each === origin);
  const knownSort = SORTS.find((each) => each === sort);
  return {
    ...(typeof find === 'string' && { find }),
    ...(knownOrigin !== undefined && { origin: knownOrigin }),
    ...(knownSort !== undefined && { sort: knownSort }),
    ...(typeof budget === 'string' && budget.startsWith('bud_') && { budget }),
  };
}
