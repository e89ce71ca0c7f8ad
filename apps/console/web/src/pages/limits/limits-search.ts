export const RESERVATION_STATES = ['held', 'settled', 'released', 'expired'] as const;

/** Which reservations are shown; those that are held without it. */
export interface LimitsSearch {
  state?: (typeof RESERVATION_STATES)[number];
}

export function parseLimitsSearch(search: Record<string, unknown>): LimitsSearch {
  const state = RESERVATION_STATES.find((each) => each === search['state']);
  return state === undefined ? {} : { state };
}
