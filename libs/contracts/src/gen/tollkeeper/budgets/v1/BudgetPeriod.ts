// Original file: tollkeeper/budgets/v1/budgets.proto

import type { Long } from '@grpc/proto-loader';

/**
 * In the calendar of the workspace, unless it is `once` or `rolling`.
 */
export interface BudgetPeriod {
  /**
   * `hour`, `day`, `week`, `month`, `quarter`, `year`, `once` or `rolling`.
   */
  'kind'?: (string);
  /**
   * 1 to 12, for quarters and years.
   */
  'startMonth'?: (number);
  /**
   * 1 to 28, for months, quarters and years.
   */
  'startDay'?: (number);
  /**
   * Epoch milliseconds, for `once`. The end is exclusive.
   */
  'start'?: (number | string | Long);
  'end'?: (number | string | Long);
  /**
   * Length of a `rolling` period; a multiple of 60.
   */
  'seconds'?: (number);
}

/**
 * In the calendar of the workspace, unless it is `once` or `rolling`.
 */
export interface BudgetPeriod__Output {
  /**
   * `hour`, `day`, `week`, `month`, `quarter`, `year`, `once` or `rolling`.
   */
  'kind': (string);
  /**
   * 1 to 12, for quarters and years.
   */
  'startMonth': (number);
  /**
   * 1 to 28, for months, quarters and years.
   */
  'startDay': (number);
  /**
   * Epoch milliseconds, for `once`. The end is exclusive.
   */
  'start': (number);
  'end': (number);
  /**
   * Length of a `rolling` period; a multiple of 60.
   */
  'seconds': (number);
}
