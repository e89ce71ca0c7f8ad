import { canonicalTimezone, IDENTIFIER, ROLES } from '@tollkeeper/kernel';
import { z } from 'zod';

const TIMESTAMP =
  /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d{1,12}))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/**
 * Reads an RFC 3339 timestamp with any offset, and returns it as UTC with milliseconds (`2026-11-21T18:00:00.000Z`);
 * finer fractions are truncated. Null for anything else: nonexistent dates, leap seconds, missing offsets.
 */
export function toUtcTimestamp(text: string): string | null {
  const match = TIMESTAMP.exec(text);
  if (!match) return null;
  const [, date, time, fraction = '', sign, offsetHours, offsetMinutes] = match;
  const local = `${date}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
  const localMs = Date.parse(local);
  // Date turns 30 February into a day of March, so such a date reads back differently.
  if (Number.isNaN(localMs) || new Date(localMs).toISOString() !== local) return null;
  if (sign === undefined) return local;
  const offsetMs = (Number(offsetHours) * 60 + Number(offsetMinutes)) * 60_000;
  const utc = new Date(localMs - (sign === '-' ? -offsetMs : offsetMs)).toISOString();
  return utc.length === local.length ? utc : null;
}

/**
 * A text of 1 to `maxBytes` bytes in UTF-8, for names that become keys or are stored with each event: a limit in
 * characters would allow three times the bytes. OpenAPI only counts characters, so `maxLength` has the same number and
 * the description mentions bytes. Half of a surrogate pair is read as databases store it, so that a key is the same
 * before and after.
 */
export function boundedText(maxBytes: number) {
  const message = `must be at most ${maxBytes} bytes in UTF-8`;
  return z
    .string()
    .min(1, 'must not be empty')
    .max(maxBytes, { error: message, abort: true })
    .refine((text) => text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes, message)
    .overwrite((text) => text.toWellFormed())
    .meta({ description: `At most ${maxBytes} bytes in UTF-8` });
}

/** `agent_id`, `run_id`, `event_id`, `settlement_id`: ids chosen by callers. */
export const identifier = z
  .string()
  .regex(IDENTIFIER, 'must be 1 to 128 characters of A-Z a-z 0-9 . _ : -')
  .meta({ description: '1–128 characters of `A-Z a-z 0-9 . _ : -`', example: 'agent-7' });

/**
 * An amount in integer USD micros, 0 … 9 007 199 254 740 991: `z.int` accepts only integers that JSON carries exactly.
 */
export const micros = z
  .int()
  .min(0, 'must not be negative')
  .meta({ description: 'USD micros (millionths of a US dollar)', example: 1_250_000 });

/** A time as clients may write it; parsed to UTC with milliseconds (`toUtcTimestamp`). */
export const timestamp = z
  .string()
  .max(64, { abort: true })
  .check((ctx) => {
    const utc = toUtcTimestamp(ctx.value);
    if (utc !== null) ctx.value = utc;
    else {
      const message = 'must be an RFC 3339 timestamp with an offset, such as 2026-11-21T18:00:00.000Z';
      ctx.issues.push({ code: 'custom', input: ctx.value, message });
    }
  })
  .meta({ description: 'RFC 3339 timestamp', format: 'date-time', example: '2026-11-21T18:00:00.000Z' });

/** A time in answers and records: RFC 3339 UTC with milliseconds. */
export const moment = z.iso.datetime({ precision: 3 });

/** The name of an IANA time zone in any case; parsed to the spelling of IANA (`canonicalTimezone`). */
export const timezone = z
  .string()
  .min(1)
  .max(64, { abort: true })
  .check((ctx) => {
    const canonical = canonicalTimezone(ctx.value);
    if (canonical !== null) ctx.value = canonical;
    else {
      const message = 'must be an IANA time zone name, such as Europe/Zurich or UTC';
      ctx.issues.push({ code: 'custom', input: ctx.value, message });
    }
  })
  .meta({ description: 'IANA time zone name', example: 'Europe/Zurich' });

/** `plan_key`: the key of a plan, chosen by its owner. */
export const planKey = z
  .string()
  .max(64, 'must be at most 64 characters')
  .regex(/^[a-z0-9][a-z0-9_-]*$/, 'must start with a-z or 0-9, followed by a-z 0-9 _ -')
  .meta({ description: 'Key of a plan, unique in the workspace', example: 'research_tier' });

/**
 * A name for people: 1–120 characters, not blank, without control characters. The pattern appears in the OpenAPI
 * document, so it avoids Unicode property classes, which tools may not support.
 */
export const displayName = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(120, 'must be at most 120 characters')
  .regex(/^[ -~\u00a0-\uffff]*$/, 'must not contain control characters')
  .meta({ example: 'Research agent' });

/** A role in a workspace. */
export const workspaceRole = z.enum(ROLES).meta({
  id: 'WorkspaceRole',
  description:
    'member < admin < owner. finance reads what an owner reads, and changes nothing but exports and statements.',
});

/** The body of every error, except those of `POST /api/v1/execute`. */
export const errorBodySchema = z
  .object({
    error: z.string().meta({ description: 'What is wrong and what to do, for people' }),
    code: z.string().meta({ description: 'Stable code for programs', example: 'invalid_request' }),
    details: z
      .array(
        z.object({
          path: z.string().meta({ description: 'The field, such as `data.amount_micros` or `[3].time`' }),
          message: z.string().meta({ description: 'What is wrong with the field, and what it accepts' }),
        }),
      )
      .optional(),
    request_id: z.string().meta({ description: 'Also in the `X-Request-Id` header; quote it when asking for help' }),
  })
  .meta({ id: 'Error' });
