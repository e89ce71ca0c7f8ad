import type { ReportMapping } from '@tollkeeper/contracts';
import { mapInSlices, type TenantId } from '@tollkeeper/kernel';
import { createOverrideBook, type OverrideBook, type PriceBook } from '@tollkeeper/prices';
import { needsPrice, type PricedCall, withPrice } from './call-price.ts';
import type { CallRecord, Reading } from './call-record.ts';

/** What else counts for the calls of a workspace than their senders say. */
export interface WorkspaceTerms {
  /**
   * The prices of a workspace, which count for calls whose senders report no cost. Rejects with `service_unavailable`
   * if they are not known.
   */
  overridesOf: (tenantId: TenantId) => OverrideBook | Promise<OverrideBook>;
  /** Those for all workspaces, which count after them. */
  prices: PriceBook;
  /** Those of the keys that are of no plan of a workspace, as far as that is known. */
  unknownPlansOf: (tenantId: TenantId, planKeys: readonly string[]) => PlanKeys | Promise<PlanKeys>;
}

type PlanKeys = ReadonlySet<string>;

interface PricedCalls {
  calls: PricedCall[];
  /** Number of calls that were taken without the plan that they name. */
  plansLeftOut: number;
}

const NO_OVERRIDES = createOverrideBook([]);
const NO_PLANS: PlanKeys = new Set();

/** The calls with their prices, and without plans that the workspace does not have. Rejects like `overridesOf`. */
export async function pricedCalls(
  { calls, invalidPlans }: Pick<Reading, 'calls' | 'invalidPlans'>,
  { tenantId, reports: { priceAnew } }: { tenantId: TenantId; reports: ReportMapping },
  { overridesOf, prices, unknownPlansOf }: WorkspaceTerms,
): Promise<PricedCalls> {
  // Bodies with the cost of every call need no prices, so they are taken also if those are not known.
  const needPrices = calls.some((call) => needsPrice(call, { priceAnew }));
  const planKeys = new Set(calls.flatMap(({ planKey }) => planKey ?? []));
  const [overrides, unknownPlans] = await Promise.all([
    needPrices ? overridesOf(tenantId) : NO_OVERRIDES,
    planKeys.size === 0 ? NO_PLANS : unknownPlansOf(tenantId, [...planKeys]),
  ]);
  const sources = { overrides, prices, priceAnew };
  let plansLeftOut = invalidPlans;
  const toPriced = (call: CallRecord): PricedCall => {
    if (call.planKey === undefined || !unknownPlans.has(call.planKey)) return withPrice(call, sources);
    plansLeftOut += 1;
    return withPrice({ ...call, planKey: undefined }, sources);
  };
  const priced = await mapInSlices(calls, toPriced);
  return { calls: priced, plansLeftOut };
}
