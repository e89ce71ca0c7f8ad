import type { Api } from '@tollkeeper/client';

type Spent = Pick<Api.Limit, 'spent_micros' | 'limit_micros' | 'pace_end_micros'>;

/** The spent part of the limit. A limit of 0 is used up. */
export function usedOf({ spent_micros: spent, limit_micros: limit }: Omit<Spent, 'pace_end_micros'>): number {
  return limit === 0 ? 1 : spent / limit;
}

/** The part of the limit that will be spent at this pace, or that is spent if the pace is unknown. */
export function riskOf({ pace_end_micros: pace, ...spent }: Spent): number {
  return usedOf({ ...spent, spent_micros: pace ?? spent.spent_micros });
}
