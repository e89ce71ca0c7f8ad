import { identifier, MAX_PAUSES } from '@tollkeeper/contracts';
import { defineRoute, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import type { PauseUseCases } from '../domain/pause.use-cases.ts';
import { pauseBody, pauseRecord, toPauseRecord } from './pause.schemas.ts';

const PATH = '/api/v1/pauses';
const TAG = 'Pauses';

const ofPause = z.object({
  pause_id: identifier.meta({ description: 'Id of the pause', example: 'pau_4fG0aZ8kQ2mN6pR1tV5x' }),
});

const CREATE_DESCRIPTION = `Within two seconds, calls of the agent, with the key, or with the label get no reservations and no leases. The denial has
the code \`paused\` and says who paused the calls, until when and why. What such calls have spent is still counted, and
reservations stay: their calls are in progress. An open lease ends when its gateway next settles or renews it.

If the same is paused already, that pause gets the new time and reason. A workspace has at most ${MAX_PAUSES} pauses: then 409.
Neither agents nor keys are looked up, so an agent can be paused before its first call.`;

/** Pauses of the workspace: members read them, owners and admins make and end them. */
export function createPauseRoutes(pauses: PauseUseCases): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: PATH,
      operationId: 'listPauses',
      tag: TAG,
      summary: 'List the pauses that have not ended, newest first',
      access: 'member',
      responses: { 200: { description: 'The pauses', schema: z.object({ items: z.array(pauseRecord) }) } },
      handler: async ({ caller }) => {
        const found = await pauses.list(caller.tenantId);
        return { status: 200, body: { items: found.map(toPauseRecord) } };
      },
    }),
    defineRoute({
      method: 'post',
      audit: 'pause.create',
      path: PATH,
      operationId: 'createPause',
      tag: TAG,
      summary: 'Pause an agent, a workspace key or the value of a label',
      description: CREATE_DESCRIPTION,
      access: 'admin',
      body: pauseBody,
      responses: { 201: { description: 'The pause', schema: pauseRecord } },
      handler: async ({ caller, body: { until, ...draft }, cause }) => {
        const timed = { ...draft, ...(until !== undefined && { until: new Date(until) }) };
        return { status: 201, body: toPauseRecord(await pauses.pause(caller.tenantId, timed, cause)) };
      },
    }),
    defineRoute({
      method: 'delete',
      audit: 'pause.end',
      path: `${PATH}/{pause_id}`,
      operationId: 'endPause',
      tag: TAG,
      summary: 'End a pause',
      description: 'Calls are decided by their budgets again, within two seconds.',
      access: 'admin',
      params: ofPause,
      responses: { 204: { description: 'The pause has ended' } },
      handler: async ({ caller, params, cause }) => {
        await pauses.end(caller.tenantId, params.pause_id, cause);
        return { status: 204 };
      },
    }),
  ];
}
