import { budgetTerms, identifier, micros, planKey, timestamp, timezone, toBudgetPeriod } from '@tollkeeper/contracts';
import { defineRoute, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import { type BudgetPreview, type BudgetPreviews, PREVIEW_LIMITS } from '../domain/budget.previews.ts';
import { type CallSums, type ExceedingCall, type PlannedBudget, REPLAY_LIMITS } from '../domain/budget.replay.ts';
import type { Directory } from '../domain/directory.ts';
import { toSum, toTimestamp } from './bodies.ts';
import { callFields } from './schemas.ts';

const count = z.int().min(0);
const sumFields = {
  calls: count.meta({ description: 'Settled calls' }),
  total_micros: micros.meta({ description: 'What they cost, in USD micros' }),
  exceeding_calls: count.meta({ description: 'Those of them beyond the limit and its grace' }),
  exceeding_micros: micros.meta({ description: 'What these cost, in USD micros' }),
};

const terms = budgetTerms.meta({ id: 'BudgetTerms', description: 'A budget that could be created, without its name' });

const exceedingSchema = z.object({
  settlement_id: identifier,
  occurred_at: timestamp,
  agent_id: identifier,
  display_name: z.string(),
  plan_key: planKey.optional(),
  ...callFields,
  amount_micros: micros,
  value: z.string().nullable().meta({ description: 'The value of `each`, whose limit it is. Null without `each`' }),
  period: z.object({ start: timestamp, end: timestamp }).meta({ description: 'The period of the limit' }),
  spent_micros: micros.meta({ description: 'What counted in the period before the call' }),
});

const previewSchema = z
  .object({
    window: z
      .object({ start: timestamp, end: timestamp, timezone })
      .meta({ description: 'Today and the six days before, up to now, in the time zone of the workspace' }),
    read_until: timestamp.meta({
      description:
        `Calls before this time were considered. Earlier than the end of the window if there are more calls than a ` +
        `preview reads: ${PREVIEW_LIMITS.settlements.toLocaleString('en')} calls, for ${PREVIEW_LIMITS.ms / 1000} seconds, ` +
        `with ${REPLAY_LIMITS.values.toLocaleString('en')} values of \`each\``,
    }),
    is_partial: z.boolean().meta({ description: 'Whether calls of the window were not considered' }),
    counted_from: timestamp.meta({
      description: 'Since when spend counts. Before the window if a period of the budget began earlier',
    }),
    misses_earlier_spend: z.boolean().meta({
      description:
        'Whether that period began even before `counted_from`, because there are too many earlier calls, or they have ' +
        'been removed. Then more calls may be beyond the limit than the preview says',
    }),
    ...sumFields,
    limits: count.meta({ description: 'Number of limits with calls: one for each value of `each`' }),
    values: z
      .array(
        z.object({
          value: z.string(),
          display_name: z.string().optional().meta({ description: 'Of agents' }),
          ...sumFields,
        }),
      )
      .meta({
        description: `The ${REPLAY_LIMITS.listedValues} values of \`each\` with the most calls beyond their limit, most first`,
      }),
    exceeding: z
      .array(exceedingSchema)
      .meta({ description: `The newest ${REPLAY_LIMITS.listedCalls} calls beyond the limit, newest first` }),
  })
  .meta({ id: 'BudgetPreview' });

interface PreviewDeps {
  previews: BudgetPreviews;
  directory: Directory;
}

/** What a budget would have done, before it is created. */
export function createPreviewRoutes({ previews, directory }: PreviewDeps): Route[] {
  return [
    defineRoute({
      method: 'post',
      audit: { unaudited: 'It changes nothing' },
      path: '/api/v1/dashboard/budget-preview',
      operationId: 'previewBudget',
      tag: 'Dashboard',
      summary: 'See which calls of the last days a budget would have stopped',
      description:
        'Replays the settled calls of the last seven days as if the budget had been created then. A call is beyond the ' +
        'limit if it would bring the spend of its period over the limit and its grace: `deny` would have stopped it, ' +
        'and `warn` only reported it. What `deny` stops is not spent. A preview changes nothing. It does not know ' +
        'calls that were blocked, amounts that reservations held, and estimates above what calls cost. Each call ' +
        'counts when it was settled, in the calendar that the workspace has now, with the labels that it had then. ' +
        'Other budgets are not considered, so `overrides` has no effect here.',
      access: 'member',
      body: terms,
      responses: { 200: { description: 'The preview', schema: previewSchema } },
      async handler({ caller: { tenantId }, body, signal }) {
        const timezone = await directory.timezone(tenantId);
        const preview = await previews.preview(tenantId, toPlanned(body), timezone, signal);
        const ofAgents = body.each === EACH_AGENT ? preview.values.map(({ value }) => value!) : [];
        const agentIds = [...ofAgents, ...preview.exceeding.map(({ event }) => event.data.agent_id!)];
        const names = await directory.displayNames(tenantId, [...new Set(agentIds)]);
        return { status: 200, body: toBody(preview, timezone, { names, namesValues: ofAgents.length > 0 }) };
      },
    }),
  ];
}

const EACH_AGENT: PlannedBudget['each'] = 'agent';

function toPlanned(body: z.output<typeof budgetTerms>): PlannedBudget {
  return {
    selector: body.selector,
    each: body.each,
    period: toBudgetPeriod(body.period),
    limitMicros: body.limit_micros,
    gracePercent: body.grace_percent,
    denies: DENIES[body.action],
  };
}

const DENIES: Record<z.output<typeof budgetTerms>['action'], boolean> = { deny: true, warn: false };

interface Names {
  names: ReadonlyMap<string, string>;
  /** Whether the values are agents. */
  namesValues: boolean;
}

function toBody(
  { window, readUntil, countedFrom, countsWholePeriod, sums, limits, values, exceeding }: BudgetPreview,
  timezone: string,
  { names, namesValues }: Names,
): z.output<typeof previewSchema> {
  return {
    window: { start: toTimestamp(window.start), end: toTimestamp(window.end), timezone },
    read_until: toTimestamp(readUntil),
    is_partial: readUntil < window.end,
    counted_from: toTimestamp(countedFrom),
    misses_earlier_spend: !countsWholePeriod,
    ...toSums(sums),
    limits,
    values: values.map(({ value, ...ofValue }) => ({
      value: value!,
      ...(namesValues && { display_name: names.get(value!) ?? value! }),
      ...toSums(ofValue),
    })),
    exceeding: exceeding.map((call) => toExceeding(call, names)),
  };
}

function toSums({ calls, micros, exceedingCalls, exceedingMicros }: CallSums) {
  return {
    calls,
    total_micros: toSum(micros),
    exceeding_calls: exceedingCalls,
    exceeding_micros: toSum(exceedingMicros),
  };
}

function toExceeding({ event: { time, data }, value, period, spentMicros }: ExceedingCall, names: Names['names']) {
  const { settlement_id = '', agent_id = '', plan_key, model, provider, labels, key_id, amount_micros = 0 } = data;
  return {
    ...{ settlement_id, occurred_at: toTimestamp(time), agent_id, display_name: names.get(agent_id) ?? agent_id },
    ...{ plan_key, model, provider, labels, key_id, amount_micros, value },
    period: { start: toTimestamp(period.start), end: toTimestamp(period.end) },
    spent_micros: toSum(spentMicros),
  };
}
