import type { Submit } from './decision.ts';
import type { Clock, TenantId } from '@tollkeeper/kernel';
import type { AccountKey } from './journal.ts';
import { addPage, findFill } from './fill.page.ts';
import { withNewestBudgets } from './newest.budgets.ts';
import type { Fill } from './metering.ts';
import type { BudgetSource, SettlementPage, SettlementSource } from './peers.ts';
import { postAny } from './correct.ts';
import type { ThresholdReporter } from './threshold.reporter.ts';

/** Workspaces whose pages are read at the same time. They take turns, page by page. */
const AT_ONCE = 2;
/** After a failure, and while another replica fills the same workspace. */
const RETRY_MS = 2_000;
/** After repeated failures. */
const MAX_RETRY_MS = 60_000;

export interface BudgetFillerDeps {
  submit: Submit;
  budgets: BudgetSource;
  settlements: SettlementSource;
  thresholds: Pick<ThresholdReporter, 'reportAccounts'>;
  clock: Clock;
  /** `repeated` if another replica was first. */
  onPage: (outcome: 'filled' | 'repeated') => void;
  /** Called after each failure. The page is tried again. */
  onFailure: (tenantId: TenantId, error: unknown) => void;
}

/** Fills budgets that were made in the middle of their period with what was spent before. */
export interface BudgetFiller {
  /** Call it when a ledger has meters that are not exact. */
  wake(tenantId: TenantId): void;
  /** Ends after pages that are being added. Those that are being read are left to other replicas. */
  stop(): Promise<void>;
}

type Page = 'done' | 'more' | 'later';

/** Fills pages, each once: the ledger takes it from the replica that is first. */
function createPages({ submit, budgets, settlements, thresholds, clock, onPage }: BudgetFillerDeps) {
  /** Accounts with filled spend whose thresholds are not reported yet. */
  const untold = new Map<TenantId, readonly AccountKey[]>();
  const adding = new Set<Promise<Page>>();
  let isStopped = false;

  async function tell(tenantId: TenantId): Promise<void> {
    const accounts = untold.get(tenantId);
    if (accounts !== undefined) await thresholds.reportAccounts(tenantId, accounts);
    untold.delete(tenantId);
  }

  async function add(
    tenantId: TenantId,
    found: { fill: Fill; seq: number },
    { spend, ...next }: SettlementPage,
  ): Promise<Page> {
    const now = clock();
    const added = await withNewestBudgets(budgets, tenantId, async (active) => {
      // Posts what the log has, and this service has not read yet. So each is posted before or after a meter began.
      const posted = await Promise.all(spend.map((each) => submit(tenantId, postAny(each, now, active))));
      const placed = spend.map((each, index) => ({ ...each, settled: posted[index]!.settled }));
      return submit(tenantId, addPage(found, { ...next, spend: placed }, active));
    });
    onPage(added === null ? 'repeated' : 'filled');
    if (added === null) return 'later';
    untold.set(tenantId, [...(untold.get(tenantId) ?? []), ...added]);
    await tell(tenantId);
    return 'more';
  }

  return {
    /** Fills the next page. Whether there is another one to do: `later` if another replica was first. */
    async fillNext(tenantId: TenantId): Promise<Page> {
      await tell(tenantId);
      const found = await submit(tenantId, findFill());
      const { fill } = found;
      if (fill === null) return 'done';
      const page = await settlements.read(tenantId, fill);
      if (isStopped) return 'done';
      const addition = add(tenantId, { ...found, fill }, page);
      adding.add(addition);
      return addition.finally(() => adding.delete(addition));
    },
    async stop(): Promise<void> {
      isStopped = true;
      await Promise.allSettled(adding);
    },
  };
}

/**
 * Replicas may fill the same workspace. A fill that is interrupted goes on with its next page wherever its ledger is in
 * memory.
 */
export function createBudgetFiller(deps: BudgetFillerDeps): BudgetFiller {
  const pages = createPages(deps);
  /** In the order of their turns. */
  const waiting = new Set<TenantId>();
  const working = new Set<TenantId>();
  const timers = new Map<TenantId, NodeJS.Timeout>();
  const failures = new Map<TenantId, number>();
  let isStopped = false;

  function waitLater(tenantId: TenantId): void {
    waiting.delete(tenantId);
    const wakeNow = () => {
      timers.delete(tenantId);
      wake(tenantId);
    };
    const delayMs = Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** Math.max(0, (failures.get(tenantId) ?? 1) - 1));
    timers.set(tenantId, setTimeout(wakeNow, delayMs).unref());
  }

  async function work(tenantId: TenantId): Promise<void> {
    const result = await pages.fillNext(tenantId).catch((error: unknown) => {
      if (isStopped) return 'done' as const;
      deps.onFailure(tenantId, error);
      failures.set(tenantId, (failures.get(tenantId) ?? 0) + 1);
      return 'failed' as const;
    });
    working.delete(tenantId);
    if (result !== 'failed') failures.delete(tenantId);
    if (result === 'more') waiting.add(tenantId);
    if (result === 'later' || result === 'failed') waitLater(tenantId);
    workOn();
  }

  function workOn(): void {
    for (const tenantId of waiting) {
      if (working.size >= AT_ONCE || isStopped) return;
      if (working.has(tenantId)) continue;
      waiting.delete(tenantId);
      working.add(tenantId);
      void work(tenantId);
    }
  }

  function wake(tenantId: TenantId): void {
    if (timers.has(tenantId)) return;
    waiting.add(tenantId);
    workOn();
  }

  return {
    wake,
    async stop() {
      isStopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
      await pages.stop();
    },
  };
}
