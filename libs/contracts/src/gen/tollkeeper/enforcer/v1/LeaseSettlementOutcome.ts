// Original file: tollkeeper/enforcer/v1/enforcer.proto

/**
 * How a settlement is counted. A repeated one has the same outcome.
 */
export const LeaseSettlementOutcome = {
  /**
   * Never sent.
   */
  LEASE_SETTLEMENT_OUTCOME_UNSPECIFIED: 'LEASE_SETTLEMENT_OUTCOME_UNSPECIFIED',
  /**
   * From the lease.
   */
  LEASE_SETTLEMENT_OUTCOME_SETTLED: 'LEASE_SETTLEMENT_OUTCOME_SETTLED',
  /**
   * After the lease had ended.
   */
  LEASE_SETTLEMENT_OUTCOME_LATE: 'LEASE_SETTLEMENT_OUTCOME_LATE',
  /**
   * Not from the lease, but as unreserved spend: an event has reported it before, without the lease.
   */
  LEASE_SETTLEMENT_OUTCOME_UNRESERVED: 'LEASE_SETTLEMENT_OUTCOME_UNRESERVED',
  /**
   * Its id is the one of a settlement of a reservation or of another lease, so nothing was counted.
   */
  LEASE_SETTLEMENT_OUTCOME_CONFLICT: 'LEASE_SETTLEMENT_OUTCOME_CONFLICT',
} as const;

/**
 * How a settlement is counted. A repeated one has the same outcome.
 */
export type LeaseSettlementOutcome =
  /**
   * Never sent.
   */
  | 'LEASE_SETTLEMENT_OUTCOME_UNSPECIFIED'
  | 0
  /**
   * From the lease.
   */
  | 'LEASE_SETTLEMENT_OUTCOME_SETTLED'
  | 1
  /**
   * After the lease had ended.
   */
  | 'LEASE_SETTLEMENT_OUTCOME_LATE'
  | 2
  /**
   * Not from the lease, but as unreserved spend: an event has reported it before, without the lease.
   */
  | 'LEASE_SETTLEMENT_OUTCOME_UNRESERVED'
  | 3
  /**
   * Its id is the one of a settlement of a reservation or of another lease, so nothing was counted.
   */
  | 'LEASE_SETTLEMENT_OUTCOME_CONFLICT'
  | 4

/**
 * How a settlement is counted. A repeated one has the same outcome.
 */
export type LeaseSettlementOutcome__Output = typeof LeaseSettlementOutcome[keyof typeof LeaseSettlementOutcome]
