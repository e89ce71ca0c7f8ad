import {
  budgetAction,
  budgetEach,
  budgetId,
  budgetOverrides,
  budgetPeriod,
  budgetSelector,
  budgetTerms,
  displayName,
  gracePercent,
  labelName,
  raisedLimit,
  MAX_TOLD_AT,
  MAX_TOLD_PERCENT,
  moment,
  timestamp,
  TOLD_AT,
  toBudgetPeriod,
  toBudgetPeriodBody,
} from '@tollkeeper/contracts';
import { mergePatch, parseMerged, patchShape } from '@tollkeeper/http';
import { BUDGET_PERIODS } from '@tollkeeper/kernel';
import { z } from 'zod';
import type { BudgetDraft } from '../domain/budget.ts';
import { type ListedBudget, ORIGINS } from '../domain/listed-budget.ts';
import type { Raised } from '../domain/raise.ts';
import { descriptionText } from './fields.ts';

const name = displayName.meta({ example: 'Claude, per user' });
const description = descriptionText.meta({ description: 'Purpose of the budget' });
const PERCENT = 'must be a whole percentage from 1 to 100 + grace_percent';
const percent = z.int().min(1, PERCENT).max(MAX_TOLD_PERCENT, PERCENT);
const tellAt = z
  .array(percent)
  .min(1, 'must have a percentage; use null for the default')
  .max(MAX_TOLD_AT, `must have at most ${MAX_TOLD_AT} percentages`)
  .refine((all) => new Set(all).size === all.length, 'must not repeat a percentage')
  .meta({
    description:
      `Percentages of the limit that are reported when spend reaches them, up to 100 + \`grace_percent\`. ` +
      `Null: ${TOLD_AT.join(', ')}, and the end of the grace`,
    example: [90, 100],
  });
const isActive = z
  .boolean()
  .meta({ description: 'Whether the budget applies. For a plan: whether calls may be made under it' });

type GraceAndTellAt = { grace_percent: number; tell_at: number[] | null };

function checkTellAt({ grace_percent: grace, tell_at: percents }: GraceAndTellAt, { issues }: z.RefinementCtx): void {
  const max = 100 + grace;
  if (percents === null || percents.every((each) => each <= max)) return;
  const message = `must be at most ${max}, which is 100 + grace_percent`;
  issues.push({ code: 'custom', input: percents, path: ['tell_at'], message });
}

/** The fields of the check, which runs if these are valid, even if others are not. */
const graceAndTellAt = z.object({ grace_percent: gracePercent, tell_at: tellAt });

/** A complete budget, as people send it. */
export const budgetBody = z
  .strictObject({
    name,
    description: description.default(''),
    ...budgetTerms.shape,
    tell_at: tellAt.nullable().default(null),
    is_active: isActive.default(true),
  })
  .superRefine(checkTellAt, { when: ({ value }) => graceAndTellAt.safeParse(value).success })
  .meta({ id: 'BudgetInput' });

const EVERY_CALL = 'must be an object. To count every call, set each of its fields to null';

/** The fields that a merge of objects can change one by one; {@link budgetBody} checks the result. */
export const budgetPatch = z
  .strictObject({
    ...patchShape({
      ...budgetBody.shape,
      description,
      each: budgetEach,
      overrides: budgetOverrides,
      period: z.strictObject(
        patchShape({
          kind: z.enum(BUDGET_PERIODS),
          start_month: z.int(),
          start_day: z.int(),
          start: timestamp,
          end: timestamp,
          seconds: z.int(),
        }),
      ),
      action: budgetAction,
      grace_percent: gracePercent,
      tell_at: tellAt,
      is_active: isActive,
    }),
    // Null would remove all conditions at once, so that the budget counts every call.
    selector: z
      .strictObject(
        patchShape({ ...budgetSelector.shape, labels: z.record(labelName, z.string().max(128).nullable()) }),
        { error: ({ code }) => (code === 'invalid_type' ? EVERY_CALL : undefined) },
      )
      .optional(),
  })
  .meta({ id: 'BudgetPatch', description: 'A JSON Merge Patch (RFC 7396) of a budget' });

export const budgetRecord = z
  .object({
    id: budgetId,
    name,
    description,
    selector: budgetSelector,
    each: z.string().nullable().meta({ description: budgetEach.meta()?.description }),
    overrides: budgetOverrides.nullable(),
    period: budgetPeriod,
    limit_micros: budgetTerms.shape.limit_micros,
    ...raisedLimit,
    action: budgetAction,
    grace_percent: gracePercent,
    tell_at: tellAt.nullable(),
    is_active: isActive,
    origin: z.enum(ORIGINS).exclude(['none']).nullable().meta({
      description: 'The daily budget that this is: of the workspace, an agent or a plan. Null if it is none of them',
    }),
    created_at: moment.nullable().meta({ description: 'Null for the daily budgets of the workspace and of agents' }),
    updated_at: moment.nullable().meta({ description: 'Null for the daily budget of the workspace' }),
  })
  .meta({ id: 'Budget' });

export function toDraft(body: z.output<typeof budgetBody>): BudgetDraft {
  const { labels = {}, ...exact } = body.selector;
  return {
    name: body.name,
    description: body.description,
    // Without labels that select nothing, so that equal selectors are equal.
    selector: Object.keys(labels).length === 0 ? exact : { ...exact, labels },
    each: body.each,
    overrides: body.overrides,
    period: toBudgetPeriod(body.period),
    limitMicros: body.limit_micros,
    action: body.action,
    gracePercent: body.grace_percent,
    tellAt: body.tell_at && body.tell_at.toSorted((a, b) => a - b),
    isActive: body.is_active,
  };
}

/** The editable part of a budget. */
function fromDraft(draft: BudgetDraft) {
  return {
    name: draft.name,
    description: draft.description,
    selector: draft.selector,
    each: draft.each,
    overrides: draft.overrides,
    period: toBudgetPeriodBody(draft.period),
    limit_micros: draft.limitMicros,
    action: draft.action,
    grace_percent: draft.gracePercent,
    tell_at: draft.tellAt && [...draft.tellAt],
    is_active: draft.isActive,
  };
}

/** The budget changed by a merge patch. Throws `invalid_request` if it would not be valid. */
export function patched(current: BudgetDraft, patch: z.output<typeof budgetPatch>): BudgetDraft {
  const body = fromDraft(current);
  // A period of another kind has other fields, so it replaces the old one as a whole.
  const keepsKind = (patch.period?.kind ?? body.period.kind) === body.period.kind;
  const base = keepsKind ? body : { ...body, period: {} };
  return toDraft(parseMerged(budgetBody, mergePatch(base, patch)));
}

export function toBudgetRecord(budget: ListedBudget, raised: Raised | undefined): z.output<typeof budgetRecord> {
  const { origin } = budget;
  return {
    id: budget.id,
    ...fromDraft(budget),
    ...(raised && { raised_micros: raised.micros, raised_until: raised.until.toISOString() }),
    origin: origin === 'none' ? null : origin,
    created_at: budget.createdAt?.toISOString() ?? null,
    updated_at: budget.updatedAt?.toISOString() ?? null,
  };
}
