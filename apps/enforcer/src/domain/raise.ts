import { MAX_MICROS } from '@tollkeeper/kernel';

/** Until its end, a limit is larger. Times are epoch milliseconds. */
export interface Raise {
  /** Also of a daily budget, such as `bud_workspace`. */
  budgetId: string;
  /** The value of `each` whose limit it is; `''` without one. */
  value: string;
  extraMicros: number;
  until: number;
}

/** What raises add to a limit, and when the first of them ends. */
export interface Raised {
  micros: number;
  until: number;
}

/** The raises of a workspace. */
export interface Raises {
  readonly count: number;
  /** Those of a limit, also those that have ended meanwhile; undefined if there are none. */
  of(budgetId: string, value: string): readonly Raise[] | undefined;
}

export const NO_RAISES: Raises = { count: 0, of: () => undefined };

export function createRaises(found: readonly Raise[]): Raises {
  if (found.length === 0) return NO_RAISES;
  const byBudget = new Map<string, Map<string, Raise[]>>();
  for (const raise of found) {
    const ofBudget = byBudget.get(raise.budgetId) ?? new Map<string, Raise[]>();
    byBudget.set(raise.budgetId, ofBudget.set(raise.value, [...(ofBudget.get(raise.value) ?? []), raise]));
  }
  return { count: found.length, of: (budgetId, value) => byBudget.get(budgetId)?.get(value) };
}

/** What the raises add at the time; undefined if all have ended. */
export function raisedAt(raises: readonly Raise[] | undefined, at: number): Raised | undefined {
  let raised: Raised | undefined;
  for (const { extraMicros, until } of raises ?? []) {
    if (until <= at) continue;
    const { micros = 0, until: first = until } = raised ?? {};
    raised = { micros: Math.min(micros + extraMicros, MAX_MICROS), until: Math.min(first, until) };
  }
  return raised;
}
