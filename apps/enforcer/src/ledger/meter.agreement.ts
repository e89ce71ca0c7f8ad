import { type ActiveBudgets, isAgreed } from '../domain/active.budgets.ts';
import type { Op } from '../domain/journal.ts';
import type { Ledger } from '../domain/ledger.ts';
import { beginMeters } from '../domain/meter.begin.ts';
import type { Metering } from '../domain/metering.ts';
import { StaleBudgets } from '../domain/newest.budgets.ts';
import type { Waiting } from './waiting.requests.ts';

/** Makes the replicas agree which meters count, so that from one entry on each call counts in all of them. */
export interface MeterAgreement {
  /**
   * Begins and forgets meters on the draft if `mayBegin`, as the newest budgets of the requests say. Rejects requests
   * with other budgets, with {@link StaleBudgets}, and returns those that can be decided. Call `committed` once the ops
   * are in the ledger.
   */
  agree(
    on: Ledger,
    draft: Ledger,
    waiting: readonly Waiting[],
    at: { seq: number; now: number; mayBegin: boolean },
  ): { ops: Op[]; waiting: readonly Waiting[]; committed: () => void };
}

/** `now` is the monotonic clock of {@link ActiveBudgets.askedAt}. */
export function createMeterAgreement(now: () => number): MeterAgreement {
  /** The meters of the ledger, and since when this replica knows them. Any budgets are newer than none. */
  let known = { version: 0, since: -Infinity };

  function learn({ version }: Metering): number {
    if (version !== known.version) known = { version, since: now() };
    return known.since;
  }

  return {
    agree(on, draft, waiting, at) {
      const since = learn(on.metering);
      let newest: ActiveBudgets | undefined;
      for (const { ask } of waiting) {
        if (ask.budgets !== undefined && ask.budgets.askedAt > (newest?.askedAt ?? -Infinity)) newest = ask.budgets;
      }
      if (newest === undefined) return { ops: [], waiting, committed: () => undefined };
      // Budgets asked for since then have all changes that the ledger has met: replicas ask before they begin meters.
      const isFresh = newest.askedAt >= since && newest.isCertain;
      const ops = isFresh && at.mayBegin ? beginMeters(draft, newest, at) : [];
      const isDecidable = ({ ask: { budgets } }: Waiting) =>
        budgets === undefined || (isFresh && budgets === newest) || isAgreed(draft.metering, budgets);
      return {
        ops,
        waiting: rejectStale(waiting, isDecidable, Math.max(since, newest.askedAt)),
        committed() {
          if (ops.length > 0) known = { version: on.metering.version, since: newest.askedAt };
        },
      };
    },
  };
}

function rejectStale(
  waiting: readonly Waiting[],
  isDecidable: (request: Waiting) => boolean,
  since: number,
): readonly Waiting[] {
  if (waiting.every(isDecidable)) return waiting;
  for (const request of waiting) if (!isDecidable(request)) request.reject(new StaleBudgets(since));
  return waiting.filter(isDecidable);
}
