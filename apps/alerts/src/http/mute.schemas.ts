import { displayName, identifier, labelName, moment, timestamp, timezone } from '@tollkeeper/contracts';
import { patchShape } from '@tollkeeper/http';
import { z } from 'zod';
import { toTimestampOrNull } from '../domain/alert.record.ts';
import {
  type MaintenanceDraft,
  type MaintenanceWindow,
  MATCH_OPERATORS,
  MATCHED_FIELDS,
  type MatchedField,
  type Silence,
  SILENCE_STATES,
  stateOf,
} from '../domain/mute.ts';
import { MUTE_KINDS, type MutedBy } from '../domain/muted-by.ts';
import { WEEKDAYS } from '../domain/weekly.times.ts';

const MAX_MATCHERS = 10;
const LABEL = 'label:';
const FIELD = `must be ${MATCHED_FIELDS.join(', ')}, or label: and the name of a label, such as label:team`;

function toField(text: string): MatchedField | null {
  const known = MATCHED_FIELDS.find((each) => each === text);
  if (known !== undefined) return known;
  if (!text.startsWith(LABEL)) return null;
  const name = text.slice(LABEL.length);
  return labelName.safeParse(name).success ? `${LABEL}${name}` : null;
}

const field = z
  .string()
  .max(64, { error: FIELD, abort: true })
  .transform((text, ctx) => {
    const known = toField(text);
    if (known === null) ctx.issues.push({ code: 'custom', input: text, message: FIELD });
    return known ?? z.NEVER;
  })
  .meta({
    description:
      '`rule_id`, `rule_name`, `severity`, `agent_id`, or `label:` and the name of a label. An alert has the agent and ' +
      'the labels that its rule is restricted to, or that it names itself',
    example: 'label:team',
  });

const matchers = z
  .array(
    z.strictObject({
      field,
      op: z.enum(MATCH_OPERATORS),
      value: z
        .string()
        .min(1, 'must not be empty')
        .max(128, 'must be at most 128 characters')
        .meta({ description: 'A value, or the beginning of values followed by `*`', example: 'growth' }),
    }),
  )
  .max(MAX_MATCHERS, `must have at most ${MAX_MATCHERS} matchers`)
  .meta({
    description:
      'An alert must fit all of them; an empty list fits every alert. An alert without a value for the field fits `!=` ' +
      'and does not fit `=`',
  });

const reason = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(200, 'must be at most 200 characters')
  .meta({ description: 'Why. It is shown with each message that is held back', example: 'Load test until noon' });

const person = z.object({ id: z.string(), name: z.string() }).meta({ description: 'The user, with the name then' });

export const silenceBody = z
  .strictObject({
    matchers,
    starts_at: timestamp.optional().meta({ description: 'Now if it is left out or over; at most 31 days from now' }),
    ends_at: timestamp.meta({ description: 'At most 31 days after the start' }),
    reason,
  })
  .meta({ id: 'AlertSilenceInput' });

export const silencePatch = z
  .strictObject({ ends_at: timestamp.meta({ description: 'At most 31 days after the start' }) })
  .meta({ id: 'AlertSilencePatch' });

const matcherRecord = z.object({ field: z.string(), op: z.enum(MATCH_OPERATORS), value: z.string() });

export const silenceRecord = z
  .object({
    id: identifier,
    state: z.enum(SILENCE_STATES),
    matchers: z.array(matcherRecord),
    starts_at: moment,
    ends_at: moment,
    reason: z.string(),
    created_by: person,
    created_at: moment,
  })
  .meta({ id: 'AlertSilence' });

export function toSilenceRecord(silence: Silence, now: number): z.output<typeof silenceRecord> {
  const { id, matchers: made, startsAt, endsAt, reason: why, createdBy, createdAt } = silence;
  return {
    ...{ id, state: stateOf(silence, now), matchers: [...made], reason: why, created_by: createdBy },
    ...{ starts_at: startsAt.toISOString(), ends_at: endsAt.toISOString(), created_at: createdAt.toISOString() },
  };
}

const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day from 00:00 to 23:59');

const windowFields = {
  name: displayName.meta({ description: 'Unique in the workspace', example: 'Nightly batch' }),
  weekdays: z
    .array(z.enum(WEEKDAYS))
    .min(1, 'must have a weekday')
    .max(WEEKDAYS.length)
    .refine((days) => new Set(days).size === days.length, 'must not repeat a weekday')
    .meta({ description: 'The days on which it begins' }),
  start: timeOfDay.meta({ description: 'When it begins, in `time_zone`', example: '22:00' }),
  end: timeOfDay.meta({
    description: 'When it ends. If this is not after `start`, it is the end on the next day',
    example: '06:00',
  }),
  time_zone: timezone,
  matchers,
  reason,
};

export const windowBody = z.strictObject(windowFields).meta({ id: 'MaintenanceWindowInput' });
export const windowPatch = z
  .strictObject(patchShape(windowFields))
  .meta({ id: 'MaintenanceWindowPatch', description: 'A JSON Merge Patch (RFC 7396) of a maintenance window' });

export const windowRecord = z
  .object({
    id: identifier,
    ...{ name: z.string(), weekdays: z.array(z.enum(WEEKDAYS)), start: z.string(), end: z.string() },
    ...{ time_zone: z.string(), matchers: z.array(matcherRecord), reason: z.string() },
    ...{ created_by: person, created_at: moment },
  })
  .meta({ id: 'MaintenanceWindow' });

export function toWindowDraft({ time_zone: timeZone, ...body }: z.output<typeof windowBody>): MaintenanceDraft {
  return { ...body, timeZone };
}

/** The part of a window that people edit. */
export function fromWindowDraft(window: MaintenanceDraft): z.output<typeof windowBody> {
  const { name, weekdays, start, end, timeZone, matchers: made, reason: why } = window;
  return { name, weekdays: [...weekdays], start, end, time_zone: timeZone, matchers: [...made], reason: why };
}

export function toWindowRecord(window: MaintenanceWindow): z.output<typeof windowRecord> {
  const { id, createdBy, createdAt } = window;
  return { id, ...fromWindowDraft(window), created_by: createdBy, created_at: createdAt.toISOString() };
}

/** What holds messages back, as alerts and their deliveries show it. */
export const mutedBy = z
  .object({
    kind: z.enum(MUTE_KINDS).meta({ description: 'A silence, or a maintenance window' }),
    id: z.string().meta({ description: 'Id of the silence or window' }),
    reason: z.string(),
    created_by: person,
    until: moment.nullable().meta({ description: 'When it ends unless somebody changes it; null if it never does' }),
  })
  .meta({ id: 'AlertMutedBy' });

export function toMutedBy({ kind, id, reason: why, createdBy, until }: MutedBy): z.output<typeof mutedBy> {
  return { kind, id, reason: why, created_by: createdBy, until: toTimestampOrNull(until) };
}
