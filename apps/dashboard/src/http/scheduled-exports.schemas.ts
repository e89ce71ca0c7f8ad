import { isIP } from 'node:net';
import { timestamp } from '@tollkeeper/contracts';
import { z } from 'zod';
import { SCHEDULE_KINDS } from '../domain/schedule.ts';
import type { ExportSettings, Schedule } from '../domain/scheduled-exports.ts';
import { toTimestamp } from './bodies.ts';
import { exportFormat, exportGroupBy } from './export.schemas.ts';

const period = z.iso.date().meta({ description: 'The first local date of the day or month that the file has' });

/** Segments of dots alone would be resolved by URLs. */
const PREFIX = /^((?!\.{1,2}\/)[A-Za-z0-9._=-]+\/)*$/;

/** `allowsAddress` checks an address in the endpoint. What a name resolves to is checked when something is sent. */
export function settingsBodyOf(allowsAddress: (address: string) => boolean) {
  return z
    .strictObject({
      endpoint: endpointOf(allowsAddress),
      region: z
        .string()
        .regex(/^[a-z0-9-]{1,64}$/, 'must be 1 to 64 characters of a-z 0-9 -, such as eu-central-1')
        .meta({ description: 'The region of the bucket. Servers without regions take `us-east-1`' }),
      bucket: z
        .string()
        .regex(/^[a-z0-9][a-z0-9-]*(\.[a-z0-9-]+)*$/, 'must be 3 to 63 characters of a-z 0-9 . -')
        .min(3, 'must be at least 3 characters')
        .max(63, 'must be at most 63 characters'),
      prefix: z
        .string()
        .max(256, { error: 'must be at most 256 characters', abort: true })
        .regex(PREFIX, 'must be empty, or folders of A-Z a-z 0-9 . _ = - that each end with /, such as spend/')
        .default('')
        .meta({ description: 'The beginning of all object keys: empty, or folders that end with `/`' }),
      access_key_id: z.string().regex(/^[!-~]{1,128}$/, 'must be 1 to 128 characters of ASCII without spaces'),
      secret_access_key: z
        .string()
        .regex(/^[!-~]{1,256}$/, 'must be 1 to 256 characters of ASCII without spaces')
        .optional()
        .meta({ description: 'Never answered. Left out, it stays; another `endpoint` needs it again' }),
      format: exportFormat,
      group_by: exportGroupBy.nullable().default(null),
      time_of_day: z
        .string()
        .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time from 00:00 to 23:59')
        .meta({ description: 'When files are sent, in the time zone of the workspace', example: '08:00' }),
      schedules: z
        .array(z.enum(SCHEDULE_KINDS))
        .max(SCHEDULE_KINDS.length)
        .refine((kinds) => new Set(kinds).size === kinds.length, 'must not have a kind twice')
        .meta({
          description:
            '`daily`: a file of the day before, each day; `monthly`: a file of the month before, on its first day. None pauses exports',
        }),
    })
    .meta({ id: 'ExportSettingsBody' });
}
export type SettingsBody = z.output<ReturnType<typeof settingsBodyOf>>;

const NOT_AN_ORIGIN = 'must be an https:// address without a path, such as https://s3.eu-central-1.amazonaws.com';

function endpointOf(allowsAddress: (address: string) => boolean) {
  return z
    .string()
    .max(255, { error: 'must be at most 255 characters', abort: true })
    .check((ctx) => {
      const url = URL.parse(ctx.value);
      const host = url?.hostname.replace(/^\[|\]$/g, '') ?? '';
      const refuse = (message: string) => ctx.issues.push({ code: 'custom', input: ctx.value, message });
      if (url === null || url.protocol !== 'https:' || url.href !== `${url.origin}/`) refuse(NOT_AN_ORIGIN);
      else if (isIP(host) !== 0 && !allowsAddress(host)) {
        refuse('must not lead to a private, loopback, link-local or otherwise special address');
      } else ctx.value = url.origin;
    })
    .meta({ description: 'The https origin of the S3 server', example: 'https://s3.eu-central-1.amazonaws.com' });
}

const settingsSchema = z
  .object({
    endpoint: z.string(),
    region: z.string(),
    bucket: z.string(),
    prefix: z.string(),
    access_key_id: z.string(),
    format: exportFormat,
    group_by: exportGroupBy.nullable(),
    time_of_day: z.string(),
    schedules: z.array(z.enum(SCHEDULE_KINDS)),
    updated_at: timestamp,
  })
  .meta({ id: 'ExportSettings', description: 'What is exported on a schedule, and where to' });

export const scheduleSchema = z
  .object({
    kind: z.enum(SCHEDULE_KINDS),
    next_period: period,
    next_at: timestamp.meta({ description: 'When its file is sent, or tried again. In the past while it is sent' }),
    failing_since: timestamp.nullable(),
    problem: z.string().nullable().meta({ description: 'Why the last attempt failed, and what to do' }),
    results: z
      .array(
        z.object({
          period,
          state: z.enum(['delivered', 'given_up']).meta({ description: '`given_up`: it failed for seven days' }),
          at: timestamp,
          object_key: z.string(),
          bytes: z.int().min(0).nullable(),
          problem: z.string().nullable(),
        }),
      )
      .meta({ description: 'The last 20 files, newest first' }),
  })
  .meta({ id: 'ExportSchedule', description: 'The files of one kind, which are sent one after another' });

export const scheduledExportsSchema = z.object({
  settings: settingsSchema.nullable().meta({ description: 'Null: nothing is set up' }),
  schedules: z.array(scheduleSchema),
});

export const sendBody = z.strictObject({
  kind: z.enum(SCHEDULE_KINDS),
  from: period.optional().meta({
    description:
      'The first day or month to send, by a date in it: at most 31 days or 12 months back. All that follow are sent too. Default: the last that has ended',
  }),
});

export const testSchema = z.object({
  object_key: z.string().meta({ description: 'The object that was written' }),
});

export function toSettingsBody({ destination, ...settings }: ExportSettings): z.input<typeof settingsSchema> {
  const { endpoint, region, bucket, accessKeyId } = destination;
  return {
    ...{ endpoint, region, bucket, prefix: settings.prefix, access_key_id: accessKeyId },
    ...{ format: settings.format, group_by: settings.groupBy, time_of_day: settings.timeOfDay },
    ...{ schedules: settings.schedules, updated_at: toTimestamp(settings.updatedAt.getTime()) },
  };
}

export function toScheduleBody(schedule: Schedule): z.input<typeof scheduleSchema> {
  const { kind, period: next, dueAt, failingSince, problem, results } = schedule;
  return {
    ...{ kind, next_period: next, next_at: toTimestamp(dueAt.getTime()), problem },
    failing_since: failingSince === null ? null : toTimestamp(failingSince.getTime()),
    results: results.map(({ at, objectKey, ...result }) => ({
      ...{ ...result, at: toTimestamp(at.getTime()), object_key: objectKey },
    })),
  };
}
