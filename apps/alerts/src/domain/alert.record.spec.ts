import { describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { toAlertRecord } from './alert.record.ts';
import type { Alert } from './alert.ts';

const at = (second: number) => Date.UTC(2026, 10, 21, 12, 0, second, 5);

const alert: Alert = {
  id: 'alrt_1',
  tenantId: provenTenantId('ws_1'),
  ruleId: 'rule_1',
  ruleRevision: 3,
  ruleName: 'Blocked often',
  condition: { kind: 'event_count_gte', threshold: 2 },
  severity: 'high',
  scopeType: 'agent',
  scopeId: 'planner',
  eventTypes: ['budget.blocked'],
  labels: {},
  budget: null,
  channelIds: ['chan_1'],
  status: 'resolved',
  windowStart: at(1),
  windowEnd: at(4),
  settledMicros: null,
  eventCount: 3,
  sampleEventIds: ['e3', 'e2'],
  firstEventAt: at(2),
  lastEventAt: at(3),
  triggeredAt: at(5),
  acknowledgedAt: at(6),
  acknowledgedBy: 'user_1',
  resolvedAt: at(7),
  metUntil: at(8),
};

describe('the record of an alert', () => {
  it('has each time of the alert in its own field, and nothing of what only the service needs', () => {
    expect(toAlertRecord(alert)).toStrictEqual({
      id: 'alrt_1',
      tenant_id: 'ws_1',
      rule_id: 'rule_1',
      rule_name: 'Blocked often',
      rule_kind: 'event_count_gte',
      severity: 'high',
      status: 'resolved',
      scope_type: 'agent',
      scope_id: 'planner',
      event_types: ['budget.blocked'],
      window: { start: '2026-11-21T12:00:01.005Z', end: '2026-11-21T12:00:04.005Z' },
      threshold: 2,
      event_count: 3,
      spend: null,
      budget: null,
      sample_event_ids: ['e3', 'e2'],
      first_event_at: '2026-11-21T12:00:02.005Z',
      last_event_at: '2026-11-21T12:00:03.005Z',
      triggered_at: '2026-11-21T12:00:05.005Z',
      acknowledged_at: '2026-11-21T12:00:06.005Z',
      acknowledged_by: 'user_1',
      resolved_at: '2026-11-21T12:00:07.005Z',
    });
  });

  it('has the labels that the rule counted, if it had a filter of labels', () => {
    const labels = { team: 'gr*', env: 'prod' };
    expect(toAlertRecord({ ...alert, labels })).toStrictEqual({ ...toAlertRecord(alert), labels });
  });

  it('has no time of what has not happened, and what a spend rule has come to', () => {
    const open = { ...alert, acknowledgedAt: null, acknowledgedBy: null, resolvedAt: null };
    const spend = { condition: { kind: 'spend_gte', thresholdMicros: 10 } as const, settledMicros: 12 };
    expect(toAlertRecord({ ...open, ...spend })).toMatchObject({
      acknowledged_at: null,
      acknowledged_by: null,
      resolved_at: null,
      spend: { threshold_micros: 10, settled_micros: 12 },
    });
  });
});
