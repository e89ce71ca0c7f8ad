import { budgetId, micros } from '@tollkeeper/contracts';
import { defineRoute, type Route } from '@tollkeeper/http';
import type { Clock } from '@tollkeeper/kernel';
import { z } from 'zod';
import { MAX_GROUPS } from '../domain/breakdown.ts';
import {
  daysBefore,
  findMedians,
  MAX_MEDIAN_VALUES,
  MEDIAN_DAYS,
  type BudgetMedian,
} from '../domain/budget-medians.ts';
import { type BudgetList, UNKNOWN_SPEND } from '../domain/budget.spend.ts';
import type { Directory } from '../domain/directory.ts';
import type { Reads } from '../domain/reads.ts';
import { WHOLE_WORKSPACE, type Tallies } from '../domain/tallies.ts';
import type { TrackedLabels } from '../domain/tracked-labels.ts';
import { toSum, toWindow } from './bodies.ts';
import { windowSchema } from './schemas.ts';

const valueSchema = z.object({ value: z.string(), median_micros: micros });

const mediansSchema = z
  .object({
    window: windowSchema,
    items: z
      .array(
        z.object({
          budget_id: budgetId,
          median_micros: micros.nullable().meta({
            description:
              'What the calls that the budget selects cost on the median day. Null with `values` or `unknown`',
          }),
          values: z
            .array(valueSchema)
            .optional()
            .meta({
              description: `For a budget with a limit for each value: the ${MAX_MEDIAN_VALUES} values with the most spend, largest first. Values without spend are not listed`,
            }),
          more_values: z.literal(true).optional().meta({ description: 'True if there are further values with spend' }),
          unknown: z.enum(UNKNOWN_SPEND).optional().meta({
            description:
              'Why there is no median. `not_counted`: the budget selects by provider or workspace key, or by several of agent, model, plan and labels, which are counted separately. `label_not_tracked`: an owner can add the label to `tracked_labels`. `too_many_values`: not all of the models, plans or values of the label are counted separately',
          }),
        }),
      )
      .meta({ description: 'The daily budgets, then the active ones with a selector' }),
  })
  .meta({ id: 'BudgetMedians' });

interface MediansDeps {
  reads: Reads;
  tallies: Tallies;
  budgetList: BudgetList;
  directory: Directory;
  trackedLabels: TrackedLabels;
  clock: Clock;
}

/** What budgets would have counted on a median day. */
export function createMediansRoute(deps: MediansDeps): Route {
  const { reads, tallies, budgetList, directory, trackedLabels, clock } = deps;
  return defineRoute({
    method: 'get',
    path: '/api/v1/dashboard/budget-medians',
    operationId: 'listBudgetMedians',
    tag: 'Dashboard',
    summary: 'What each budget would have counted on a median day',
    description: `The median over the last ${MEDIAN_DAYS} whole days of the workspace, including days without spend, whatever the period of the budget. Labels count since they are tracked.`,
    access: 'member',
    responses: { 200: { description: 'The medians', schema: mediansSchema } },
    async handler({ caller: { tenantId }, signal }) {
      const [timezone, budgets, tracked] = await Promise.all([
        directory.timezone(tenantId),
        budgetList.of(tenantId),
        trackedLabels.of(tenantId),
      ]);
      const days = daysBefore(clock(), timezone);
      const medians = await findMedians(budgets, tracked, (division, work) =>
        reads.run({ tenantId, kind: `budget medians by ${division}`, signal }, (meter) =>
          work({
            ofWorkspace: async () =>
              (await tallies.ofSpans(tenantId, WHOLE_WORKSPACE, days, meter)).map(({ totalMicros }) => totalMicros),
            by: (grouping) => tallies.breakdown(tenantId, grouping, days, MAX_GROUPS, meter),
          }),
        ),
      );
      const window = { kind: 'custom' as const, start: days[0]!.start, end: days.at(-1)!.end, timezone };
      return { status: 200, body: { window: toWindow(window), items: medians.map(toMedian) } };
    },
  });
}

function toMedian(median: BudgetMedian): z.output<typeof mediansSchema>['items'][number] {
  const { id: budget_id } = median;
  if ('micros' in median) return { budget_id, median_micros: toSum(median.micros) };
  if ('unknown' in median) return { budget_id, median_micros: null, unknown: median.unknown };
  return {
    budget_id,
    median_micros: null,
    values: median.values.map(({ value, micros: each }) => ({ value, median_micros: toSum(each) })),
    ...(median.more && { more_values: true as const }),
  };
}
