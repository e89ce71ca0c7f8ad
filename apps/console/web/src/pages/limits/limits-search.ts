export const RESERVATION_STATES = ['held', 'settled', 'released', 'expired'] as const;

/** The state of the shown reservations; open ones by default. */
export interface LimitsSearch {
  state?: (typeof RESERVATION_STATES)[number];
}

export function parseLimitsSearch(search: Record<string, unknown>): LimitsSearch {
  const state = RESERVATION_STATES.find((each) => each === search['state']);
  return state === undefined ? {} : { state };
}
