import { fromCursor, identifier, invalidRequest, LIMIT_SCOPES, micros, moment, toCursor } from '@tollkeeper/contracts';
import { defineRoute, integerQuery, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import type { BudgetChange, BudgetHistory, ChangePlace } from '../domain/history.ts';
import { PREFIX, segments, TAG, workspaceOf } from './paths.ts';

const amount = micros.nullable();
const changeSchema = z
  .object({
    scope: z
      .enum(LIMIT_SCOPES)
      .meta({ description: '`budget`: a budget of `/api/v1/budgets` that is not a daily one' }),
    scope_id: z.string().meta({ description: 'The `agent_id`, the `plan_key`, or the id of the budget or workspace' }),
    previous_daily_budget_usd_micros: amount.meta({
      description: 'The limit before. Null if none was set, or if the plan or budget was created',
    }),
    daily_budget_usd_micros: amount.meta({
      description: 'The limit, of a day or of the period of the budget. Null if it was removed or deleted',
    }),
    changed_by: z.string().meta({ description: 'Id of the user', example: 'user_4fG0aZ8kQ2mN6pR1tV5x' }),
    changed_at: moment,
  })
  .meta({ id: 'BudgetChange' });
const changePage = z.object({
  items: z.array(changeSchema).meta({ description: 'Newest first' }),
  next_cursor: z.string().nullable().meta({ description: 'The `cursor` of the next page; null on the last page' }),
});

const ofWorkspace = z.object({ tenant_id: segments.tenant_id });
const historyQuery = z.object({
  scope: z.enum(LIMIT_SCOPES).optional().meta({ description: 'Only changes of budgets of this scope' }),
  scope_id: identifier.optional().meta({
    description:
      'Only changes of this agent, plan, budget or workspace, by its `agent_id`, `plan_key` or id. Needs `scope`',
  }),
  limit: integerQuery({ min: 1, max: 100, default: 50, description: 'Maximum number of items on a page' }),
  cursor: z.string().max(1024).optional().meta({ description: 'The `next_cursor` of the previous page' }),
});

/** Who changed which limit, for owners. */
export function createHistoryRoutes(history: BudgetHistory): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: `${PREFIX}/history`,
      operationId: 'listBudgetChanges',
      tag: TAG,
      summary: 'List changes of the limits of budgets, newest first',
      description: 'Covers the last 400 days. Changes of anything but the limit, such as `is_active`, are not listed.',
      access: 'owner',
      params: ofWorkspace,
      query: historyQuery,
      responses: { 200: { description: 'A page', schema: changePage } },
      handler: async ({ caller, params, query }) => {
        const tenantId = workspaceOf(caller, params);
        const { scope, scope_id: scopeId, limit, cursor } = query;
        if (scope === undefined && scopeId !== undefined) {
          throw invalidRequest([{ path: 'scope', message: 'is required with scope_id' }], 1);
        }
        const filter = scope === undefined ? {} : { scope, scopeId };
        const after = cursor === undefined ? undefined : placeOf(cursor);
        const { changes, next } = await history.list(tenantId, filter, { limit, after });
        return {
          status: 200,
          body: { items: changes.map(toChangeBody), next_cursor: next && toCursor(next.time, next.id) },
        };
      },
    }),
  ];
}

function toChangeBody(change: BudgetChange): z.infer<typeof changeSchema> {
  return {
    scope: change.scope,
    scope_id: change.scopeId,
    previous_daily_budget_usd_micros: change.previousMicros,
    daily_budget_usd_micros: change.dailyBudgetMicros,
    changed_by: change.changedBy,
    changed_at: change.changedAt.toISOString(),
  };
}

function placeOf(cursor: string): ChangePlace {
  const [time, id] = fromCursor(cursor, /^[0-9a-f]{24}$/);
  return { time, id };
}
