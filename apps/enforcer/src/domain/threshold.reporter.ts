import type { Submit } from './decision.ts';
import type { Clock, TenantId } from '@tollkeeper/kernel';
import { thresholdReached } from './enforcement.events.ts';
import type { ActiveBudgets } from './active.budgets.ts';
import type { AccountKey, Posting } from './journal.ts';
import type { BudgetSource, LimitSource } from './peers.ts';
import { findReached, markReported, type Reaching } from './threshold.ts';
import type { AppendEvents } from './workspace.appends.ts';

/** How often accounts with unknown limits are checked again. */
const AGAIN_MS = 2_000;
/** Maximum number of accounts that wait for their limits. For others, the next spend triggers a new check. */
const MAX_WAITING = 100_000;
/** Maximum number of accounts per request when checking again, to bound decisions and journal entries. */
const AT_ONCE = 1_000;

/** Maximum number of limits to check at once, each of which may have reached several percentages. */
const REACHING_AT_ONCE = 500;

export interface ThresholdReporterDeps {
  submit: Submit;
  append: AppendEvents;
  limits: Pick<LimitSource, 'of'>;
  budgets: BudgetSource;
  clock: Clock;
  /** Called each time the limits of a workspace are unavailable. Thresholds are reported once they are known. */
  onLimitsUnknown: (tenantId: TenantId, error: unknown) => void;
  /** Called each time a report failed. It is retried. */
  onUnreportedThresholds: (tenantId: TenantId, error: unknown) => void;
}

/** Reports the limits that spend has reached. */
export interface ThresholdReporter {
  /**
   * Checks the accounts that were posted to, each on its day. Resolves when the events are in the log. If limits are
   * unknown, the report follows later, unless this process ends first. Rejects while the log or MongoDB is down.
   */
  report(tenantId: TenantId, postings: readonly Posting[]): Promise<void>;
  /** The same for accounts of budgets alone. Nothing follows later if limits are unknown. */
  reportAccounts(tenantId: TenantId, accounts: readonly AccountKey[]): Promise<void>;
  /** Starts to check waiting accounts periodically. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createThresholdReporter(deps: ThresholdReporterDeps): ThresholdReporter {
  const { submit, append, limits, budgets, clock, onLimitsUnknown, onUnreportedThresholds } = deps;
  /** Waiting postings, by workspace and content. */
  const waiting = new Map<TenantId, Map<string, Posting>>();
  let waitingCount = 0;
  let timer: NodeJS.Timeout | undefined;

  /** What the postings may have reached; null if the limits are unavailable. */
  async function reachingOf(tenantId: TenantId, postings: readonly Posting[]): Promise<Reaching[] | null> {
    const days = [...new Set(postings.map(({ day }) => day))];
    const agent = [...new Set(postings.map(({ agentId }) => agentId))];
    const plan = [...new Set(postings.flatMap(({ planKey }) => planKey ?? []))];
    const accounts = new Map(postings.flatMap((each) => each.accounts ?? []).map((key) => [key.join('/'), key]));
    try {
      const [daily, active] = await Promise.all([limits.of(tenantId, { agent, plan }), budgets.of(tenantId)]);
      return [
        ...days.flatMap((start) => daily.map((limit) => ({ limit, start }))),
        ...reachingBy([...accounts.values()], active),
      ];
    } catch (err) {
      onLimitsUnknown(tenantId, err);
      return null;
    }
  }

  function wait(tenantId: TenantId, postings: readonly Posting[]): void {
    const ofWorkspace = waiting.get(tenantId) ?? new Map<string, Posting>();
    waiting.set(tenantId, ofWorkspace);
    for (const posting of postings) {
      const key = JSON.stringify([posting.day, posting.agentId, posting.planKey, posting.accounts]);
      if (waitingCount >= MAX_WAITING || ofWorkspace.has(key)) continue;
      ofWorkspace.set(key, posting);
      waitingCount += 1;
    }
  }

  async function report(tenantId: TenantId, postings: readonly Posting[]): Promise<void> {
    if (postings.length === 0) return;
    const reaching = await reachingOf(tenantId, postings);
    if (reaching === null) return wait(tenantId, postings);
    await reportAll(tenantId, reaching);
  }

  async function reportAll(tenantId: TenantId, reaching: readonly Reaching[]): Promise<void> {
    for (let start = 0; start < reaching.length; start += REACHING_AT_ONCE) {
      await reportReached(tenantId, reaching.slice(start, start + REACHING_AT_ONCE));
    }
  }

  async function reportReached(tenantId: TenantId, reaching: readonly Reaching[]): Promise<void> {
    const reached = await submit(tenantId, findReached(reaching));
    if (reached.length === 0) return;
    await append(
      tenantId,
      reached.map((threshold) => thresholdReached(tenantId, threshold, clock())),
    );
    await submit(tenantId, markReported(reached));
  }

  async function reportAgain(): Promise<void> {
    for (const [tenantId, postings] of [...waiting]) {
      waiting.delete(tenantId);
      waitingCount -= postings.size;
      const all = [...postings.values()];
      for (let start = 0; start < all.length; start += AT_ONCE) {
        const some = all.slice(start, start + AT_ONCE);
        await report(tenantId, some).catch((err: unknown) => {
          onUnreportedThresholds(tenantId, err);
          wait(tenantId, some);
        });
      }
    }
    timer?.refresh();
  }

  return {
    report,
    reportAccounts: async (tenantId, accounts) => reportAll(tenantId, reachingBy(accounts, await budgets.of(tenantId))),
    async start() {
      timer = setTimeout(() => void reportAgain(), AGAIN_MS);
      timer.unref();
    },
    async stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

/** What the spend of accounts of budgets may have reached. */
function reachingBy(accounts: readonly AccountKey[], active: ActiveBudgets): Reaching[] {
  return accounts.flatMap(([meter, start, value]) => {
    const limit = active.limitOf(meter, value);
    return limit === undefined ? [] : [{ limit, start }];
  });
}
