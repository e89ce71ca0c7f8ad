import { type BudgetedCall, type PauseScope, valueOfEach } from '@tollkeeper/contracts';

/** Until its end, calls with the value get no reservations and no leases. Times are epoch milliseconds. */
export interface Pause {
  id: string;
  scope: PauseScope;
  /** An `agent_id`, the id of a workspace key, or the value of the label. */
  value: string;
  createdAt: number;
  until: number;
  reason: string;
  /** The name of the person. */
  pausedBy: string;
}

/** The pauses of a workspace. */
export interface Pauses {
  readonly count: number;
  /** The pause of the call at that time; of several, the one that ends last. Null if it is not paused. */
  of(call: BudgetedCall, at: number): Pause | null;
}

export const NO_PAUSES: Pauses = { count: 0, of: () => null };

export function createPauses(found: readonly Pause[]): Pauses {
  if (found.length === 0) return NO_PAUSES;
  const byScope = new Map<PauseScope, Map<string, Pause>>();
  for (const pause of found) {
    const ofScope = byScope.get(pause.scope) ?? new Map<string, Pause>();
    byScope.set(pause.scope, ofScope.set(pause.value, pause));
  }
  return {
    count: found.length,
    of(call, at) {
      let last: Pause | null = null;
      for (const [scope, ofScope] of byScope) {
        const value = valueOfEach(scope, call);
        const pause = value === null ? undefined : ofScope.get(value);
        if (pause !== undefined && pause.until > at && (last === null || pause.until > last.until)) last = pause;
      }
      return last;
    },
  };
}
