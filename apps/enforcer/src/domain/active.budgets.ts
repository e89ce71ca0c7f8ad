import {
  type BudgetedCall,
  type BudgetSelector,
  exactValueOf,
  isSelected,
  type Labels,
  valueOfEach,
} from '@tollkeeper/contracts';
import type { BudgetPeriod } from '@tollkeeper/kernel';
import { digestOf } from './journal.ts';
import type { BudgetLimit, LimitOfBudget } from './limit.ts';
import type { Metering } from './metering.ts';
import { NO_PAUSES, type Pauses } from './pause.ts';
import { NO_RAISES, type Raises } from './raise.ts';

/** A budget that owners made, with a selector and a period. */
export interface ActiveBudget extends Omit<LimitOfBudget, 'value'> {
  id: string;
  selector: BudgetSelector;
  limitMicros: number;
  /** The id of a budget with `each`, which does not apply to the value that this selector names. */
  overrides: string | null;
}

/** A budget with the raises of the workspace. */
export type RaisableBudget = ActiveBudget & { raises: Raises };

/** The active budgets of a workspace. */
export interface ActiveBudgets {
  /** When they were asked for, by the monotonic clock of the ledgers. */
  readonly askedAt: number;
  /** The limits of which the call is a part at that time, in the order of the budgets; only of `meters` if given. */
  limitsFor(call: BudgetedCall, at: number, meters?: ReadonlySet<string>): readonly BudgetLimit[];
  /** The limit of a meter for a value; undefined if no budget has the meter. */
  limitOf(meter: string, value: string): BudgetLimit | undefined;
  readonly all: readonly RaisableBudget[];
  /** Whether the meter belongs to one of the budgets, or to one that this version cannot apply. */
  knows(meter: string): boolean;
  /** Whether meters of other budgets may be forgotten. Not if budgets was too old to answer. */
  readonly isCertain: boolean;
  readonly pauses: Pauses;
  readonly raises: Raises;
}

/** What is known of budgets besides those that this version can apply. */
interface Completeness {
  /** The meters of budgets of a newer version. */
  unknown?: readonly string[];
  isCertain?: boolean;
  pauses?: Pauses;
  raises?: Raises;
}

const NO_LIMITS: readonly BudgetLimit[] = [];

export function createActiveBudgets(
  found: readonly ActiveBudget[],
  askedAt: number,
  { unknown = [], isCertain = true, pauses = NO_PAUSES, raises = NO_RAISES }: Completeness = {},
): ActiveBudgets {
  /** The values that other budgets take over, by the id of the budget that would have them. */
  const taken = new Map<string, ActiveBudget[]>();
  for (const budget of found) {
    if (budget.overrides !== null) taken.set(budget.overrides, [...(taken.get(budget.overrides) ?? []), budget]);
  }
  const all = found.map((budget) => ({ ...budget, raises, meter: meterOf(budget, taken.get(budget.id)) }));
  const byMeter = new Map(all.map((budget) => [budget.meter, budget]));

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
    ...{ all, askedAt, isCertain, pauses, raises },
    knows: (meter) => byMeter.has(meter) || unknown.includes(meter),
    limitsFor(call, at, meters) {
      let limits: BudgetLimit[] | undefined;
      for (const budget of all) {
        if (meters?.has(budget.meter) === false) continue;
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

/** Spend is counted anew when other budgets take over other values. */
function meterOf({ meter, each }: ActiveBudget, takenBy: readonly ActiveBudget[] | undefined): string {
  if (takenBy === undefined || each === null) return meter;
  const once = ({ period }: ActiveBudget) => (period.kind === 'once' ? [period.start, period.end] : []);
  const takers = takenBy.map((taker) => JSON.stringify([taker.selector, ...once(taker)])).sort();
  return `${meter}.${digestOf(...takers).slice(0, 8)}`;
}

/** Whether the ledger has begun the meters of all these budgets, and none of others. */
export function isAgreed({ meters }: Metering, { all, knows }: ActiveBudgets): boolean {
  for (const meter of meters.keys()) if (!knows(meter)) return false;
  return all.every(({ meter }) => meters.has(meter));
}

/** What is known of a call. Of calls of older releases, all that may be absent is. */
export interface CallFacts {
  agentId: string;
  planKey: string | null;
  model?: string | null;
  provider?: string | null;
  keyId?: string | null;
  labels?: Labels;
}

/** What budgets see of a call. */
export function budgetedCall(call: CallFacts): BudgetedCall {
  const { agentId: agent, planKey: plan, model = null, provider = null, keyId: key = null, labels = {} } = call;
  return { agent, plan, model, provider, key, labels };
}

/** Whether the budget has a limit at the time: one that is for once has none before and after. */
function isRunning(period: BudgetPeriod, at: number): boolean {
  return !('end' in period) || (period.start <= at && at < period.end);
}

/** The limit of the budget for a value. */
export function limitFor(budget: RaisableBudget, value: string): BudgetLimit {
  const { id, name, meter, period, each, limitMicros, grantableMicros, denies, tellAt } = budget;
  const ofBudget = { name, meter, period, each, value, grantableMicros, denies, tellAt };
  const raises = budget.raises.of(id, value);
  return { scope: 'budget', scopeId: id, limitMicros, budget: ofBudget, ...(raises !== undefined && { raises }) };
}
