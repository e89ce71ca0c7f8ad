import { type BudgetedCall, encodeGatewayEvent, isSelected } from '@tollkeeper/contracts';
import {
  AppError,
  type Clock,
  localDays,
  mapInSlices,
  roomFor,
  startSlices,
  type TenantId,
  toLocal,
} from '@tollkeeper/kernel';
import { createOverrideBook, type Override, type PriceBook, type PriceSources } from '@tollkeeper/prices';
import { LRUCache } from 'lru-cache';
import type { BudgetList, SelectingBudget } from '../domain/budget.spend.ts';
import { callOf } from '../domain/budget.replay.ts';
import { withCorrections } from '../domain/corrections.ts';
import { SPEND_REPRICED, type DashboardEvent } from '../domain/event.ts';
import type { Reads } from '../domain/reads.ts';
import type { SettlementReader } from '../domain/settlement.list.ts';
import type { SettlementPage, SettlementPlace } from '../domain/settlement.page.ts';
import { addChange, type Change, changeOf, correctionOf, type RepricingJob } from './repricing.ts';

/** Settlements of a page. Each page is one step of the job: after a crash, it is done again or not at all. */
const PAGE = 4_000;
/** Corrections in one append to the log. */
const APPEND = 1_000;
/** How long a page may take to be read, and its corrections to be counted. */
const PAGE_MS = 60_000;

export interface RepricingDeps {
  reader: SettlementReader;
  reads: Reads;
  /** The operator's prices and the table. Throws while those of the operator are not known. */
  prices: PriceBook;
  /** The prices that the workspace has set, in the order in which they were set. */
  overridesOf(tenantId: TenantId): Promise<readonly Override[]>;
  budgetList: BudgetList;
  append(records: { key: string; value: Buffer }[]): Promise<void>;
  /** Resolves once all events of the workspace are counted that the log has now. */
  caughtUp(tenantId: TenantId, signal: AbortSignal): Promise<void>;
  clock: Clock;
}

/** Does the pages of one job. */
export interface RepricingRun {
  /** Does the next page, and says how far the job is then. Its `finishedAt` is set after the last page. */
  nextPage(): Promise<RepricingJob>;
}

/**
 * Takes up a job where it is. Its corrections go through the log like all spend, so figures and limits change exactly
 * once, in every service. Those of a page wait until those of the last page but one are counted: so a job of a million
 * calls delays the events of other workspaces by those of two pages at most.
 */
export async function startRun(deps: RepricingDeps, job: RepricingJob): Promise<RepricingRun> {
  const { reader, reads, prices, append, clock } = deps;
  const { tenantId, models, dryRun } = job;
  const [overrides, budgets] = await Promise.all([deps.overridesOf(tenantId), deps.budgetList.of(tenantId)]);
  const sources: PriceSources = { overrides: createOverrideBook(overrides.slice(0, job.overrides)), prices };
  const groupsOf = createGroups(budgets, job);
  const wanted = models && new Set(models.map((model) => model.toLowerCase()));
  let { place, sums } = job;

  const isWanted = ({ data }: DashboardEvent): boolean =>
    wanted === null || wanted.has((data.model ?? '').toLowerCase());

  /** Of a page that is done again, the corrections are made again, and count once. */
  const isOwn = ({ type, data }: DashboardEvent): boolean =>
    type === SPEND_REPRICED && data.corrected_ms === job.createdAt.getTime();

  /** Resolves when all corrections in the log are counted. */
  async function counted(): Promise<void> {
    const signal = AbortSignal.timeout(PAGE_MS);
    await deps.caughtUp(tenantId, signal).catch((cause: unknown) => {
      if (!signal.aborted) throw cause;
      const message = 'The dashboard is still reading the event log. The job goes on when it has caught up.';
      throw new AppError('service_unavailable', message, { retryAfterSeconds: 1, cause });
    });
  }

  async function correct(changes: readonly Change[]): Promise<void> {
    const made = { id: job.id, correctedAt: job.createdAt.getTime() };
    const receivedAt = new Date(clock()).toISOString();
    await uncounted.shift();
    for (let at = 0; at < changes.length; at += APPEND) {
      const part = changes.slice(at, at + APPEND);
      await append(
        await mapInSlices(part, (change) => encodeGatewayEvent({ ...correctionOf(change, made), receivedAt })),
      );
    }
    const isCounted = counted();
    // Awaited before those of the page after the next are written.
    isCounted.catch(() => undefined);
    uncounted.push(isCounted);
  }

  function read(from: SettlementPlace): Promise<SettlementPage> {
    const signal = AbortSignal.timeout(PAGE_MS);
    return reads.run({ tenantId, kind: 'repricing', signal }, (meter) =>
      reader.settlementsFrom(tenantId, from, job.to, meter, PAGE),
    );
  }

  // Those of earlier jobs are still on their way.
  await counted();
  /** For the last two pages, when their corrections are counted. One is counted while the next one is made. */
  const uncounted: Promise<void>[] = [Promise.resolve(), Promise.resolve()];
  /** It is read while the corrections of the pages before are counted, which concern none of its settlements. */
  let page: Promise<SettlementPage> | undefined;

  return {
    async nextPage() {
      const { settlements: found, next } = await (page ?? read(place));
      const settlements = withCorrections(found.filter((event) => !isOwn(event)));
      const changes = await mapInSlices(settlements, (each) => (isWanted(each) ? changeOf(each, sources) : undefined));
      const changed = changes.filter((change) => change !== undefined);
      page = next === null ? undefined : read(next);
      // Awaited with the next page.
      page?.catch(() => undefined);
      if (!dryRun) await correct(changed);
      sums = structuredClone(sums);
      sums.read += settlements.length;
      const slices = startSlices();
      for (const change of changed) {
        if (slices.usedUp()) await slices.next();
        addChange(sums, change, groupsOf(change.settlement));
      }
      if (next === null) await Promise.all(uncounted);
      place = next ?? { time: job.to, after: '' };
      const isDone = next === null;
      return {
        ...job,
        ...{ place, sums, problem: null, failures: 0 },
        state: isDone ? 'done' : 'running',
        finishedAt: isDone ? new Date(clock()) : null,
      };
    },
  };
}

/** Kinds of calls whose budgets are remembered. */
const KNOWN_CALLS = 10_000;

/** Says for a settlement in which groups its change is listed. */
function createGroups(budgets: readonly SelectingBudget[], { from, to, timezone }: RepricingJob) {
  const days = localDays({ start: from, end: to }, timezone).map(({ start }) => ({
    start,
    date: toLocal(start, timezone).toPlainDate().toString(),
  }));
  const known = new LRUCache<string, readonly string[]>(roomFor(KNOWN_CALLS));

  function budgetsOf(call: BudgetedCall): readonly string[] {
    const key = JSON.stringify(call);
    let found = known.get(key);
    if (found === undefined) {
      found = budgets.filter(({ selector }) => isSelected(selector, call)).map(({ id }) => id);
      known.set(key, found);
    }
    return found;
  }

  return ({ time, data }: DashboardEvent) => ({
    day: [days.findLast(({ start }) => start <= time)!.date],
    model: [data.model ?? ''],
    agent: [data.agent_id ?? ''],
    budget: budgetsOf(callOf(data)),
  });
}

/** What a person is shown when a page fails. */
export function problemOf(error: unknown): string {
  if (error instanceof AppError) return error.message;
  return 'Something went wrong on our side. The job tries again; look at the log of dashboard.';
}
