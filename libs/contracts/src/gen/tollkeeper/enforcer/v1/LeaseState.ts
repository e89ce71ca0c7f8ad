// Original file: tollkeeper/enforcer/v1/enforcer.proto

/**
 * What became of a lease.
 */
export const LeaseState = {
  /**
   * Never sent.
   */
  LEASE_STATE_UNSPECIFIED: 'LEASE_STATE_UNSPECIFIED',
  LEASE_STATE_OPEN: 'LEASE_STATE_OPEN',
  LEASE_STATE_RETURNED: 'LEASE_STATE_RETURNED',
  LEASE_STATE_EXPIRED: 'LEASE_STATE_EXPIRED',
} as const;

/**
 * What became of a lease.
 */
export type LeaseState =
  /**
   * Never sent.
   */
  | 'LEASE_STATE_UNSPECIFIED'
  | 0
  | 'LEASE_STATE_OPEN'
  | 1
  | 'LEASE_STATE_RETURNED'
  | 2
  | 'LEASE_STATE_EXPIRED'
  | 3

/**
 * What became of a lease.
 */
export type LeaseState__Output = typeof LeaseState[keyof typeof LeaseState]
