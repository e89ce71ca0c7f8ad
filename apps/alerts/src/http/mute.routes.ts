import { identifier } from '@tollkeeper/contracts';
import { defineRoute, mergePatch, mergePatchBodies, parseMerged, type Route } from '@tollkeeper/http';
import type { Clock } from '@tollkeeper/kernel';
import { z } from 'zod';
import { MAX_ENDED_SILENCES, MAX_SILENCES, MAX_WINDOWS, type MaintenanceDraft } from '../domain/mute.ts';
import type { MuteUseCases } from '../domain/mute.use-cases.ts';
import {
  fromWindowDraft,
  silenceBody,
  silencePatch,
  silenceRecord,
  toSilenceRecord,
  toWindowDraft,
  toWindowRecord,
  windowBody,
  windowPatch,
  windowRecord,
} from './mute.schemas.ts';
import { ALERTS_PATH } from './schemas.ts';

const SILENCES = `${ALERTS_PATH}/silences`;
const WINDOWS = `${ALERTS_PATH}/maintenance-windows`;
const SILENCES_TAG = 'Silences';
const WINDOWS_TAG = 'Maintenance windows';

const ofSilence = z.object({ silence_id: identifier.meta({ description: 'Id of the silence' }) });
const ofWindow = z.object({ window_id: identifier.meta({ description: 'Id of the maintenance window' }) });

const HELD = `Rules fire as usual and alerts are in the history, but the messages about an alert that fires meanwhile are held back.
The alert shows them with the reason. When nothing holds them back any longer, they are sent, unless the alert was resolved
before. Messages about alerts that fired earlier are sent as usual, such as that an incident is resolved.`;

/** Silences and maintenance windows, for admins. */
export function createMuteRoutes(mutes: MuteUseCases, clock: Clock): Route[] {
  return [...silenceRoutes(mutes, clock), ...windowRoutes(mutes)];
}

function silenceRoutes(mutes: MuteUseCases, clock: Clock): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: SILENCES,
      operationId: 'listAlertSilences',
      tag: SILENCES_TAG,
      summary: `List the silences that have not ended and the last ${MAX_ENDED_SILENCES} that have, newest first`,
      access: 'admin',
      responses: { 200: { description: 'The silences', schema: z.object({ items: z.array(silenceRecord) }) } },
      handler: async ({ caller }) => {
        const [now, found] = [clock(), await mutes.silences(caller.tenantId)];
        return { status: 200, body: { items: found.map((each) => toSilenceRecord(each, now)) } };
      },
    }),
    defineRoute({
      method: 'post',
      audit: 'silence.create',
      path: SILENCES,
      operationId: 'createAlertSilence',
      tag: SILENCES_TAG,
      summary: 'Hold back the messages of matching alerts for a time',
      description: `${HELD}\n\nA workspace has at most ${MAX_SILENCES} silences that have not ended: then 409.`,
      access: 'admin',
      body: silenceBody,
      responses: { 201: { description: 'The silence', schema: silenceRecord } },
      handler: async ({ caller, body: { starts_at, ends_at, ...draft }, cause }) => {
        const start = starts_at === undefined ? {} : { startsAt: new Date(starts_at) };
        const times = { ...start, endsAt: new Date(ends_at) };
        const silence = await mutes.createSilence(caller.tenantId, { ...draft, ...times }, cause);
        return { status: 201, body: toSilenceRecord(silence, clock()) };
      },
    }),
    defineRoute({
      method: 'patch',
      audit: 'silence.update',
      path: `${SILENCES}/{silence_id}`,
      operationId: 'editAlertSilence',
      tag: SILENCES_TAG,
      summary: 'Change when a silence ends',
      description: '409 if it has ended.',
      access: 'admin',
      params: ofSilence,
      body: silencePatch,
      responses: { 200: { description: 'The silence as it is now', schema: silenceRecord } },
      handler: async ({ caller, params, body, cause }) => {
        const endsAt = new Date(body.ends_at);
        const silence = await mutes.editSilence(caller.tenantId, params.silence_id, endsAt, cause);
        return { status: 200, body: toSilenceRecord(silence, clock()) };
      },
    }),
    defineRoute({
      method: 'post',
      audit: 'silence.end',
      path: `${SILENCES}/{silence_id}:end`,
      operationId: 'endAlertSilence',
      tag: SILENCES_TAG,
      summary: 'End a silence now',
      description: 'What it holds back is sent within seconds. Ending it again changes nothing.',
      access: 'admin',
      params: ofSilence,
      responses: { 200: { description: 'The silence as it is now', schema: silenceRecord } },
      handler: async ({ caller, params, cause }) => {
        const silence = await mutes.endSilence(caller.tenantId, params.silence_id, cause);
        return { status: 200, body: toSilenceRecord(silence, clock()) };
      },
    }),
  ];
}

function windowRoutes(mutes: MuteUseCases): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: WINDOWS,
      operationId: 'listMaintenanceWindows',
      tag: WINDOWS_TAG,
      summary: 'List the maintenance windows of the workspace',
      access: 'admin',
      responses: {
        200: { description: 'The windows, oldest first', schema: z.object({ items: z.array(windowRecord) }) },
      },
      handler: async ({ caller }) => {
        const items = (await mutes.windows(caller.tenantId)).map(toWindowRecord);
        return { status: 200, body: { items } };
      },
    }),
    defineRoute({
      method: 'post',
      audit: 'maintenance.create',
      path: WINDOWS,
      operationId: 'createMaintenanceWindow',
      tag: WINDOWS_TAG,
      summary: 'Hold back the messages of matching alerts at times of every week',
      description: `${HELD}\n\nThe times are those of a wall clock in \`time_zone\`: an hour that a clock change repeats counts both times, one that
it skips counts not at all. A workspace has at most ${MAX_WINDOWS} windows: then 409.`,
      access: 'admin',
      body: windowBody,
      responses: { 201: { description: 'The window', schema: windowRecord } },
      handler: async ({ caller, body, cause }) => {
        const window = await mutes.createWindow(caller.tenantId, toWindowDraft(body), cause);
        return { status: 201, body: toWindowRecord(window) };
      },
    }),
    defineRoute({
      method: 'patch',
      audit: 'maintenance.update',
      path: `${WINDOWS}/{window_id}`,
      operationId: 'editMaintenanceWindow',
      tag: WINDOWS_TAG,
      summary: 'Change a maintenance window',
      access: 'admin',
      params: ofWindow,
      body: mergePatchBodies(windowPatch),
      responses: { 200: { description: 'The window as it is now', schema: windowRecord } },
      handler: async ({ caller, params, body, cause }) => {
        const edit = (current: MaintenanceDraft): MaintenanceDraft =>
          toWindowDraft(parseMerged(windowBody, mergePatch(fromWindowDraft(current), body)));
        const window = await mutes.editWindow(caller.tenantId, params.window_id, edit, cause);
        return { status: 200, body: toWindowRecord(window) };
      },
    }),
    defineRoute({
      method: 'delete',
      audit: 'maintenance.delete',
      path: `${WINDOWS}/{window_id}`,
      operationId: 'deleteMaintenanceWindow',
      tag: WINDOWS_TAG,
      summary: 'Delete a maintenance window',
      description: 'What it holds back is sent within seconds.',
      access: 'admin',
      params: ofWindow,
      responses: { 204: { description: 'The window is deleted' } },
      handler: async ({ caller, params, cause }) => {
        await mutes.deleteWindow(caller.tenantId, params.window_id, cause);
        return { status: 204 };
      },
    }),
  ];
}
