// Original file: tollkeeper/budgets/v1/budgets.proto

import type { Long } from '@grpc/proto-loader';

/**
 * Until `until`, a limit is `extra_micros` larger. Several raises of a limit add up. The grace stays that of the limit
 * without them.
 */
export interface Raise {
  /**
   * Also that of a daily budget, such as `bud_agent.planner`.
   */
  'budgetId'?: (string);
  /**
   * The value of `each` whose limit it is; not set for a budget without.
   */
  'value'?: (string);
  /**
   * In USD micros, 1 to 9007199254740991.
   */
  'extraMicros'?: (number | string | Long);
  /**
   * Epoch milliseconds.
   */
  'until'?: (number | string | Long);
  '_value'?: "value";
}

/**
 * Until `until`, a limit is `extra_micros` larger. Several raises of a limit add up. The grace stays that of the limit
 * without them.
 */
export interface Raise__Output {
  /**
   * Also that of a daily budget, such as `bud_agent.planner`.
   */
  'budgetId': (string);
  /**
   * The value of `each` whose limit it is; not set for a budget without.
   */
  'value'?: (string);
  /**
   * In USD micros, 1 to 9007199254740991.
   */
  'extraMicros': (number);
  /**
   * Epoch milliseconds.
   */
  'until': (number);
  '_value'?: "value";
}
