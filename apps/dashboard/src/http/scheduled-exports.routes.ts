import { defineRoute, type Route } from '@tollkeeper/http';
import { AppError, type Clock, type TenantId } from '@tollkeeper/kernel';
import type { Directory } from '../domain/directory.ts';
import { EXPORTED_CALLS } from '../domain/exports.ts';
import { scheduleCalendar, type ScheduleKind } from '../domain/schedule.ts';
import type { Bucket, ExportSettings, ScheduledExportStore } from '../domain/scheduled-exports.ts';
import {
  scheduledExportsSchema,
  scheduleSchema,
  sendBody,
  type SettingsBody,
  settingsBodyOf,
  testSchema,
  toScheduleBody,
  toSettingsBody,
} from './scheduled-exports.schemas.ts';
import { invalid, type Selection } from './selection.ts';

const PATH = '/api/v1/scheduled-exports';
const TAG = 'Scheduled exports';

const DESCRIPTION = `Files of the spend of the workspace, as \`/dashboard/export\` has them, in a bucket of an S3-compatible server. The file of
a period always has the same object key: \`<prefix><workspace id>/daily/2026-11-30.csv\` or \`…/monthly/2026-11.csv\`. What
could not be sent at its time is sent as soon as it can, for seven days.`;

export interface ScheduledExportRouteDeps {
  store: ScheduledExportStore;
  selection: Pick<Selection, 'groupingOf'>;
  directory: Pick<Directory, 'timezone'>;
  allowsAddress(address: string): boolean;
  /** Writes a small object, and returns its key. Rejects with what is wrong with the bucket. */
  testBucket(tenantId: TenantId, settings: ExportSettings, signal: AbortSignal): Promise<string>;
  /** Called when there is something to send. */
  onDue(): void;
  clock: Clock;
}

/** Exports on a schedule, for owners. */
export function createScheduledExportRoutes(deps: ScheduledExportRouteDeps): Route[] {
  return [...settingsRoutes(deps), ...routesThatSend(deps)];
}

function settingsRoutes({ store, clock, ...deps }: ScheduledExportRouteDeps): Route[] {
  const found = { description: 'The settings, and what was sent', schema: scheduledExportsSchema };
  const bodyOf = async (tenantId: TenantId, settings: ExportSettings | null) => ({
    settings: settings && toSettingsBody(settings),
    schedules: (await store.schedules(tenantId)).map(toScheduleBody),
  });
  return [
    defineRoute({
      method: 'get',
      path: PATH,
      operationId: 'getScheduledExports',
      tag: TAG,
      summary: 'Read the scheduled exports',
      access: 'owner',
      responses: { 200: found },
      handler: async ({ caller: { tenantId } }) => ({
        status: 200,
        body: await bodyOf(tenantId, await store.settings(tenantId)),
      }),
    }),
    defineRoute({
      method: 'put',
      audit: 'export.update',
      path: PATH,
      operationId: 'setScheduledExports',
      tag: TAG,
      summary: 'Set up scheduled exports',
      description: DESCRIPTION,
      access: 'owner',
      body: settingsBodyOf(deps.allowsAddress),
      responses: { 200: found },
      handler: async ({ caller: { tenantId }, body, cause }) => {
        await requireRows(deps.selection, tenantId, body);
        const timezone = await deps.directory.timezone(tenantId);
        const now = clock();
        const settings = await store.save(
          tenantId,
          (before) => merged(before, body, new Date(now)),
          // The first file has the day or month in progress.
          (kind) => scheduleCalendar(kind, timezone, body.time_of_day).at(now),
          cause,
        );
        deps.onDue();
        return { status: 200, body: await bodyOf(tenantId, settings) };
      },
    }),
    defineRoute({
      method: 'delete',
      audit: 'export.delete',
      path: PATH,
      operationId: 'deleteScheduledExports',
      tag: TAG,
      summary: 'Delete the scheduled exports',
      description: 'Nothing is sent any more. What is in the bucket stays.',
      access: 'owner',
      responses: { 204: { description: 'They are deleted' } },
      handler: async ({ caller, cause }) => {
        if (!(await store.remove(caller.tenantId, cause))) throw nothingSetUp();
        return { status: 204 };
      },
    }),
  ];
}

function routesThatSend({ store, clock, ...deps }: ScheduledExportRouteDeps): Route[] {
  const testing = new Set<TenantId>();
  async function testOnce(tenantId: TenantId, settings: ExportSettings, signal: AbortSignal): Promise<string> {
    if (testing.has(tenantId)) {
      const message = 'Another test of this bucket is in progress. Wait for it to finish.';
      throw new AppError('rate_limited', message, { retryAfterSeconds: 15 });
    }
    testing.add(tenantId);
    try {
      return await deps.testBucket(tenantId, settings, signal);
    } finally {
      testing.delete(tenantId);
    }
  }

  return [
    defineRoute({
      method: 'post',
      audit: 'export.test',
      path: `${PATH}/test`,
      operationId: 'testScheduledExports',
      tag: TAG,
      summary: 'Test the connection to the bucket',
      description:
        'Writes a small object, which stays there. 502 `destination_unreachable` if that fails, with the reason and what to do.',
      access: 'owner',
      responses: { 200: { description: 'The bucket can be written to', schema: testSchema } },
      handler: async ({ caller: { tenantId }, cause, signal }) => {
        const settings = await store.settings(tenantId);
        if (settings === null) throw nothingSetUp();
        await store.recordTest(tenantId, settings, cause);
        return { status: 200, body: { object_key: await testOnce(tenantId, settings, signal) } };
      },
    }),
    defineRoute({
      method: 'post',
      audit: 'export.send',
      path: `${PATH}/send`,
      operationId: 'sendScheduledExport',
      tag: TAG,
      summary: 'Send files now',
      description: 'Sends in the background, and replaces the objects that are there. Read how it went at `GET`.',
      access: 'owner',
      body: sendBody,
      responses: { 202: { description: 'The schedule', schema: scheduleSchema } },
      handler: async ({ caller: { tenantId }, body: { kind, from }, cause }) => {
        const settings = await store.settings(tenantId);
        if (settings === null) throw nothingSetUp();
        const timezone = await deps.directory.timezone(tenantId);
        const period = periodOf(kind, from, { timezone, settings, now: clock() });
        const schedule = await store.ask(tenantId, kind, period, cause);
        if (schedule === null) throw invalid('kind', `must be one of schedules. Add ${kind} to the settings first`);
        deps.onDue();
        return { status: 202, body: toScheduleBody(schedule) };
      },
    }),
  ];
}

function periodOf(
  kind: ScheduleKind,
  from: string | undefined,
  { timezone, settings, now }: { timezone: string; settings: ExportSettings; now: number },
): string {
  const calendar = scheduleCalendar(kind, timezone, settings.timeOfDay);
  const [oldest, last] = [calendar.oldest(now), calendar.lastEnded(now)];
  if (from === undefined) return last;
  const period = calendar.at(calendar.spanOf(from).start);
  if (period >= oldest && period <= last) return period;
  throw invalid('from', `must be a date from ${oldest} on, in a day or month that has ended`);
}

async function requireRows(
  selection: Pick<Selection, 'groupingOf'>,
  tenantId: TenantId,
  { format, group_by: by }: SettingsBody,
): Promise<void> {
  if (by === null) return;
  if (format === 'focus')
    throw invalid('group_by', 'cannot be combined with format=focus, whose rows FOCUS defines. Leave it out');
  if (by !== EXPORTED_CALLS) await selection.groupingOf(tenantId, by, 'group_by');
}

/** Whoever may change the settings but does not know the secret must not have requests signed for another server. */
function merged(before: ExportSettings | null, body: SettingsBody, updatedAt: Date): ExportSettings {
  const isSameServer = before?.destination.endpoint === body.endpoint;
  const secretAccessKey = body.secret_access_key ?? (isSameServer ? before.destination.secretAccessKey : null);
  if (secretAccessKey === null) throw invalid('secret_access_key', 'is required for a new endpoint. Send it');
  const { endpoint, region, bucket, access_key_id: accessKeyId } = body;
  const destination: Bucket = { endpoint, region, bucket, accessKeyId, secretAccessKey };
  return {
    ...{ destination, prefix: body.prefix, format: body.format, groupBy: body.group_by },
    ...{ timeOfDay: body.time_of_day, schedules: body.schedules, updatedAt },
  };
}

function nothingSetUp(): AppError {
  return new AppError('not_found', 'The workspace has no scheduled exports. Set them up first (PUT).');
}
