import type { Api } from '@tollkeeper/client';

type Limit = Pick<Api.Limit, 'limit_micros' | 'raised_micros'>;
type Spent = Limit & Pick<Api.Limit, 'spent_micros' | 'pace_end_micros'>;

/** The limit with what raises add to it now. */
export function raisedLimit({ limit_micros: limit, raised_micros: raised = 0 }: Limit): number {
  return limit + raised;
}

/** The spent part of the limit. A limit of 0 is used up. */
export function usedOf({ spent_micros: spent, ...rest }: Omit<Spent, 'pace_end_micros'>): number {
  const limit = raisedLimit(rest);
  return limit === 0 ? 1 : spent / limit;
}

/** The part of the limit that will be spent at this pace, or that is spent if the pace is unknown. */
export function riskOf({ pace_end_micros: pace, ...spent }: Spent): number {
  return usedOf({ ...spent, spent_micros: pace ?? spent.spent_micros });
}
