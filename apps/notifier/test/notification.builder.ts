import type { AlertRecord, NotificationRecord } from '@tollkeeper/contracts';
import { newId, provenTenantId, type TenantId } from '@tollkeeper/kernel';

export const NOW = Date.parse('2026-11-21T18:00:00.000Z');
const at = new Date(NOW).toISOString();

export function newTenant(): TenantId {
  return provenTenantId(newId('ws'));
}

export function alertRecord(fields: Partial<AlertRecord> = {}): AlertRecord {
  return {
    id: newId('alrt'),
    tenant_id: 'ws_1',
    rule_id: 'rule_1',
    rule_name: 'Budget blocks',
    rule_kind: 'event_count_gte',
    severity: 'high',
    status: 'firing',
    scope_type: 'workspace',
    scope_id: 'ws_1',
    event_types: ['budget.blocked'],
    window: { start: new Date(NOW - 600_000).toISOString(), end: at },
    threshold: 3,
    event_count: 3,
    spend: null,
    budget: null,
    sample_event_ids: ['e3', 'e2', 'e1'],
    first_event_at: at,
    last_event_at: at,
    triggered_at: at,
    acknowledged_at: null,
    acknowledged_by: null,
    resolved_at: null,
    ...fields,
  };
}

/** A notification with a new id. */
export function notification(fields: Partial<NotificationRecord> = {}): NotificationRecord {
  return {
    notificationId: `ntf_${newId('alrt')}`,
    type: 'alert.fired',
    tenantId: provenTenantId('ws_1'),
    channelId: newId('chan'),
    channelType: 'webhook',
    alert: alertRecord(),
    occurredAt: at,
    ...fields,
  };
}
