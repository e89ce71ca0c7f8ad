import type { ShownAlert } from '@tollkeeper/contracts';
import type { Message } from '../../domain/message.ts';

/** Standard Webhooks recommends payloads under 20 kB. */
export const MAX_BODY_BYTES = 20_000;
const MAX_RULE_NAME_LENGTH = 200;

/**
 * The JSON body for a `webhook` channel, always smaller than {@link MAX_BODY_BYTES}. If an alert is larger, its lists
 * are cut until it fits. The alert history has them in full.
 */
export function webhookBody({ type, timestamp, alert, links: { url } }: Message): string {
  const render = (data: ShownAlert): string => JSON.stringify({ type, timestamp, data: { ...data, url } });
  const fits = (body: string): boolean => Buffer.byteLength(body) < MAX_BODY_BYTES;

  const whole = render(alert);
  if (fits(whole)) return whole;
  const ruleName = alert.rule_name.slice(0, MAX_RULE_NAME_LENGTH).toWellFormed();
  for (let length = alert.event_types.length; ; length = Math.floor(length / 2)) {
    const eventTypes = alert.event_types.slice(0, length);
    const sampleEventIds = alert.sample_event_ids.slice(0, length);
    const body = render({ ...alert, rule_name: ruleName, event_types: eventTypes, sample_event_ids: sampleEventIds });
    if (fits(body) || length === 0) return body;
  }
}
