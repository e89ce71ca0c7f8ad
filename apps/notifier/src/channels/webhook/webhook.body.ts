import type { ShownAlert } from '@tollkeeper/contracts';
import type { Message } from '../../domain/message.ts';

/** Standard Webhooks recommends payloads under 20 kB. */
export const MAX_BODY_BYTES = 20_000;
const MAX_RULE_NAME_LENGTH = 200;

/**
 * The JSON body for a `webhook` channel, always smaller than {@link MAX_BODY_BYTES}. It names as many further alerts as
 * fit. If the alert alone is larger, its lists are cut until it fits. The alert history has them in full.
 */
export function webhookBody({ type, timestamp, alert, group, links: { url } }: Message): string {
  const render = (data: ShownAlert, named: number): string => {
    const ofGroup = group && { group: { ...group, others: group.others.slice(0, named) } };
    return JSON.stringify({ type, timestamp, data: { ...data, ...ofGroup, url } });
  };
  const fits = (body: string): boolean => Buffer.byteLength(body) < MAX_BODY_BYTES;

  for (let named = group?.others.length ?? 0; named >= 0; named -= 1) {
    const whole = render(alert, named);
    if (fits(whole)) return whole;
  }
  const ruleName = alert.rule_name.slice(0, MAX_RULE_NAME_LENGTH).toWellFormed();
  for (let length = alert.event_types.length; ; length = Math.floor(length / 2)) {
    const eventTypes = alert.event_types.slice(0, length);
    const sampleEventIds = alert.sample_event_ids.slice(0, length);
    const cut = { ...alert, rule_name: ruleName, event_types: eventTypes, sample_event_ids: sampleEventIds };
    const body = render(cut, 0);
    if (fits(body) || length === 0) return body;
  }
}
