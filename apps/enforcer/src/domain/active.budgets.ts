import { type BudgetedCall, type BudgetSelector, exactValueOf, isSelected, valueOfEach } from '@tollkeeper/contracts';
import type { BudgetPeriod } from '@tollkeeper/kernel';
import type { BudgetLimit, LimitOfBudget } from './limit.ts';

/** A budget that owners made, with a selector and a period. */
export interface ActiveBudget extends Omit<LimitOfBudget, 'value'> {
  id: string;
  selector: BudgetSelector;
  limitMicros: number;
  /** The id of a budget with `each`, which does not apply to the value that this selector names. */
  overrides: string | null;
}

/** The active budgets of a workspace. */
export interface ActiveBudgets {
  /** The limits of which the call is a part at that time, in the order of the budgets. */
  limitsFor(call: BudgetedCall, at: number): readonly BudgetLimit[];
  /** The limit of a meter for a value; undefined if no budget has the meter. */
  limitOf(meter: string, value: string): BudgetLimit | undefined;
  readonly all: readonly ActiveBudget[];
}

const NO_LIMITS: readonly BudgetLimit[] = [];

export function createActiveBudgets(all: readonly ActiveBudget[]): ActiveBudgets {
  const byMeter = new Map(all.map((budget) => [budget.meter, budget]));
  /** The values that other budgets take over, by the id of the budget that would have them. */
  const taken = new Map<string, ActiveBudget[]>();
  for (const budget of all) {
    if (budget.overrides !== null) taken.set(budget.overrides, [...(taken.get(budget.overrides) ?? []), budget]);
  }

  /** Whether another budget has the limit of the value instead. */
  function isOverridden({ id, each }: ActiveBudget, value: string, call: BudgetedCall, at: number): boolean {
    const others = taken.get(id);
    if (others === undefined || each === null) return false;
    return others.some(
      ({ selector, period }) =>
        isRunning(period, at) && exactValueOf(selector, each) === value && isSelected(selector, call),
    );
  }

  return {
    all,
    limitsFor(call, at) {
      let limits: BudgetLimit[] | undefined;
      for (const budget of all) {
        if (!isSelected(budget.selector, call)) continue;
        const value = budget.each === null ? '' : valueOfEach(budget.each, call);
        if (value === null || isOverridden(budget, value, call, at)) continue;
        (limits ??= []).push(limitFor(budget, value));
      }
      return limits ?? NO_LIMITS;
    },
    limitOf(meter, value) {
      const budget = byMeter.get(meter);
      return budget && limitFor(budget, value);
    },
  };
}

/** Whether the budget has a limit at the time: one that is for once has none before and after. */
function isRunning(period: BudgetPeriod, at: number): boolean {
  return !('end' in period) || (period.start <= at && at < period.end);
}

/** The limit of the budget for a value. */
export function limitFor(budget: ActiveBudget, value: string): BudgetLimit {
  const { id, name, meter, period, each, limitMicros, grantableMicros, denies, tellAt } = budget;
  const ofBudget = { name, meter, period, each, value, grantableMicros, denies, tellAt };
  return { scope: 'budget', scopeId: id, limitMicros, budget: ofBudget };
}
