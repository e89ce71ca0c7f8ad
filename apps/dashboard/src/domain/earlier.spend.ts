import { type BudgetedCall, isSelected } from '@tollkeeper/contracts';
import { CALENDAR_PERIODS, type TenantId, type TimeSpan } from '@tollkeeper/kernel';
import { DIMENSIONS, type GroupKey, MAX_GROUPS } from './breakdown.ts';
import type { PlannedBudget, ValueOfEach } from './budget.replay.ts';
import { OTHER } from './names.ts';
import type { ReadMeter } from './reads.ts';
import { WHOLE_WORKSPACE, type Tallies } from './tallies.ts';

const NO_CALL: BudgetedCall = { agent: '', plan: null, model: null, provider: null, key: null, labels: {} };

/** Whether roll-ups may know exactly what counts in the budget: they divide spend by one dimension at a time. */
export function isInRollups({ selector, each, period }: PlannedBudget): boolean {
  const names = [...new Set(namesOf({ selector, each }))];
  const isOfCalendar = CALENDAR_PERIODS.some((kind) => kind === period.kind);
  return isOfCalendar && names.length <= 1 && names.every((name) => DIMENSIONS.some((known) => known === name));
}

/**
 * What of a span of whole local days counts in a budget that {@link isInRollups}, by value of `each`. Null if roll-ups
 * count values of the span together, because there are too many.
 */
export async function earlierSpend(
  tallies: Tallies,
  tenantId: TenantId,
  { selector, each }: PlannedBudget,
  span: TimeSpan,
  meter: ReadMeter,
): Promise<Map<ValueOfEach, number> | null> {
  const by = DIMENSIONS.find((dimension) => namesOf({ selector, each }).includes(dimension));
  if (by === undefined) {
    const [whole] = await tallies.ofSpans(tenantId, WHOLE_WORKSPACE, [span], meter);
    return new Map([[null, whole!.totalMicros]]);
  }
  // One group less than are kept apart, so that `others` has any further ones.
  const { groups, others } = await tallies.breakdown(tenantId, { by }, [span], MAX_GROUPS - 1, meter);
  const isOther = ({ key }: { key: GroupKey }): boolean => key === OTHER;
  if (others !== undefined || groups.some(isOther)) return null;
  const spent = new Map<ValueOfEach, number>();
  for (const { key, total } of groups) {
    if (key === null || !isSelected(selector, { ...NO_CALL, [by]: key })) continue;
    const value = each === null ? null : key;
    spent.set(value, (spent.get(value) ?? 0) + total.totalMicros);
  }
  return spent;
}

/** What a budget looks at in a call. */
function namesOf({
  selector: { labels = {}, ...dimensions },
  each,
}: Pick<PlannedBudget, 'selector' | 'each'>): string[] {
  const given = Object.entries(dimensions).flatMap(([name, pattern]) => (pattern === undefined ? [] : [name]));
  return [...given, ...Object.keys(labels).map((name) => `label:${name}`), ...(each === null ? [] : [each])];
}
