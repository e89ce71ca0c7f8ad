import { isDeepStrictEqual } from 'node:util';
import {
  type AuditedFields,
  type BudgetAction,
  type BudgetEach,
  type BudgetSelector,
  type Cause,
  TOLD_AT,
  toBudgetPeriodBody,
} from '@tollkeeper/contracts';
import type { BudgetPeriod, TenantId } from '@tollkeeper/kernel';

/** The part of a budget that people edit. */
export interface BudgetDraft {
  name: string;
  description: string;
  /** The calls that count. */
  selector: BudgetSelector;
  /** Each value of it has the limit for itself. Null: all calls share one limit. */
  each: BudgetEach | null;
  /** Id of a budget with `each`, whose limit does not apply to the value that `selector` names. */
  overrides: string | null;
  period: BudgetPeriod;
  limitMicros: number;
  action: BudgetAction;
  /** Percent of the limit that may be spent beyond it. */
  gracePercent: number;
  /** Percentages of the limit that are reported when spend reaches them, ascending; null for the default. */
  tellAt: readonly number[] | null;
  isActive: boolean;
}

/** A limit for the calls that it selects, in each of its periods. */
export interface Budget extends BudgetDraft {
  id: string;
  /** Increases with every change after which spend is counted anew: see {@link isCountedAnew}. */
  generation: number;
  createdAt: Date;
  updatedAt: Date;
}

/** The fields of a budget that the audit log records. */
export const AUDITED_BUDGET: AuditedFields<BudgetDraft> = {
  name: (budget) => budget.name,
  description: (budget) => budget.description,
  selector: ({ selector: { labels = {}, ...dimensions } }) => [
    ...pairsOf(dimensions),
    ...pairsOf(labels).map((pair) => `label:${pair}`),
  ],
  each: (budget) => budget.each,
  overrides: (budget) => budget.overrides,
  period: (budget) => pairsOf(toBudgetPeriodBody(budget.period)),
  limit_micros: (budget) => budget.limitMicros,
  action: (budget) => budget.action,
  grace_percent: (budget) => budget.gracePercent,
  tell_at: (budget) => budget.tellAt,
  is_active: (budget) => budget.isActive,
};

function pairsOf(fields: object): string[] {
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${String(value)}`);
  return pairs.sort();
}

/**
 * Whether spend is counted anew after the change. Another start of a fiscal calendar does not change the count, because
 * it applies from the next period on. A budget that is switched on is counted anew, even if the enforcer did not notice
 * that it was off: this is how owners add spend that came too late for its period.
 */
export function isCountedAnew(before: BudgetDraft, after: BudgetDraft): boolean {
  const anyStart = { startMonth: 1, startDay: 1 };
  const counted = ({ selector, each, period }: BudgetDraft) => [selector, each, { ...period, ...anyStart }];
  const isResumed = !before.isActive && after.isActive;
  return isResumed || !isDeepStrictEqual(counted(before), counted(after));
}

/** The percentages of the limit that are reported. By default also that at which the grace ends. */
export function toldAt({ tellAt, gracePercent }: BudgetDraft): readonly number[] {
  return tellAt ?? [...TOLD_AT, ...(gracePercent > 0 ? [100 + gracePercent] : [])];
}

/** Maximum number of budgets in a workspace, without the daily budgets. */
export const MAX_BUDGETS = 200;

/**
 * Stores budgets that have a selector and a period. No method finds a budget of another workspace. Changes are written
 * to the history and the audit trail in the same transaction.
 */
export interface BudgetStore {
  /** By id. */
  list(tenantId: TenantId): Promise<Budget[]>;
  find(tenantId: TenantId, id: string): Promise<Budget | null>;
  /**
   * Stores the budget that `decide` makes from the current one and the others, or deletes it if that is null. If
   * `decide` throws, nothing is stored and the error is passed on. Changes of a workspace's budgets are serialized, so
   * `decide` may run again on newer budgets and must have no side effects.
   */
  change<After extends Budget | null>(
    tenantId: TenantId,
    id: string,
    decide: (current: Budget | null, others: readonly Budget[]) => After,
    cause: Cause,
  ): Promise<{ before: Budget | null; after: After }>;
}
