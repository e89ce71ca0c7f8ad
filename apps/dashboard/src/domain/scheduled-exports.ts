import type { AuditedFields, Cause } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import type { ExportFormat, ExportGroupBy } from './exports.ts';
import type { ScheduleKind } from './schedule.ts';

/** A bucket of an S3-compatible server. */
export interface Bucket {
  /** An https origin. */
  endpoint: string;
  region: string;
  bucket: string;
  accessKeyId: string;
  /** Null if the key that it is encrypted with is not configured. */
  secretAccessKey: string | null;
}

/** What a workspace exports on a schedule, and where to. */
export interface ExportSettings {
  destination: Bucket;
  /** The beginning of all object keys: empty, or ends with a slash. */
  prefix: string;
  format: ExportFormat;
  groupBy: ExportGroupBy | null;
  /** `HH:MM`, in the time zone of the workspace. */
  timeOfDay: string;
  /** No kind pauses all exports. */
  schedules: ScheduleKind[];
  updatedAt: Date;
}

/** How the file of a period has ended. */
export interface ScheduleResult {
  period: string;
  state: 'delivered' | 'given_up';
  at: Date;
  objectKey: string;
  /** Null if it was given up. */
  bytes: number | null;
  problem: string | null;
}

/** An upload in parts that has not ended. The server keeps its parts until somebody aborts it. */
interface OpenUpload {
  objectKey: string;
  id: string;
}

/** The files of one kind. They are sent one after another. */
export interface Schedule {
  tenantId: TenantId;
  kind: ScheduleKind;
  /** The period whose file is next, by its first local date. */
  period: string;
  /** When to work on it. */
  dueAt: Date;
  /** Whether somebody wants the file now, and not only at its time. */
  isAsked: boolean;
  /** Since the first failure of this period in a row. */
  failingSince: Date | null;
  failures: number;
  problem: string | null;
  upload: OpenUpload | null;
  /** The last ones, newest first. */
  results: ScheduleResult[];
}

export const MAX_RESULTS = 20;

/** What changes while a process works on a schedule. */
export type ScheduleProgress = Pick<
  Schedule,
  'period' | 'dueAt' | 'isAsked' | 'failingSince' | 'failures' | 'problem' | 'results'
>;

export interface ScheduledExportStore {
  settings(tenantId: TenantId): Promise<ExportSettings | null>;
  /** In the order of `SCHEDULE_KINDS`. */
  schedules(tenantId: TenantId): Promise<Schedule[]>;
  /**
   * Saves what `decide` makes of the settings so far. Schedules keep their period; new ones begin with that of
   * `startOf`; those that are switched off are removed. A file in progress is sent again by the new settings.
   */
  save(
    tenantId: TenantId,
    decide: (before: ExportSettings | null) => ExportSettings,
    startOf: (kind: ScheduleKind) => string,
    cause: Cause,
  ): Promise<ExportSettings>;
  /** False if there are none. */
  remove(tenantId: TenantId, cause: Cause): Promise<boolean>;
  /** Sends files again from a period on. Null if the workspace has no such schedule. */
  ask(tenantId: TenantId, kind: ScheduleKind, period: string, cause: Cause): Promise<Schedule | null>;
  recordTest(tenantId: TenantId, settings: ExportSettings, cause: Cause): Promise<void>;
}

/** The store for processes that work on schedules. A claim is an id; only its holder can change the schedule. */
export interface ScheduleClaims {
  /**
   * The schedule that is due for the longest time, of another workspace than `others`. If `isFresh`, one whose last
   * attempt has not failed.
   */
  claim(claim: string, others: readonly TenantId[], isFresh: boolean): Promise<Schedule | null>;
  /** False if somebody else has the schedule, or it has ended. */
  keep(claim: string, fields: { upload?: OpenUpload | null }): Promise<boolean>;
  release(claim: string, progress: Partial<ScheduleProgress>): Promise<boolean>;
}

export function exportTarget(tenantId: TenantId, { destination }: ExportSettings) {
  return { type: 'export', id: tenantId, name: destination.bucket };
}

export const AUDITED_EXPORT: AuditedFields<ExportSettings> = {
  endpoint: ({ destination }) => destination.endpoint,
  region: ({ destination }) => destination.region,
  bucket: ({ destination }) => destination.bucket,
  prefix: ({ prefix }) => prefix,
  access_key_id: ({ destination }) => destination.accessKeyId,
  secret_access_key: { secret: ({ destination }) => destination.secretAccessKey },
  format: ({ format }) => format,
  group_by: ({ groupBy }) => groupBy,
  time_of_day: ({ timeOfDay }) => timeOfDay,
  schedules: ({ schedules }) => schedules,
};
