// Original file: tollkeeper/budgets/v1/budgets.proto

import type { BudgetSelector as _tollkeeper_budgets_v1_BudgetSelector, BudgetSelector__Output as _tollkeeper_budgets_v1_BudgetSelector__Output } from '../../../tollkeeper/budgets/v1/BudgetSelector.ts';
import type { BudgetPeriod as _tollkeeper_budgets_v1_BudgetPeriod, BudgetPeriod__Output as _tollkeeper_budgets_v1_BudgetPeriod__Output } from '../../../tollkeeper/budgets/v1/BudgetPeriod.ts';
import type { Long } from '@grpc/proto-loader';

/**
 * A limit for the calls that it selects, for each value of `each` if that is set, and for each of its periods.
 */
export interface Budget {
  /**
   * `bud_…`
   */
  'id'?: (string);
  /**
   * Increases when the selector, `each` or the period changes in a way that spend has to be counted anew. Spend is
   * counted by `id` and this.
   */
  'generation'?: (number);
  'name'?: (string);
  'selector'?: (_tollkeeper_budgets_v1_BudgetSelector | null);
  /**
   * `agent`, `plan`, `model`, `provider`, `key`, or `label:` and the name of a label.
   */
  'each'?: (string);
  'period'?: (_tollkeeper_budgets_v1_BudgetPeriod | null);
  /**
   * In USD micros, 0 to 9007199254740991.
   */
  'limitMicros'?: (number | string | Long);
  /**
   * Whether calls beyond the limit and its grace are denied. If not, people are only notified.
   */
  'denies'?: (boolean);
  /**
   * Percent of the limit that may be spent beyond it, 0 to 100.
   */
  'gracePercent'?: (number);
  /**
   * Percentages of the limit that are reported when spend reaches them, ascending.
   */
  'tellAt'?: (number)[];
  /**
   * The id of a budget with `each`, whose limit does not apply to the value that this selector names.
   */
  'overrides'?: (string);
  '_each'?: "each";
  '_overrides'?: "overrides";
}

/**
 * A limit for the calls that it selects, for each value of `each` if that is set, and for each of its periods.
 */
export interface Budget__Output {
  /**
   * `bud_…`
   */
  'id': (string);
  /**
   * Increases when the selector, `each` or the period changes in a way that spend has to be counted anew. Spend is
   * counted by `id` and this.
   */
  'generation': (number);
  'name': (string);
  'selector': (_tollkeeper_budgets_v1_BudgetSelector__Output | null);
  /**
   * `agent`, `plan`, `model`, `provider`, `key`, or `label:` and the name of a label.
   */
  'each'?: (string);
  'period': (_tollkeeper_budgets_v1_BudgetPeriod__Output | null);
  /**
   * In USD micros, 0 to 9007199254740991.
   */
  'limitMicros': (number);
  /**
   * Whether calls beyond the limit and its grace are denied. If not, people are only notified.
   */
  'denies': (boolean);
  /**
   * Percent of the limit that may be spent beyond it, 0 to 100.
   */
  'gracePercent': (number);
  /**
   * Percentages of the limit that are reported when spend reaches them, ascending.
   */
  'tellAt': (number)[];
  /**
   * The id of a budget with `each`, whose limit does not apply to the value that this selector names.
   */
  'overrides'?: (string);
  '_each'?: "each";
  '_overrides'?: "overrides";
}
