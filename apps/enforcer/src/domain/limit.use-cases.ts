import { type BudgetScope, dailyBudgetOf } from '@tollkeeper/contracts';
import { AppError, type Clock, type TenantId } from '@tollkeeper/kernel';
import type { ActiveBudget, ActiveBudgets } from './active.budgets.ts';
import { ANSWER_MS, within } from './answer.time.ts';
import type { Ask, LongRead } from './decision.ts';
import type { ChosenLimits, Limits, LimitsView } from './enforcement.ts';
import type { Limit } from './limit.ts';
import { mostAtRisk } from './limit.risk.ts';
import { viewBudget, viewLimits } from './limit.view.ts';
import { withNewestBudgets } from './newest.budgets.ts';
import type { BudgetSource, LimitSource } from './peers.ts';
import { type GrantReader, listReservations } from './reservation.list.ts';
import type { Submit } from './reservation.use-cases.ts';

/** Budgets to show, and the most values of one that has a limit for each. */
interface ShownBudgets {
  active: ActiveBudgets;
  shown: readonly ActiveBudget[];
  maxValues: number;
}

/** Maximum number of limits in one request. */
const LIMITS_AT_ONCE = 1_000;
/** Most values that are shown of a budget with a limit for each: among all budgets, and of one alone. */
const VALUES_OF_EACH = 10;
const VALUES_OF_ONE = 1_000;

/** The accounts to ask about for the daily budget of a scope. That of the workspace is always answered. */
const CHOSEN: Record<BudgetScope, (key: string) => Parameters<LimitSource['of']>[1]> = {
  workspace: () => ({ agent: [], plan: [] }),
  agent: (agentId) => ({ agent: [agentId], plan: [] }),
  plan: (planKey) => ({ agent: [], plan: [planKey] }),
};

export interface LimitDeps {
  submit: Submit;
  limits: LimitSource;
  budgets: BudgetSource;
  grants: GrantReader;
  clock: Clock;
}

export function createLimits(deps: LimitDeps): Limits {
  const { submit, limits, budgets } = deps;

  function viewWithBudgets(tenantId: TenantId, daily: readonly Limit[], budgetId?: string): Promise<LimitsView> {
    return withNewestBudgets(budgets, tenantId, async (active) => {
      if (budgetId === undefined) {
        return viewInParts(submit, tenantId, daily, { active, shown: active.all, maxValues: VALUES_OF_EACH });
      }
      const shown = active.all.filter(({ id }) => id === budgetId);
      if (shown.length > 0) return viewInParts(submit, tenantId, daily, { active, shown, maxValues: VALUES_OF_ONE });
      noSuchBudget();
    });
  }

  async function viewOne(tenantId: TenantId, budgetId: string): Promise<LimitsView> {
    const daily = dailyBudgetOf(budgetId);
    if (daily === null) return viewWithBudgets(tenantId, [], budgetId);
    const { scope, key } = daily;
    const found = await limits.of(tenantId, CHOSEN[scope](key));
    const chosen = found.filter((limit) => limit.scope === scope);
    return chosen.length > 0 ? viewInParts(submit, tenantId, chosen) : noSuchBudget();
  }

  async function view(tenantId: TenantId, { agentId, planKey, budgetId }: ChosenLimits): Promise<LimitsView> {
    if (budgetId !== undefined) return viewOne(tenantId, budgetId);
    if (agentId === undefined && planKey === undefined) return viewWithBudgets(tenantId, await limits.all(tenantId));
    const chosen = { agent: agentId === undefined ? [] : [agentId], plan: planKey === undefined ? [] : [planKey] };
    return viewInParts(submit, tenantId, await limits.of(tenantId, chosen));
  }

  return {
    view: (tenantId, chosen) => within(ANSWER_MS, view(tenantId, chosen)),
    byRisk: async (tenantId, max) => mostAtRisk((await within(ANSWER_MS, view(tenantId, {}))).items, max),
    list: (tenantId, filter, page) => within(ANSWER_MS, listReservations(deps, tenantId, filter, page)),
  };
}

function noSuchBudget(): never {
  throw new AppError('not_found', 'This workspace has no active budget with that budget_id, or it is not set.');
}

/**
 * The limits, then those of the budgets, in several requests, as one is decided without a pause. They are submitted at
 * once, so they see the same ledger unless very many requests wait. If midnight falls between them, they are repeated.
 */
async function viewInParts(
  submit: Submit,
  tenantId: TenantId,
  limits: readonly Limit[],
  ofBudgets?: ShownBudgets,
): Promise<LimitsView> {
  const parts: Limit[][] = [[]];
  for (const limit of limits) {
    if (parts.at(-1)!.length === LIMITS_AT_ONCE) parts.push([]);
    parts.at(-1)!.push(limit);
  }
  const deadline = performance.now() + ANSWER_MS;
  const asks: (Ask<LimitsView> | LongRead<LimitsView>)[] = parts.map(viewLimits);
  if (ofBudgets !== undefined) {
    const { active: budgets, shown, maxValues } = ofBudgets;
    asks.push(...shown.map((budget) => ({ ...viewBudget(budget, maxValues), budgets })));
  }
  for (;;) {
    const views = await Promise.all(asks.map((ask) => submit(tenantId, { ...ask, deadline })));
    const { day } = views[0]!;
    if (views.every((view) => view.day.start === day.start)) return { day, items: views.flatMap(({ items }) => items) };
  }
}
