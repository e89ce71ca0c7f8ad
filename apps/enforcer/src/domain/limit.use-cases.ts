import { AppError, type Clock, type TenantId } from '@tollkeeper/kernel';
import type { ActiveBudget } from './active.budgets.ts';
import { ANSWER_MS, within } from './answer.time.ts';
import type { Limits, LimitsView } from './enforcement.ts';
import type { Limit } from './limit.ts';
import { viewBudget, viewLimits } from './limit.view.ts';
import type { BudgetSource, LimitSource } from './peers.ts';
import { type GrantReader, listReservations } from './reservation.list.ts';
import type { Submit } from './reservation.use-cases.ts';

/** Budgets to show, and the most values of one that has a limit for each. */
interface ShownBudgets {
  budgets: readonly ActiveBudget[];
  maxValues: number;
}

/** Maximum number of limits in one request. */
const LIMITS_AT_ONCE = 1_000;
/** Most values that are shown of a budget with a limit for each: among all budgets, and of one alone. */
const VALUES_OF_EACH = 10;
const VALUES_OF_ONE = 1_000;

export interface LimitDeps {
  submit: Submit;
  limits: LimitSource;
  budgets: BudgetSource;
  grants: GrantReader;
  clock: Clock;
}

export function createLimits(deps: LimitDeps): Limits {
  async function budgetOf(tenantId: TenantId, id: string): Promise<ShownBudgets> {
    const { all } = await deps.budgets.of(tenantId);
    const budget = all.find((each) => each.id === id);
    if (budget === undefined)
      throw new AppError('not_found', 'This workspace has no active budget with that budget_id.');
    return { budgets: [budget], maxValues: VALUES_OF_ONE };
  }

  return {
    view(tenantId, { agentId, planKey, budgetId }) {
      const work = async () => {
        if (budgetId !== undefined) return viewInParts(deps.submit, tenantId, [], await budgetOf(tenantId, budgetId));
        const isAll = agentId === undefined && planKey === undefined;
        const chosen = {
          agent: agentId === undefined ? [] : [agentId],
          plan: planKey === undefined ? [] : [planKey],
        };
        if (!isAll) return viewInParts(deps.submit, tenantId, await deps.limits.of(tenantId, chosen));
        const [set, { all }] = await Promise.all([deps.limits.all(tenantId), deps.budgets.of(tenantId)]);
        return viewInParts(deps.submit, tenantId, set, { budgets: all, maxValues: VALUES_OF_EACH });
      };
      return within(ANSWER_MS, work());
    },
    list: (tenantId, filter, page) => within(ANSWER_MS, listReservations(deps, tenantId, filter, page)),
  };
}

/**
 * The limits, then those of the budgets, in several requests, as one is decided without a pause. They are submitted at
 * once, so they see the same ledger unless very many requests wait. If midnight falls between them, they are repeated.
 */
async function viewInParts(
  submit: Submit,
  tenantId: TenantId,
  limits: readonly Limit[],
  shown: ShownBudgets = { budgets: [], maxValues: 0 },
): Promise<LimitsView> {
  const parts: Limit[][] = [[]];
  for (const limit of limits) {
    if (parts.at(-1)!.length === LIMITS_AT_ONCE) parts.push([]);
    parts.at(-1)!.push(limit);
  }
  const asks = [...parts.map(viewLimits), ...shown.budgets.map((budget) => viewBudget(budget, shown.maxValues))];
  for (;;) {
    const views = await Promise.all(asks.map((ask) => submit(tenantId, ask)));
    const { day } = views[0]!;
    if (views.every((view) => view.day.start === day.start)) return { day, items: views.flatMap(({ items }) => items) };
  }
}
