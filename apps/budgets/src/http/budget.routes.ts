import { budgetId } from '@tollkeeper/contracts';
import { defineRoute, integerQuery, mergePatchBodies, type Route } from '@tollkeeper/http';
import type { TenantId } from '@tollkeeper/kernel';
import { z } from 'zod';
import { type BudgetDraft, MAX_BUDGETS } from '../domain/budget.ts';
import type { BudgetUseCases } from '../domain/budget.use-cases.ts';
import { type ListedBudget, ORIGINS } from '../domain/listed-budget.ts';
import { raisedByBudget } from '../domain/raise.ts';
import type { RaiseUseCases } from '../domain/raise.use-cases.ts';
import { budgetBody, budgetPatch, budgetRecord, patched, toBudgetRecord, toDraft } from './budget.schemas.ts';
import { TAG } from './paths.ts';

const PATH = '/api/v1/budgets';
const ONE = `${PATH}/{budget_id}`;

const ofBudget = z.object({ budget_id: budgetId });
const listQuery = z.object({
  origin: z.enum(ORIGINS).optional().meta({
    description: 'Only daily budgets of the workspace, of agents or of plans, or only (`none`) all other budgets',
  }),
  is_active: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({
      description: 'Only budgets that are active, or only those that are not',
      override: { type: 'boolean', enum: undefined },
    }),
  limit: integerQuery({ min: 1, max: 100, default: 50, description: 'Maximum number of items on a page' }),
  cursor: budgetId.optional().meta({ description: 'The `next_cursor` of the previous page' }),
});
const budgetPage = z.object({
  items: z.array(budgetRecord),
  next_cursor: z.string().nullable().meta({ description: 'The `cursor` of the next page; null on the last page' }),
});

/** All budgets of the workspace: members read them, owners change them. */
export function createBudgetRoutes(budgets: BudgetUseCases, raises: Pick<RaiseUseCases, 'inForce'>): Route[] {
  const toRecords: ToRecords = async (tenantId, found) => {
    const raised = raisedByBudget(await raises.inForce(tenantId));
    return found.map((budget) => toBudgetRecord(budget, raised.get(budget.id)));
  };
  const toRecord: ToRecord = async (tenantId, budget) => (await toRecords(tenantId, [await budget]))[0]!;
  return [...routesOfAll(budgets, toRecords, toRecord), ...routesOfOne(budgets, toRecord)];
}

type BudgetRecord = ReturnType<typeof toBudgetRecord>;
type ToRecords = (tenantId: TenantId, found: readonly ListedBudget[]) => Promise<BudgetRecord[]>;
type ToRecord = (tenantId: TenantId, budget: Promise<ListedBudget>) => Promise<BudgetRecord>;

function routesOfAll(budgets: BudgetUseCases, toRecords: ToRecords, toRecord: ToRecord): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: PATH,
      operationId: 'listBudgets',
      tag: TAG,
      summary: 'List the budgets of the workspace',
      description:
        'Budgets with a selector and a period by id, then the daily budgets that are set: of the workspace, of plans ' +
        'by key, and of agents by id. The `id` of a daily budget is `bud_workspace`, `bud_plan.<plan_key>` or ' +
        '`bud_agent.<agent_id>`.',
      access: 'member',
      query: listQuery,
      responses: { 200: { description: 'A page', schema: budgetPage } },
      handler: async ({ caller, query }) => {
        const { origin, is_active: isActive, limit, cursor: after } = query;
        const { budgets: page, next } = await budgets.list(caller.tenantId, { origin, isActive, limit, after });
        return { status: 200, body: { items: await toRecords(caller.tenantId, page), next_cursor: next } };
      },
    }),
    defineRoute({
      method: 'post',
      audit: 'budget.create',
      path: PATH,
      operationId: 'createBudget',
      tag: TAG,
      summary: 'Create a budget',
      description:
        'The budget counts calls within two seconds. What was spent in its period before is filled in; until then, its ' +
        `limits have the state \`filling\`. A workspace has at most ${MAX_BUDGETS} budgets besides its daily ones.`,
      access: 'owner',
      body: budgetBody,
      responses: { 201: { description: 'The new budget', schema: budgetRecord } },
      handler: async ({ caller, body, cause }) => {
        const budget = budgets.create(caller.tenantId, toDraft(body), cause);
        return { status: 201, body: await toRecord(caller.tenantId, budget) };
      },
    }),
  ];
}

function routesOfOne(budgets: BudgetUseCases, toRecord: ToRecord): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: ONE,
      operationId: 'getBudget',
      tag: TAG,
      summary: 'Read a budget',
      access: 'member',
      params: ofBudget,
      responses: { 200: { description: 'The budget', schema: budgetRecord } },
      handler: async ({ caller, params }) => {
        const budget = budgets.get(caller.tenantId, params.budget_id);
        return { status: 200, body: await toRecord(caller.tenantId, budget) };
      },
    }),
    defineRoute({
      method: 'patch',
      audit: 'budget.update',
      path: ONE,
      operationId: 'updateBudget',
      tag: TAG,
      summary: 'Change a budget',
      description:
        'Spend is counted anew, from now on, if `selector`, `each` or `period` changes. Another `start_month` or `start_day` applies ' +
        'from the next period on. A `period` of another `kind` replaces the old one as a whole. A daily budget can ' +
        'only change its `limit_micros`, and a plan also its `name`, `description` and `is_active`; 409 for any other ' +
        'field. 409 if another budget overrides this one and would no longer fit.',
      access: 'owner',
      params: ofBudget,
      body: mergePatchBodies(budgetPatch),
      responses: { 200: { description: 'The budget as it is now', schema: budgetRecord } },
      handler: async ({ caller, params, body, cause }) => {
        const edit = (current: BudgetDraft): BudgetDraft => patched(current, body);
        const budget = budgets.edit(caller.tenantId, params.budget_id, edit, cause);
        return { status: 200, body: await toRecord(caller.tenantId, budget) };
      },
    }),
    defineRoute({
      method: 'delete',
      audit: 'budget.delete',
      path: ONE,
      operationId: 'deleteBudget',
      tag: TAG,
      summary: 'Delete a budget',
      description:
        'Unsets the daily budget of the workspace or of an agent. Deletes the plan if the budget is one of a plan. 409 ' +
        'if another budget overrides this one.',
      access: 'owner',
      params: ofBudget,
      responses: { 204: { description: 'The budget is deleted' } },
      handler: async ({ caller, params, cause }) => {
        await budgets.delete(caller.tenantId, params.budget_id, cause);
        return { status: 204 };
      },
    }),
  ];
}
