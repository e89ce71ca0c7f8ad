import { displayName, micros, moment, planKey } from '@tollkeeper/contracts';
import { defineRoute, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import { MAX_PLANS, type Plan, type PlanStore } from '../domain/plan.ts';
import type { PlanUseCases } from '../domain/plan.use-cases.ts';
import { descriptionText } from './fields.ts';
import { PREFIX, segments, TAG, workspaceOf } from './paths.ts';

const description = descriptionText.meta({
  description: 'Purpose of the plan',
  example: 'Interactive work of the research team',
});
const isActive = z.boolean().meta({ description: 'Whether calls may be made under the plan' });

const newPlan = z.strictObject({
  plan_key: planKey,
  display_name: displayName,
  description: description.default(''),
  daily_budget_usd_micros: micros,
});
const planChanges = z.strictObject({
  display_name: displayName.optional(),
  description: description.optional(),
  daily_budget_usd_micros: micros.optional(),
  is_active: isActive.optional(),
});
const planSchema = z
  .object({
    id: z.string(),
    tenant_id: z.string(),
    plan_key: planKey,
    display_name: z.string(),
    description: z.string(),
    daily_budget_usd_micros: micros,
    is_active: isActive,
    created_at: moment,
    updated_at: moment,
  })
  .meta({ id: 'PlanBudget' });

const ofWorkspace = z.object({ tenant_id: segments.tenant_id });
const ofPlan = z.object({ tenant_id: segments.tenant_id, plan_key: segments.plan_key });

/** The plans of the workspace, for owners. */
export function createPlanRoutes(store: PlanStore, plans: PlanUseCases): Route[] {
  return [...collectionRoutes(store, plans), ...planRoutes(plans)];
}

function collectionRoutes(store: PlanStore, plans: PlanUseCases): Route[] {
  const path = `${PREFIX}/plans`;
  return [
    defineRoute({
      method: 'get',
      path,
      operationId: 'listPlanBudgets',
      tag: TAG,
      summary: 'List the plans of the workspace',
      description: `By \`plan_key\`; a workspace has at most ${MAX_PLANS}.`,
      access: 'owner',
      params: ofWorkspace,
      responses: { 200: { description: 'The plans', schema: z.object({ items: z.array(planSchema) }) } },
      handler: async ({ caller, params }) => {
        const tenantId = workspaceOf(caller, params);
        const found = await store.list(tenantId);
        return { status: 200, body: { items: found.map((plan) => toPlanBody(tenantId, plan)) } };
      },
    }),
    defineRoute({
      method: 'post',
      audit: 'plan.create',
      path,
      operationId: 'createPlanBudget',
      tag: TAG,
      summary: 'Create a plan',
      description: 'The plan is active. 409 if the `plan_key` is taken. The key of a plan never changes.',
      access: 'owner',
      params: ofWorkspace,
      body: newPlan,
      responses: { 201: { description: 'The new plan', schema: planSchema } },
      handler: async ({ caller, params, body, cause }) => {
        const tenantId = workspaceOf(caller, params);
        const { plan_key: key, display_name, description: text, daily_budget_usd_micros } = body;
        const fields = {
          key,
          displayName: display_name,
          description: text,
          dailyBudgetMicros: daily_budget_usd_micros,
        };
        const plan = await plans.create(tenantId, fields, cause);
        return { status: 201, body: toPlanBody(tenantId, plan) };
      },
    }),
  ];
}

function planRoutes(plans: PlanUseCases): Route[] {
  const path = `${PREFIX}/plans/{plan_key}`;
  return [
    defineRoute({
      method: 'put',
      audit: 'plan.update',
      path,
      operationId: 'updatePlanBudget',
      tag: TAG,
      summary: 'Change a plan',
      description: 'Omitted fields do not change.',
      access: 'owner',
      params: ofPlan,
      body: planChanges,
      responses: { 200: { description: 'The plan as it is now', schema: planSchema } },
      handler: async ({ caller, params, body, cause }) => {
        const tenantId = workspaceOf(caller, params);
        const changes = {
          displayName: body.display_name,
          description: body.description,
          dailyBudgetMicros: body.daily_budget_usd_micros,
          isActive: body.is_active,
        };
        const plan = await plans.update(tenantId, params.plan_key, changes, cause);
        return { status: 200, body: toPlanBody(tenantId, plan) };
      },
    }),
    defineRoute({
      method: 'delete',
      audit: 'plan.delete',
      path,
      operationId: 'deletePlanBudget',
      tag: TAG,
      summary: 'Delete a plan',
      description: 'The `plan_key` can be reused immediately.',
      access: 'owner',
      params: ofPlan,
      responses: { 204: { description: 'The plan is deleted' } },
      handler: async ({ caller, params, cause }) => {
        await plans.delete(workspaceOf(caller, params), params.plan_key, cause);
        return { status: 204 };
      },
    }),
  ];
}

function toPlanBody(tenantId: string, plan: Plan): z.infer<typeof planSchema> {
  return {
    id: plan.id,
    tenant_id: tenantId,
    plan_key: plan.key,
    display_name: plan.displayName,
    description: plan.description,
    daily_budget_usd_micros: plan.dailyBudgetMicros,
    is_active: plan.isActive,
    created_at: plan.createdAt.toISOString(),
    updated_at: plan.updatedAt.toISOString(),
  };
}
