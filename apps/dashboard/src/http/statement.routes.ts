import {
  budgetEach,
  budgetId,
  budgetPeriod,
  identifier,
  micros,
  timestamp,
  toBudgetPeriodBody,
} from '@tollkeeper/contracts';
import { defineRoute, type Route } from '@tollkeeper/http';
import { roundTo2 } from '@tollkeeper/kernel';
import { z } from 'zod';
import { UNKNOWN_SPEND } from '../domain/budget.spend.ts';
import {
  type Statement,
  STATEMENT_ROWS,
  type StatementBudget,
  type Statements,
  type StatementTable,
  usedOf,
} from '../domain/statement.ts';
import type { Tally } from '../domain/tally.ts';
import { toBlocked, toName, toSum, toTimestamp, toUnknownSpend, toWindow } from './bodies.ts';
import { blockedCalls, count, otherMark, percent, unknownSpend, windowSchema } from './schemas.ts';

const month = z
  .string()
  .regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'must be a year and a month, such as 2026-11')
  .meta({ example: '2026-11' });

const spend = {
  total_micros: micros,
  previous_micros: micros.meta({ description: 'In `previous`' }),
  share_pct: percent.meta({ description: 'Share of the spend of the month, 2 decimals' }),
};

const table = z
  .object({
    by: z.string().meta({ description: '`plan`, `agent`, or a tracked label as `label:team`', example: 'agent' }),
    rows: z
      .array(
        z.object({
          key: z.string().nullable().meta({
            description:
              'The `plan_key`, the `agent_id` or the value of the label. Null for calls that name none, and for those from before the label was tracked',
          }),
          display_name: z.string().optional().meta({ description: 'Of agents' }),
          ...otherMark,
          ...spend,
        }),
      )
      .meta({ description: `The ${STATEMENT_ROWS} that spent most, largest first` }),
    others: z
      .object({ count: count.meta({ description: 'How many there are' }), ...spend })
      .nullable()
      .meta({ description: 'All further ones; null without any' }),
  })
  .meta({ id: 'StatementTable' });

const budgetRow = z
  .object({
    budget_id: budgetId,
    budget_name: z.string().meta({ description: 'Of a daily budget of a plan, its `plan_key`' }),
    limit_micros: micros.meta({ description: 'The limit of a period, as it is now' }),
    period: budgetPeriod.nullable().meta({ description: 'Null for a kind of a newer release' }),
    month_limit_micros: micros.nullable().meta({
      description:
        'What the limit comes to over the whole month: once for each of its periods. A period that lies partly in the month counts by the length of that part, so a third of a quarter. Without raises',
    }),
    each: z.string().nullable().meta({ description: budgetEach.meta()?.description }),
    value: z.string().nullable().meta({ description: 'With `each`: the value that spent most' }),
    values: count.nullable().meta({ description: 'With `each`: number of values with spend' }),
    spent_micros: micros.nullable().meta({
      description:
        'What the calls that it selects cost in the month, with `each` those of `value`. Null with `unknown`',
    }),
    used_pct: percent.nullable().meta({ description: 'Share of `month_limit_micros`, 2 decimals' }),
    unknown: z
      .enum([...UNKNOWN_SPEND, 'part_of_month'])
      .optional()
      .meta({
        description:
          'Why its spend is not known: as for budget medians; or `part_of_month`, for a budget that is for a part of the month only',
      }),
  })
  .meta({ id: 'StatementBudget' });

const raiseRow = z
  .object({
    raise_id: identifier,
    budget_id: budgetId,
    budget_name: z.string(),
    value: z.string().nullable(),
    extra_micros: micros,
    asked_by: z.string(),
    granted_by: z.string(),
    granted_at: timestamp,
    until: timestamp.meta({ description: 'When it ends, or was ended' }),
  })
  .meta({ id: 'StatementRaise' });

const statementSchema = z
  .object({
    month,
    window: windowSchema,
    complete: z.boolean().meta({
      description:
        'Whether the month has ended. If not, the window ends now. Late calls and corrections can change it later',
    }),
    previous: z.object({ start: timestamp, end: timestamp }).meta({
      description: 'The month before; while the month is running, up to the same day and time',
    }),
    total: z.object({
      total_micros: micros.meta({ description: 'The same as that of `/spend` of the window' }),
      previous_micros: micros,
      unique_settlements: count,
      previous_settlements: count,
      ...unknownSpend,
    }),
    tables: z.array(table).meta({ description: 'By plan, by agent, and by each tracked label' }),
    budgets: z.object({
      rows: z.array(budgetRow).meta({ description: 'Those that used most of their limits' }),
      others: z.object({ count }).meta({ description: 'The further ones' }),
    }),
    raises: z
      .object({
        rows: z.array(raiseRow),
        others: z.object({ count, extra_micros: micros }),
      })
      .meta({ description: 'Raises that were granted in the month, the largest amounts first' }),
    blocked: z.object({
      ...blockedCalls,
      previous: z.object(blockedCalls),
      reasons: z
        .array(
          z.object({
            by: z.enum(['budget', 'pause', 'guard']),
            name: z.string().meta({ description: 'The name of the budget or guard, or the reason of the pause' }),
            calls: count,
          }),
        )
        .meta({ description: 'What blocked most calls' }),
      others: z.object({ calls: count }).meta({
        description:
          'Calls that anything else blocked, or whose reason is not counted: of each kind, only the newest 50,000 events that are stored',
      }),
    }),
  })
  .meta({ id: 'Statement' });
type StatementBody = z.output<typeof statementSchema>;

/** The statement of a month. */
export function createStatementRoute(statements: Statements): Route {
  return defineRoute({
    method: 'get',
    path: '/api/v1/dashboard/statement',
    operationId: 'getStatement',
    tag: 'Dashboard',
    summary: 'The statement of a month',
    description: `Spend beside that of the month before, budgets against spend, raises, and blocked calls, in the calendar of the workspace. Tables have at most ${STATEMENT_ROWS} rows and all others together, so that they add up to \`/spend\` of the window, to the micro. It has every call that was accepted before the request; 503 if they are not counted yet.`,
    access: 'member',
    query: z.object({
      month: month.optional().meta({ description: 'Default: the last month that has ended' }),
    }),
    responses: { 200: { description: 'The statement', schema: statementSchema } },
    handler: async ({ caller: { tenantId }, query, signal }) => {
      return { status: 200, body: toStatement(await statements.of(tenantId, query.month, signal)) };
    },
  });
}

function toStatement(statement: Statement): StatementBody {
  const { total, previous, previousSpan, raises, blocked, budgets } = statement;
  const shown = raises.largest.reduce((sum, { extraMicros }) => sum + extraMicros, 0);
  return {
    month: statement.month,
    window: toWindow({ kind: 'custom', ...statement.span, timezone: statement.timezone }),
    complete: statement.isComplete,
    previous: { start: toTimestamp(previousSpan.start), end: toTimestamp(previousSpan.end) },
    total: {
      total_micros: toSum(total.totalMicros),
      previous_micros: toSum(previous.totalMicros),
      unique_settlements: total.settlements,
      previous_settlements: previous.settlements,
      ...toUnknownSpend(total),
    },
    tables: statement.tables.map((each) => toTable(each, total)),
    budgets: { rows: budgets.rows.map(toBudgetRow), others: { count: budgets.others } },
    raises: {
      rows: raises.largest.map((raise) => ({
        ...{ raise_id: raise.raiseId, budget_id: raise.budgetId, budget_name: raise.budgetName, value: raise.value },
        ...{ extra_micros: raise.extraMicros, asked_by: raise.askedBy, granted_by: raise.grantedBy },
        ...{ granted_at: toTimestamp(raise.grantedAt), until: toTimestamp(raise.until) },
      })),
      others: { count: raises.count - raises.largest.length, extra_micros: Math.max(0, raises.micros - shown) },
    },
    blocked: {
      ...toBlocked(total),
      previous: toBlocked(previous),
      reasons: blocked.rows,
      others: { calls: blocked.others },
    },
  };
}

function toTable({ by, rows, others }: StatementTable, total: Tally): StatementBody['tables'][number] {
  const toSpend = ({ micros: spent, previousMicros }: { micros: number; previousMicros: number }) => ({
    total_micros: toSum(spent),
    previous_micros: toSum(previousMicros),
    share_pct: total.totalMicros === 0 ? 0 : roundTo2((spent / total.totalMicros) * 100),
  });
  return {
    by,
    rows: rows.map(({ key, name, ...row }) => ({
      ...toName('key', key),
      ...(name !== undefined && { display_name: name }),
      ...toSpend(row),
    })),
    others: others && { count: others.count, ...toSpend(others) },
  };
}

function toBudgetRow(budget: StatementBudget): StatementBody['budgets']['rows'][number] {
  const { unknown } = budget;
  const used = usedOf(budget);
  return {
    ...{ budget_id: budget.id, budget_name: budget.name, limit_micros: budget.limitMicros },
    period: budget.period && toBudgetPeriodBody(budget.period),
    month_limit_micros: budget.monthMicros,
    ...{ each: budget.each, value: budget.value, values: budget.values },
    spent_micros: budget.spentMicros && toSum(budget.spentMicros),
    used_pct: used < 0 ? null : roundTo2(used * 100),
    ...(unknown !== null && { unknown }),
  };
}
