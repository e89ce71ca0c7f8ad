import type { BudgetScope } from '@tollkeeper/contracts';

/** A daily budget that is set. `scopeId` is the workspace's id, an `agent_id` or a `plan_key`. */
export interface Limit {
  scope: BudgetScope;
  scopeId: string;
  dailyBudgetMicros: number;
}

/** A limit on the running day. Amounts are USD micros. */
export interface LimitRow extends Limit {
  /** Settled spend of that day. */
  spentMicros: number;
  /** Held by open reservations. */
  heldMicros: number;
  /** Never below 0. */
  remainingMicros: number;
  /** End of the day, epoch milliseconds. */
  resetsAt: number;
}

/** Why a call may not spend. */
export interface Denial extends Omit<LimitRow, 'remainingMicros'> {
  requestedMicros: number;
  /** Names the limit and says how the call could pass. */
  message: string;
}

/** How spend can exceed holds: the terms of the bound (README.md). */
export const OVERSPEND_CAUSES = ['above_hold', 'late', 'unreserved'] as const;
export type OverspendCause = (typeof OVERSPEND_CAUSES)[number];
