import {
  BUDGET_DIMENSIONS,
  type BudgetedCall,
  type BudgetEach,
  type BudgetSelector,
  exactValueOf,
  isSelected,
} from '@tollkeeper/contracts';
import { type BudgetPeriod, startSlices, type TenantId } from '@tollkeeper/kernel';
import { type Breakdown, DIMENSIONS, type Grouping } from './breakdown.ts';
import { OTHER } from './names.ts';

/** A budget, and the calls that count in it. */
export interface SelectingBudget {
  id: string;
  selector: BudgetSelector;
  each: BudgetEach | null;
  /** The id of a budget with `each` whose limit does not apply to the value that this selector names. */
  overrides: string | null;
}

export interface LimitingBudget extends SelectingBudget {
  /** Of a daily budget, what it is for: an `agent_id`, a `plan_key`, or `Workspace`. */
  name: string;
  limitMicros: number;
  /** Null for a kind of period of a newer release. */
  period: BudgetPeriod | null;
}

/** Reads the budgets of a workspace that limit calls. Rejects while they are not known. */
export interface BudgetList {
  /** The daily ones, and the active ones that have a selector. */
  of(tenantId: TenantId): Promise<LimitingBudget[]>;
}

/** Why the spend that a budget selects is not known by the day. */
export const UNKNOWN_SPEND = ['not_counted', 'label_not_tracked', 'too_many_values'] as const;
export type UnknownSpend = (typeof UNKNOWN_SPEND)[number];

/** USD micros by span. Empty for what spent nothing in any span. */
type SpanMicros = ArrayLike<number> & Iterable<number>;

/** What a budget selects; for one with `each`, what each value spent: those that spent most first. */
export type SelectedSpend = { micros: SpanMicros } | { values: readonly { value: string; micros: SpanMicros }[] };

/** Reads what a workspace spent in each of several spans. */
interface SpendOfSpans {
  ofWorkspace(): Promise<readonly number[]>;
  /** All groups that are kept apart. */
  by(grouping: Grouping): Promise<Breakdown>;
}

/**
 * Does `work` in a turn of its own among the reads of all workspaces, maybe twice. `division` names what it reads: the
 * whole, or what its spend is divided by.
 */
export type InTurn = <T>(division: string, work: (spend: SpendOfSpans) => Promise<T>) => Promise<T>;

/**
 * What `summarize` makes of the spend of each budget, in their order. Roll-ups count agents, models, plans and tracked
 * labels, but not what two of them have in common. So the spend of a budget is known if its selector and `each` name at
 * most one of these.
 */
export async function selectSpend<Budget extends SelectingBudget, Summary>(
  budgets: readonly Budget[],
  tracked: readonly string[],
  inTurn: InTurn,
  summarize: (spend: SelectedSpend, budget: Budget) => Summary,
): Promise<(Summary | { unknown: UnknownSpend })[]> {
  const found = new Map<Budget, Summary | { unknown: UnknownSpend }>();
  const counted = new Map<string, { grouping: Grouping; budgets: Budget[] }>();
  let ofWorkspace: readonly number[] | undefined;
  for (const budget of budgets) {
    const counting = countingOf(budget, tracked);
    if (counting === null) {
      ofWorkspace ??= await inTurn('whole', (spend) => spend.ofWorkspace());
      found.set(budget, summarize({ micros: ofWorkspace }, budget));
    } else if ('unknown' in counting) found.set(budget, counting);
    else {
      const same = counted.get(counting.key);
      if (same === undefined) counted.set(counting.key, { grouping: counting.grouping, budgets: [budget] });
      else same.budgets.push(budget);
    }
  }
  for (const [division, { grouping, budgets: same }] of counted) {
    // Summed up within the turn, so that one division at a time is in memory.
    const ofThese = await inTurn(division, async (spend) =>
      summariesBy(grouping, same, await spend.by(grouping), summarize),
    );
    for (const [index, budget] of same.entries()) found.set(budget, ofThese[index]!);
  }
  return budgets.map((budget) => found.get(budget)!);
}

type Counting = { key: string; grouping: Grouping } | { unknown: UnknownSpend };

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

/** The summaries of budgets that select by the groups. */
async function summariesBy<Budget extends SelectingBudget, Summary>(
  grouping: Grouping,
  budgets: readonly Budget[],
  { groups, others }: Breakdown,
  summarize: (spend: SelectedSpend, budget: Budget) => Summary,
): Promise<(Summary | { unknown: UnknownSpend })[]> {
  const named = groups.flatMap(({ key, micros }) => (key === null ? [] : [{ key, micros }]));
  // In some of the spans, spend of the selected values may be among that of further ones.
  if (others !== undefined || named.some(({ key }) => key === OTHER)) {
    return budgets.map(() => ({ unknown: 'too_many_values' }));
  }
  const byKey = new Map(named.map((group) => [group.key, group]));
  const calls = named.map((group) => ({ ...group, call: callOf(grouping, group.key) }));
  const slices = startSlices();
  const summaries: Summary[] = [];
  for (const budget of budgets) {
    if (slices.usedUp()) await slices.next();
    const { id, selector, each } = budget;
    const exact = each === null ? exactValueOf(selector, eachOf(grouping)) : null;
    if (exact !== null) {
      summaries.push(summarize({ micros: byKey.get(exact)?.micros ?? [] }, budget));
      continue;
    }
    const ofOthers = budgets.filter(({ overrides }) => overrides === id && each !== null);
    const taken = new Set(ofOthers.map((other) => exactValueOf(other.selector, eachOf(grouping))));
    const selected = calls.filter(({ key, call }) => !taken.has(key) && isSelected(selector, call));
    const spend: SelectedSpend =
      each === null
        ? { micros: sumOfSpans(selected.map(({ micros }) => micros)) }
        : { values: selected.map(({ key, micros }) => ({ value: key, micros })) };
    summaries.push(summarize(spend, budget));
  }
  return summaries;
}

function sumOfSpans(all: readonly Float64Array[]): Float64Array {
  const sums = new Float64Array(all[0]?.length ?? 0);
  for (const micros of all) micros.forEach((value, span) => (sums[span]! += value));
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
