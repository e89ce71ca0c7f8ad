// Original file: tollkeeper/enforcer/v1/enforcer.proto

import type { LeaseSettlementOutcome as _tollkeeper_enforcer_v1_LeaseSettlementOutcome, LeaseSettlementOutcome__Output as _tollkeeper_enforcer_v1_LeaseSettlementOutcome__Output } from '../../../tollkeeper/enforcer/v1/LeaseSettlementOutcome.ts';
import type { Long } from '@grpc/proto-loader';

export interface LeaseSettlementResult {
  'settlementId'?: (string);
  'outcome'?: (_tollkeeper_enforcer_v1_LeaseSettlementOutcome);
  /**
   * What is counted under its id: the first amount stays.
   */
  'amountMicros'?: (number | string | Long);
}

export interface LeaseSettlementResult__Output {
  'settlementId': (string);
  'outcome': (_tollkeeper_enforcer_v1_LeaseSettlementOutcome__Output);
  /**
   * What is counted under its id: the first amount stays.
   */
  'amountMicros': (number);
}
