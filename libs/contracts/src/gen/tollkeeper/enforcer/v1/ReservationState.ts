// Original file: tollkeeper/enforcer/v1/enforcer.proto

/**
 * What became of a reservation. One that is not held can only become settled, and only if it has expired.
 */
export const ReservationState = {
  /**
   * Never sent.
   */
  RESERVATION_STATE_UNSPECIFIED: 'RESERVATION_STATE_UNSPECIFIED',
  RESERVATION_STATE_HELD: 'RESERVATION_STATE_HELD',
  RESERVATION_STATE_SETTLED: 'RESERVATION_STATE_SETTLED',
  RESERVATION_STATE_RELEASED: 'RESERVATION_STATE_RELEASED',
  RESERVATION_STATE_EXPIRED: 'RESERVATION_STATE_EXPIRED',
} as const;

/**
 * What became of a reservation. One that is not held can only become settled, and only if it has expired.
 */
export type ReservationState =
  /**
   * Never sent.
   */
  | 'RESERVATION_STATE_UNSPECIFIED'
  | 0
  | 'RESERVATION_STATE_HELD'
  | 1
  | 'RESERVATION_STATE_SETTLED'
  | 2
  | 'RESERVATION_STATE_RELEASED'
  | 3
  | 'RESERVATION_STATE_EXPIRED'
  | 4

/**
 * What became of a reservation. One that is not held can only become settled, and only if it has expired.
 */
export type ReservationState__Output = typeof ReservationState[keyof typeof ReservationState]
