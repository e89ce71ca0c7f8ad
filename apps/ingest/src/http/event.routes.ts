import {
  gatewayEventBatchOf,
  gatewayEventSchema,
  INTAKE_PATHS,
  MAX_EVENT_TIME_AHEAD_MS,
  MAX_EVENTS_PER_BATCH,
} from '@tollkeeper/contracts';
import { type Authenticator, defineRoute, type Route } from '@tollkeeper/http';
import type { Clock } from '@tollkeeper/kernel';
import type { VerifiedKey, WorkspaceQuota } from '@tollkeeper/workspace-keys';
import { z } from 'zod';
import { answerInTime } from '../intake/answer-time.ts';
import type { EventIntake } from '../domain/event.intake.ts';
import { binaryEvent } from './binary.event.ts';

/** Events count once by source and id, so others must not use the sources of Tollkeeper's own events. */
const OWN_SOURCES = 'tollkeeper/';

const DESCRIPTION = `Takes one CloudEvents 1.0 event (\`application/cloudevents+json\`) or 1 to 1000 of them
(\`application/cloudevents-batch+json\`), at most 5 MiB. In binary mode, the body is the \`data\` of one event
(\`application/json\`), and the headers \`ce-specversion\`, \`ce-id\`, \`ce-source\`, \`ce-type\` and \`ce-time\` are its attributes.
The workspace is the one of the key.

202 means that the events are stored durably. If one event is not valid, none of the batch is taken; the paths in
\`details\` begin with its index.
A \`source\` must not begin with \`tollkeeper/\`. An event is unique by \`source\` and \`id\` and counts once, so after any other answer, or none, sending again is safe.

The \`data\` of an event has at most 65,536 bytes of JSON, and its extension attributes are at most 64, of 8,192 bytes
together. Tollkeeper keeps none of those, and of the \`data\` of a type that it does not know \`run_id\` and \`agent_id\`.

The labels of a call are those of the workspace key, of its agent and of the event. Of labels with the same name, the
one of the key wins, then the one of the agent. All of them count against the quota of bytes.

Each workspace has a quota of events and one of bytes a second, and may send more at once after a pause. Above a quota
the answer is 429 with \`Retry-After\`, and says which one it is.`;

/** In binary mode, with the type of the event in a header. */
const dataOfEvent = z
  .unknown()
  .transform((data) => ({ data }))
  .meta({ override: { type: 'object', description: 'The `data` of an event' } });

export interface EventRouteDeps {
  intake: EventIntake;
  /** Also checks the quotas. */
  authenticator: Authenticator<VerifiedKey>;
  quotas: { events: WorkspaceQuota; bytes: WorkspaceQuota };
  clock: Clock;
}

/** Event ingestion, authenticated by a workspace key. */
export function createEventRoutes({ intake, authenticator, quotas, clock }: EventRouteDeps): Route[] {
  const event = gatewayEventSchema.check(({ value, issues }) => {
    if (value.source.startsWith(OWN_SOURCES)) {
      issues.push({
        code: 'custom',
        input: value.source,
        path: ['source'],
        message: `must not begin with ${OWN_SOURCES}, which is reserved for Tollkeeper's own events`,
      });
    }
    if (Date.parse(value.time) <= clock() + MAX_EVENT_TIME_AHEAD_MS) return;
    const now = new Date(clock()).toISOString();
    issues.push({
      code: 'custom',
      input: value.time,
      path: ['time'],
      message: `must be at most 5 minutes ahead of the server's clock (${now})`,
    });
  });
  return [
    defineRoute({
      method: 'post',
      audit: { unaudited: 'Gateways report what has happened, with a key' },
      path: INTAKE_PATHS.events.path,
      operationId: 'postEvents',
      tag: 'Events',
      summary: 'Report events',
      description: DESCRIPTION,
      access: authenticator,
      body: {
        'application/cloudevents+json': event.transform((single) => [single]),
        'application/cloudevents-batch+json': gatewayEventBatchOf(event),
        'application/json': dataOfEvent,
      },
      bodyLimitBytes: INTAKE_PATHS.events.maxBytes,
      tooLargeHint: INTAKE_PATHS.events.tooLargeHint,
      chargeBytes: ({ tenantId }, bytes) => quotas.bytes.charge(tenantId, bytes),
      // Each event costs one, valid or not. The first was charged at the admission of the request.
      charge: ({ tenantId }, body) => {
        if (Array.isArray(body)) quotas.events.charge(tenantId, Math.min(body.length, MAX_EVENTS_PER_BATCH) - 1);
      },
      responses: {
        202: {
          description: 'The events are stored durably',
          schema: z.object({
            accepted: z.int().meta({ description: 'Number of events that were accepted' }),
            request_id: z.string(),
          }),
        },
      },
      handler: async ({ caller, accessMs, body, headers, requestId }) => {
        const events = Array.isArray(body) ? body : [binaryEvent(event, headers, body.data)];
        await answerInTime(accessMs, () => intake.accept(caller, events));
        return { status: 202, body: { accepted: events.length, request_id: requestId } };
      },
    }),
  ];
}
