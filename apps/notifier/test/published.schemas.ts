import { z } from 'zod';

/*
 * What destinations accept, as they publish it. Only the fields that their documentation names are allowed, with its
 * limits.
 */

const text = (max: number) => z.string().min(1).max(max);
const link = z.url({ protocol: /^https$/ });

/** https://developer.pagerduty.com/docs/events-api-v2/trigger-events/ */
const ofEvent = { routing_key: z.string().length(32), dedup_key: text(255) };
export const pagerdutyEvent = z.discriminatedUnion('event_action', [
  z.strictObject({
    ...ofEvent,
    event_action: z.literal('trigger'),
    payload: z.strictObject({
      summary: text(1024),
      source: z.string().min(1),
      severity: z.enum(['critical', 'error', 'warning', 'info']),
      timestamp: z.iso.datetime().optional(),
      component: z.string().optional(),
      group: z.string().optional(),
      class: z.string().optional(),
      custom_details: z.record(z.string(), z.unknown()).optional(),
    }),
    images: z.array(z.strictObject({ src: link, href: link.optional(), alt: z.string().optional() })).optional(),
    links: z.array(z.strictObject({ href: link, text: z.string().optional() })).optional(),
    client: z.string().optional(),
    client_url: link.optional(),
  }),
  z.strictObject({ ...ofEvent, event_action: z.enum(['acknowledge', 'resolve']) }),
]);
/** In bytes. */
export const MAX_PAGERDUTY_EVENT = 512 * 1024;

/** https://docs.opsgenie.com/docs/alert-api */
export const opsgenieAlert = z.strictObject({
  message: text(130),
  alias: text(512).optional(),
  description: z.string().max(15_000).optional(),
  tags: z.array(text(50)).max(20).optional(),
  details: z
    .record(z.string(), z.string())
    .refine((details) => JSON.stringify(details).length <= 8000)
    .optional(),
  entity: z.string().max(512).optional(),
  source: z.string().max(100).optional(),
  priority: z.enum(['P1', 'P2', 'P3', 'P4', 'P5']).optional(),
  user: z.string().max(100).optional(),
  note: z.string().max(25_000).optional(),
});
/** The body of `/acknowledge` and `/close`. */
export const opsgenieNote = opsgenieAlert.pick({ user: true, source: true, note: true });

/** https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using */
const textRun = z.strictObject({
  type: z.literal('TextRun'),
  text: z.string(),
  weight: z.enum(['Lighter', 'Default', 'Bolder']).optional(),
  size: z.enum(['Small', 'Default', 'Medium', 'Large', 'ExtraLarge']).optional(),
});
const cardElement = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('RichTextBlock'), inlines: z.array(textRun).min(1) }),
  z.strictObject({
    type: z.literal('FactSet'),
    facts: z.array(z.strictObject({ title: z.string(), value: z.string() })).min(1),
  }),
]);
export const teamsMessage = z.strictObject({
  type: z.literal('message'),
  attachments: z.tuple([
    z.strictObject({
      contentType: z.literal('application/vnd.microsoft.card.adaptive'),
      contentUrl: z.null(),
      content: z.strictObject({
        $schema: z.literal('http://adaptivecards.io/schemas/adaptive-card.json'),
        type: z.literal('AdaptiveCard'),
        version: z.enum(['1.2', '1.3', '1.4', '1.5']),
        body: z.array(cardElement).min(1),
        actions: z
          .array(z.strictObject({ type: z.literal('Action.OpenUrl'), title: z.string(), url: link }))
          .optional(),
      }),
    }),
  ]),
});
/** In bytes. */
export const MAX_TEAMS_MESSAGE = 28 * 1024;
