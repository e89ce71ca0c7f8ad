import type { AlertGroup, ReadNotification, ShownAlert } from '@tollkeeper/contracts';
import { randomBase62, type TenantId } from '@tollkeeper/kernel';

/** The message to a destination of any type. */
export interface Message {
  /** The same at every attempt; the `webhook-id`. */
  id: string;
  /** The type of the notification, or `channel.test`. */
  type: string;
  /** Time of the event that the message is about, in RFC 3339 UTC. */
  timestamp: string;
  alert: ShownAlert;
  /** The alerts that the message is about, if the rule groups them. `alert` is the first. */
  group?: AlertGroup<ShownAlert> | undefined;
  links: AlertLinks;
}

/** Where the alert is, or the alerts of its rule, or all alerts of the workspace. */
export interface AlertLinks {
  /** In the API, for programs. */
  url: string;
  /** In the console, for people. */
  page: string;
}

export function toMessage(notification: ReadNotification, links: AlertLinks): Message {
  const { notificationId, type, occurredAt, alert, group } = notification;
  return { id: notificationId, type, timestamp: occurredAt, alert, group, links };
}

const SAMPLE_WINDOW_MS = 60_000;

/** A message that tests a channel. It has a made-up alert, with the fields that all alerts have. */
export function testMessage(tenantId: TenantId, links: AlertLinks, now: number): Message {
  const at = new Date(now).toISOString();
  const start = new Date(now - SAMPLE_WINDOW_MS).toISOString();
  const id = `test_${randomBase62(20)}`;
  const alert: ShownAlert = {
    // Each test opens an incident of its own where destinations have incidents.
    id,
    tenant_id: tenantId,
    rule_id: 'rule_test',
    rule_name: 'Test of this channel',
    rule_kind: 'event_count_gte',
    severity: 'info',
    status: 'firing',
    scope_type: 'workspace',
    scope_id: tenantId,
    event_types: ['budget.blocked'],
    window: { start, end: at },
    threshold: 1,
    event_count: 1,
    spend: null,
    budget: null,
    sample_event_ids: ['evt_test'],
    first_event_at: at,
    last_event_at: at,
    triggered_at: at,
    acknowledged_at: null,
    acknowledged_by: null,
    resolved_at: null,
  };
  return { id, type: 'channel.test', timestamp: at, alert, links };
}
