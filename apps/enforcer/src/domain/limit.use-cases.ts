import { type BudgetScope, dailyBudgetOf } from '@tollkeeper/contracts';
import { AppError, type TenantId } from '@tollkeeper/kernel';
import { type ActiveBudgets, budgetedCall, type RaisableBudget } from './active.budgets.ts';
import { forPerson, PERSON_ANSWER_MS, within } from './answer.time.ts';
import type { Ask, LongRead, Submit } from './decision.ts';
import type { ChosenLimits, Limits, LimitsView } from './enforcement.ts';
import type { DailyLimit, Limit } from './limit.ts';
import { mostAtRisk } from './limit.risk.ts';
import { viewBudget, viewLimits } from './limit.view.ts';
import { withNewestBudgets } from './newest.budgets.ts';
import type { BudgetSource, LimitSource } from './peers.ts';
import { withRaises } from './limit.rows.ts';
import { type ListDeps, listLeases, listReservations } from './reservation.list.ts';

/** The budgets of a workspace, and those whose limits are shown: of one with `each`, at most `maxValues`. */
interface ViewedBudgets {
  active: ActiveBudgets;
  shown?: { budgets: readonly RaisableBudget[]; maxValues: number };
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

export interface LimitDeps extends ListDeps {
  limits: LimitSource;
  budgets: BudgetSource;
}

export function createLimits(deps: LimitDeps): Limits {
  const { submit, limits, budgets, clock } = deps;

  function viewWithBudgets(tenantId: TenantId, found: readonly DailyLimit[], budgetId?: string): Promise<LimitsView> {
    return withNewestBudgets(budgets, tenantId, async (active) => {
      const daily = withRaises(found, active.raises);
      if (budgetId === undefined) {
        return viewInParts(submit, tenantId, daily, {
          active,
          shown: { budgets: active.all, maxValues: VALUES_OF_EACH },
        });
      }
      const budgets = active.all.filter(({ id }) => id === budgetId);
      if (budgets.length === 0) noSuchBudget();
      return viewInParts(submit, tenantId, daily, { active, shown: { budgets, maxValues: VALUES_OF_ONE } });
    });
  }

  async function viewDaily(tenantId: TenantId, daily: readonly DailyLimit[]): Promise<LimitsView> {
    return viewInParts(submit, tenantId, withRaises(daily, (await budgets.of(tenantId)).raises));
  }

  async function viewOne(tenantId: TenantId, budgetId: string): Promise<LimitsView> {
    const daily = dailyBudgetOf(budgetId);
    if (daily === null) return viewWithBudgets(tenantId, [], budgetId);
    const { scope, key } = daily;
    const found = await limits.of(tenantId, CHOSEN[scope](key));
    const chosen = found.filter((limit) => limit.scope === scope);
    return chosen.length > 0 ? viewDaily(tenantId, chosen) : noSuchBudget();
  }

  async function view(tenantId: TenantId, { agentId, planKey, budgetId }: ChosenLimits): Promise<LimitsView> {
    if (budgetId !== undefined) return viewOne(tenantId, budgetId);
    if (agentId === undefined && planKey === undefined) return viewWithBudgets(tenantId, await limits.all(tenantId));
    const chosen = { agent: agentId === undefined ? [] : [agentId], plan: planKey === undefined ? [] : [planKey] };
    const daily = await limits.of(tenantId, chosen);
    if (agentId === undefined) return viewDaily(tenantId, daily);
    const call = budgetedCall({ agentId, planKey: planKey ?? null });
    return withNewestBudgets(budgets, tenantId, (active) =>
      viewInParts(submit, tenantId, [...withRaises(daily, active.raises), ...active.limitsFor(call, clock())], {
        active,
      }),
    );
  }

  return {
    view: (tenantId, chosen) => forPerson(() => view(tenantId, chosen)),
    byRisk: async (tenantId, max) => mostAtRisk((await within(PERSON_ANSWER_MS, view(tenantId, {}))).items, max),
    list: (tenantId, filter, page) => within(PERSON_ANSWER_MS, listReservations(deps, tenantId, filter, page)),
    listLeases: (tenantId, filter, page) => within(PERSON_ANSWER_MS, listLeases(deps, tenantId, filter, page)),
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
  { active: budgets, shown }: Partial<ViewedBudgets> = {},
): Promise<LimitsView> {
  const parts: Limit[][] = [[]];
  for (const limit of limits) {
    if (parts.at(-1)!.length === LIMITS_AT_ONCE) parts.push([]);
    parts.at(-1)!.push(limit);
  }
  const deadline = performance.now() + PERSON_ANSWER_MS;
  const asks: (Ask<LimitsView> | LongRead<LimitsView>)[] = [
    ...parts.map(viewLimits),
    ...(shown?.budgets ?? []).map((budget) => viewBudget(budget, shown!.maxValues)),
  ].map((ask) => ({ ...ask, ...(budgets && { budgets }) }));
  for (;;) {
    const views = await Promise.all(asks.map((ask) => submit(tenantId, { ...ask, deadline })));
    const { day } = views[0]!;
    if (views.every((view) => view.day.start === day.start)) return { day, items: views.flatMap(({ items }) => items) };
  }
}
