import {
  BUDGET_DIMENSIONS,
  type BudgetedCall,
  type BudgetEach,
  type BudgetSelector,
  exactValueOf,
  isSelected,
} from '@tollkeeper/contracts';
import { localDays, startSlices, type TenantId, type TimeSpan } from '@tollkeeper/kernel';
import { DIMENSIONS, type Breakdown, type Grouping } from './breakdown.ts';
import { OTHER } from './names.ts';

/** The days of a median, which are whole and local. */
export const MEDIAN_DAYS = 14;
/** Most values in the median of a budget with a limit for each. */
export const MAX_MEDIAN_VALUES = 100;

/** A budget whose selected spend has a median. */
export interface SelectingBudget {
  id: string;
  selector: BudgetSelector;
  each: BudgetEach | null;
  /** The id of a budget with `each` whose limit does not apply to the value that this selector names. */
  overrides: string | null;
}

/** Reads the budgets of a workspace that limit calls. Rejects while they are not known. */
export interface BudgetList {
  /** The daily ones, and the active ones that have a selector. */
  of(tenantId: TenantId): Promise<SelectingBudget[]>;
}

/** Why the spend that a budget selects is not known by the day. */
export const UNKNOWN_MEDIANS = ['not_counted', 'label_not_tracked', 'too_many_values'] as const;
type UnknownMedian = (typeof UNKNOWN_MEDIANS)[number];

/** What a budget would have counted on the median day, in USD micros. */
export type BudgetMedian = { id: string } & (
  | { micros: number }
  /** For a budget with `each`: those that spent most, largest first. `more`: there are further ones. */
  | { values: { value: string; micros: number }[]; more: boolean }
  | { unknown: UnknownMedian }
);

/** Reads what a workspace spent on each day of a median. */
interface DailySpend {
  ofWorkspace(): Promise<readonly number[]>;
  /** All groups that are kept apart. */
  by(grouping: Grouping): Promise<Breakdown>;
}

/**
 * Does `work` in a turn of its own among the reads of all workspaces, maybe twice. `division` names what it reads: the
 * whole, or what its spend is divided by.
 */
export type InTurn = <T>(division: string, work: (spend: DailySpend) => Promise<T>) => Promise<T>;

/** The last whole local days before the instant, oldest first. */
export function daysBefore(at: number, timezone: string): TimeSpan[] {
  const today = localDays({ start: at, end: at + 1 }, timezone)[0]!;
  // Days last up to 25 hours, and a zone that jumps the date line skips one.
  const start = today.start - (MEDIAN_DAYS + 2) * 86_400_000;
  return localDays({ start, end: today.start }, timezone).slice(-MEDIAN_DAYS);
}

/** Half of the values are at most as large; 0 for none. Between two, it is their mean, rounded. */
export function medianOf(values: Iterable<number>): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? upper;
  return Math.round(lower + (upper - lower) / 2);
}

/**
 * The medians of budgets, in their order. Roll-ups count agents, models, plans and tracked labels, but not what two of
 * them have in common. So the median of a budget is known if its selector and `each` name at most one of these.
 */
export async function findMedians(
  budgets: readonly SelectingBudget[],
  tracked: readonly string[],
  inTurn: InTurn,
): Promise<BudgetMedian[]> {
  const found = new Map<SelectingBudget, BudgetMedian>();
  const counted = new Map<string, { grouping: Grouping; budgets: SelectingBudget[] }>();
  let ofWorkspace: number | undefined;
  for (const budget of budgets) {
    const counting = countingOf(budget, tracked);
    if (counting === null) {
      ofWorkspace ??= await inTurn('whole', async (spend) => medianOf(await spend.ofWorkspace()));
      found.set(budget, { id: budget.id, micros: ofWorkspace });
    } else if ('unknown' in counting) found.set(budget, { id: budget.id, ...counting });
    else {
      const same = counted.get(counting.key);
      if (same === undefined) counted.set(counting.key, { grouping: counting.grouping, budgets: [budget] });
      else same.budgets.push(budget);
    }
  }
  for (const [division, { grouping, budgets: same }] of counted) {
    const medians = await inTurn(division, async (spend) => mediansBy(grouping, same, await spend.by(grouping)));
    for (const [index, budget] of same.entries()) found.set(budget, medians[index]!);
  }
  return budgets.map((budget) => found.get(budget)!);
}

type Counting = { key: string; grouping: Grouping } | { unknown: UnknownMedian };

/** What spend has to be divided by, for the budget; null for all spend of the workspace. */
function countingOf({ selector, each }: SelectingBudget, tracked: readonly string[]): Counting | null {
  const names = new Set<string>(BUDGET_DIMENSIONS.filter((dimension) => selector[dimension] !== undefined));
  for (const label of Object.keys(selector.labels ?? {})) names.add(`${LABEL}${label}`);
  if (each !== null) names.add(each);
  const [key, ...others] = names;
  if (key === undefined) return null;
  if (others.length > 0) return { unknown: 'not_counted' };
  if (key.startsWith(LABEL)) {
    const name = key.slice(LABEL.length);
    return tracked.includes(name) ? { key, grouping: { by: 'label', name } } : { unknown: 'label_not_tracked' };
  }
  const by = DIMENSIONS.find((dimension) => dimension === key);
  return by === undefined ? { unknown: 'not_counted' } : { key, grouping: { by } };
}

const LABEL = 'label:';

/** The medians of budgets that select by the groups. */
async function mediansBy(
  grouping: Grouping,
  budgets: readonly SelectingBudget[],
  { groups, others }: Breakdown,
): Promise<BudgetMedian[]> {
  const named = groups.flatMap(({ key, micros }) => (key === null ? [] : [{ key, micros }]));
  // On some of the days, spend of the selected values may be among that of further ones.
  if (others !== undefined || named.some(({ key }) => key === OTHER)) {
    return budgets.map(({ id }) => ({ id, unknown: 'too_many_values' }));
  }
  const byKey = new Map(named.map((group) => [group.key, group]));
  const calls = named.map((group) => ({ ...group, call: callOf(grouping, group.key) }));
  const slices = startSlices();
  const medians: BudgetMedian[] = [];
  for (const { id, selector, each } of budgets) {
    if (slices.usedUp()) await slices.next();
    const exact = each === null ? exactValueOf(selector, eachOf(grouping)) : null;
    if (exact !== null) {
      medians.push({ id, micros: medianOf(byKey.get(exact)?.micros ?? []) });
      continue;
    }
    const ofOthers = budgets.filter(({ overrides }) => overrides === id && each !== null);
    const taken = new Set(ofOthers.map((other) => exactValueOf(other.selector, eachOf(grouping))));
    const selected = calls.filter(({ key, call }) => !taken.has(key) && isSelected(selector, call));
    if (each === null) medians.push({ id, micros: medianOf(sumOfDays(selected.map(({ micros }) => micros))) });
    else {
      const values = selected.slice(0, MAX_MEDIAN_VALUES).map(({ key, micros }) => ({
        value: key,
        micros: medianOf(micros),
      }));
      medians.push({ id, values, more: selected.length > values.length });
    }
  }
  return medians;
}

function sumOfDays(all: readonly Float64Array[]): Float64Array {
  const sums = new Float64Array(all[0]?.length ?? 0);
  for (const micros of all) micros.forEach((value, day) => (sums[day]! += value));
  return sums;
}

function eachOf(grouping: Grouping): BudgetEach {
  return grouping.by === 'label' ? `${LABEL}${grouping.name}` : grouping.by;
}

/** A call of which only its value in the grouping is known. */
function callOf(grouping: Grouping, value: string): BudgetedCall {
  const unknown = { agent: '', plan: null, model: null, provider: null, key: null, labels: {} };
  return grouping.by === 'label'
    ? { ...unknown, labels: { [grouping.name]: value } }
    : { ...unknown, [grouping.by]: value };
}
