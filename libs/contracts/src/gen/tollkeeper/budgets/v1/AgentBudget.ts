// Original file: tollkeeper/budgets/v1/budgets.proto

import type { Long } from '@grpc/proto-loader';

export interface AgentBudget {
  'agentId'?: (string);
  /**
   * In USD micros, 0 to 9007199254740991.
   */
  'dailyBudgetUsdMicros'?: (number | string | Long);
}

export interface AgentBudget__Output {
  'agentId': (string);
  /**
   * In USD micros, 0 to 9007199254740991.
   */
  'dailyBudgetUsdMicros': (number);
}
