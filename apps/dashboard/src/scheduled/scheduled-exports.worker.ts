import { randomUUID } from 'node:crypto';
import { AppError, type Clock, type TenantId, type TimeSpan } from '@tollkeeper/kernel';
import type { HttpsExchange } from '@tollkeeper/net';
import { createLoop, type Logger, type Loop, type Metrics } from '@tollkeeper/runtime';
import type { Directory } from '../domain/directory.ts';
import { EXPORT_FORMATS, type ExportFormat, type ExportGroupBy } from '../domain/exports.ts';
import { objectKeyOf, type ScheduleCalendar, scheduleCalendar } from '../domain/schedule.ts';
import {
  type ExportSettings,
  MAX_RESULTS,
  type Schedule,
  type ScheduleClaims,
  type ScheduledExportStore,
  type ScheduleProgress,
  type ScheduleResult,
} from '../domain/scheduled-exports.ts';
import { BucketFailure, createObjectStore, UPLOAD_WAITS_MS } from './s3.ts';
import { uploadText } from './upload.ts';

/** What is exported: the spend of the whole workspace. */
export interface ScheduledFile {
  tenantId: TenantId;
  span: TimeSpan;
  timezone: string;
  format: ExportFormat;
  groupBy: ExportGroupBy | null;
}

export interface ScheduledExporterDeps {
  store: Pick<ScheduledExportStore, 'settings'> & ScheduleClaims;
  directory: Pick<Directory, 'timezone'>;
  /** The text of a file, as `/export` has it. */
  textOf(file: ScheduledFile, signal: AbortSignal): Promise<AsyncIterable<string>>;
  exchange: HttpsExchange;
  clock: Clock;
  logger: Logger;
  metrics: Metrics;
}

/** Files in progress per process, and those of them whose last attempt has failed, so that others get a place. */
const PLACES = 4;
const RETRY_PLACES = 2;
/** How often a process looks for files that are due. */
const EVERY_MS = 2_000;
/** How often a process says that it still works on a file. */
const KEEP_EVERY_MS = 20_000;
/** A server that takes longer for one file fails, so that others get a place. */
const ATTEMPT_MS = 30 * 60_000;
/** While another export of the workspace is in progress. */
const BUSY_MS = 10_000;
const RETRY_AFTER_MS = [10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000] as const;
/** After failing for so long, a file is given up, and the next one is tried. */
const GIVE_UP_MS = 7 * 86_400_000;

/** Sends the files that are due. Each replica has one: a file that a killed process was sending is begun again. */
export function createScheduledExporter(deps: ScheduledExporterDeps): Loop {
  const { store, logger } = deps;
  const total = deps.metrics.counter({
    name: 'dashboard_scheduled_exports_total',
    help: 'Attempts to send a file to a bucket, by schedule and outcome',
    labelNames: ['schedule', 'outcome'],
  });
  const stopping = new AbortController();
  const inProgress = new Map<TenantId, { isRetry: boolean; done: Promise<void> }>();

  async function work(claim: string, schedule: Schedule): Promise<void> {
    const settings = await store.settings(schedule.tenantId);
    // The schedule has just been removed.
    if (settings === null) return;
    const keeping = keepClaim(deps, claim, stopping.signal);
    const { signal } = keeping;
    const attempted = step({ ...deps, schedule, settings, claim, signal }, stopping.signal);
    const { outcome, progress } = await attempted.finally(keeping.stop);
    // If somebody else has the schedule now, what happened here does not count.
    if (await store.release(claim, progress)) total.inc({ schedule: schedule.kind, outcome });
  }

  async function begin(): Promise<boolean> {
    if (stopping.signal.aborted || inProgress.size >= PLACES) return false;
    const retries = [...inProgress.values()].filter(({ isRetry }) => isRetry).length;
    const claim = randomUUID();
    // A workspace exports one file at a time.
    const schedule = await store.claim(claim, [...inProgress.keys()], retries >= RETRY_PLACES);
    if (schedule === null) return false;
    const done = work(claim, schedule)
      .catch((err: unknown) => {
        logger.warn({ err, tenant_id: schedule.tenantId }, 'a scheduled export waits until its claim ends');
      })
      .finally(() => {
        inProgress.delete(schedule.tenantId);
        loop.wake();
      });
    inProgress.set(schedule.tenantId, { isRetry: schedule.failures > 0, done });
    return true;
  }

  const loop = createLoop({
    name: 'scheduled-exports',
    intervalMs: EVERY_MS,
    logger,
    async work() {
      while (await begin());
    },
  });
  return {
    name: loop.name,
    start: loop.start,
    wake: loop.wake,
    async stop() {
      stopping.abort(new Error('the process is stopping'));
      await loop.stop();
      await Promise.all([...inProgress.values()].map(({ done }) => done));
    },
  };
}

/** Says that this process still works on the schedule. The signal aborts when it must not any longer. */
function keepClaim({ store }: ScheduledExporterDeps, claim: string, stopping: AbortSignal) {
  const lost = new AbortController();
  async function keep(): Promise<void> {
    if (!(await store.keep(claim, {}))) lost.abort(takenOver());
  }
  // While the database does not answer, nothing is kept. Another process may then begin anew, with the same object.
  const timer = setInterval(() => void keep().catch(() => undefined), KEEP_EVERY_MS);
  const signal = AbortSignal.any([lost.signal, stopping, AbortSignal.timeout(ATTEMPT_MS)]);
  return { signal, stop: () => clearInterval(timer) };
}

function takenOver(): Error {
  return new Error('another process has the schedule');
}

interface Attempt extends ScheduledExporterDeps {
  schedule: Schedule;
  settings: ExportSettings;
  claim: string;
  signal: AbortSignal;
}

/** What an attempt has come to. */
interface Step {
  outcome: 'delivered' | 'failed' | 'given_up' | 'postponed';
  progress: Partial<ScheduleProgress>;
}

async function step(attempt: Attempt, stopping: AbortSignal): Promise<Step> {
  const { schedule, settings, clock, logger } = attempt;
  const { tenantId, kind, period } = schedule;
  try {
    const timezone = await attempt.directory.timezone(tenantId);
    return await sendIfDue(attempt, timezone, scheduleCalendar(kind, timezone, settings.timeOfDay));
  } catch (error) {
    const now = clock();
    if (stopping.aborted) return { outcome: 'postponed', progress: { dueAt: new Date(now) } };
    // Somebody of the workspace downloads an export.
    if (error instanceof AppError && error.code === 'rate_limited') {
      return { outcome: 'postponed', progress: { dueAt: new Date(now + BUSY_MS) } };
    }
    logger.warn({ err: error, tenant_id: tenantId, schedule: `${kind} ${period}` }, 'a scheduled export failed');
    const { failures, failingSince } = schedule;
    const since = failingSince ?? new Date(now);
    const problem = problemOf(error);
    // Input that is refused now, such as calls that have been removed, is refused later too.
    const isFinal = error instanceof AppError && error.code === 'invalid_request';
    if (isFinal || now - since.getTime() >= GIVE_UP_MS) {
      // The dates of periods are the same in all time zones.
      return giveUp(attempt, problem, scheduleCalendar(kind, 'UTC', settings.timeOfDay).next(period));
    }
    const waitMs = RETRY_AFTER_MS[Math.min(failures, RETRY_AFTER_MS.length - 1)]!;
    const dueAt = new Date(now + waitMs);
    return { outcome: 'failed', progress: { failures: failures + 1, failingSince: since, problem, dueAt } };
  }
}

async function sendIfDue(attempt: Attempt, timezone: string, calendar: ScheduleCalendar): Promise<Step> {
  const { schedule, clock } = attempt;
  const oldest = calendar.oldest(clock());
  if (schedule.period < oldest) {
    return giveUp(attempt, `No file from here until ${oldest} was sent, as that is too long ago.`, oldest);
  }
  const due = calendar.dueAt(schedule.period);
  if (!schedule.isAsked && due > clock()) return { outcome: 'postponed', progress: { dueAt: new Date(due) } };
  const objectKey = keyOf(attempt);
  const bytes = await send(attempt, objectKey, { timezone, span: calendar.spanOf(schedule.period) });
  // A file that was asked for before its time is sent again at its time, with the calls that came late.
  const period = due > clock() ? schedule.period : calendar.next(schedule.period);
  const result = { state: 'delivered', at: new Date(clock()), objectKey, bytes, problem: null } as const;
  return {
    outcome: 'delivered',
    progress: { ...ended(schedule, result), period, dueAt: new Date(calendar.dueAt(period)) },
  };
}

async function send(
  { schedule, settings, ...attempt }: Attempt,
  objectKey: string,
  { span, timezone }: { span: TimeSpan; timezone: string },
): Promise<number> {
  const { claim, signal, store, exchange } = attempt;
  const { tenantId, upload } = schedule;
  const bucket = createObjectStore({ exchange, destination: settings.destination, signal, waitsMs: UPLOAD_WAITS_MS });
  // What a killed process has left. It may have ended, and it may be in a bucket of earlier settings.
  if (upload !== null) await bucket.abort(upload.objectKey, upload.id).catch(ignoreFailure);
  const { format, groupBy } = settings;
  const text = await attempt.textOf({ tenantId, span, timezone, format, groupBy }, signal);
  let begun: string | undefined;
  try {
    const bytes = await uploadText(bucket, { key: objectKey, type: EXPORT_FORMATS[format].type }, text, async (id) => {
      begun = id;
      if (!(await store.keep(claim, { upload: { objectKey, id } }))) throw takenOver();
    });
    if (begun !== undefined) await store.keep(claim, { upload: null });
    return bytes;
  } catch (error) {
    if (begun !== undefined && !signal.aborted) await bucket.abort(objectKey, begun).catch(ignoreFailure);
    throw error;
  }
}

function ignoreFailure(error: unknown): void {
  if (!(error instanceof BucketFailure)) throw error;
}

function keyOf({ schedule, settings }: Attempt): string {
  const { extension } = EXPORT_FORMATS[settings.format];
  return objectKeyOf({ prefix: settings.prefix, extension }, schedule);
}

function giveUp(attempt: Attempt, problem: string, next: string): Step {
  const now = new Date(attempt.clock());
  const result = { state: 'given_up', at: now, objectKey: keyOf(attempt), bytes: null, problem } as const;
  return { outcome: 'given_up', progress: { ...ended(attempt.schedule, result), period: next, dueAt: now } };
}

/** The file of the period has ended. Its result replaces an earlier one. */
function ended({ period, results }: Schedule, result: Omit<ScheduleResult, 'period'>) {
  const others = results.filter((other) => other.period !== period);
  return {
    ...{ isAsked: false, failures: 0, failingSince: null, problem: null },
    results: [{ period, ...result }, ...others].slice(0, MAX_RESULTS),
  };
}

function problemOf(error: unknown): string {
  if (error instanceof AppError || error instanceof BucketFailure) return error.message;
  if (error instanceof Error && error.name === 'TimeoutError') {
    return 'The file was not sent within 30 minutes. Export less, or use a faster S3 server.';
  }
  return 'Something went wrong on our side. Look at the log of dashboard.';
}
