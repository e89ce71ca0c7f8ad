import type { BudgetEach, BudgetScope } from '@tollkeeper/contracts';
import type { BudgetPeriod, TimeSpan } from '@tollkeeper/kernel';
import type { Pause } from './pause.ts';
import type { Raise, Raised } from './raise.ts';

/** A daily budget that is set. */
export interface DailyLimit {
  scope: BudgetScope;
  /** The workspace's id, an `agent_id` or a `plan_key`. */
  scopeId: string;
  limitMicros: number;
  budget?: undefined;
  raises?: readonly Raise[] | undefined;
}

/** A budget with a selector, or the part of it for one value of its `each`. */
export interface BudgetLimit {
  scope: 'budget';
  /** The id of the budget. */
  scopeId: string;
  limitMicros: number;
  budget: LimitOfBudget;
  raises?: readonly Raise[] | undefined;
}

export type Limit = DailyLimit | BudgetLimit;

/** What a budget with a selector says of its limits. */
export interface LimitOfBudget {
  name: string;
  /** Counts its spend. Another one begins when all spend has to be counted anew. */
  meter: string;
  period: BudgetPeriod;
  each: BudgetEach | null;
  /** The value of `each` that the limit is for; `''` without one. */
  value: string;
  /** The largest sum that it lets pass: the limit and its grace. */
  grantableMicros: number;
  /** Whether it denies calls beyond that. If not, it only tells. */
  denies: boolean;
  /** The percentages of the limit that are reported when spend reaches them, ascending. */
  tellAt: readonly number[];
}

export const COUNT_STATES = ['exact', 'filling'] as const;
export type CountState = (typeof COUNT_STATES)[number];

/** A limit in its running period. Amounts are USD micros. */
export type LimitRow = Limit & {
  period: TimeSpan;
  /** Settled spend of that period. */
  spentMicros: number;
  /** Held by open reservations. */
  heldMicros: number;
  /** Never below 0. */
  remainingMicros: number;
  /** End of the period, or when the oldest spend leaves a rolling one. Epoch milliseconds. */
  resetsAt: number;
  /** `filling` while spend of the period from before the budget was made is not counted yet. */
  state: CountState;
  /** What raises add to `limitMicros`; undefined without any. */
  raised?: Raised | undefined;
};

/** Why a call may not spend. */
export type Denial = LimitRow & {
  requestedMicros: number;
  /** Names the limit or the pause, and says how the call could pass. */
  message: string;
  /** Set if the call is paused; the limit is then 0. */
  pause?: Pause;
};

/** How spend can exceed holds: the terms of the bound (README.md). */
export const OVERSPEND_CAUSES = ['above_hold', 'late', 'unreserved'] as const;
export type OverspendCause = (typeof OVERSPEND_CAUSES)[number];
