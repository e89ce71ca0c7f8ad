import { describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import {
  decodeNotification,
  type DeliveryRecord,
  encodeDelivery,
  encodeNotification,
  type NotificationRecord,
} from './alert-records.ts';
import { type AlertRecord, isNotifiedOf } from './api/alert.ts';
import { decodeNotifierRecord, encodeChannelRecord } from './channel-records.ts';

const at = '2026-11-21T18:00:00.000Z';
const alert: AlertRecord = {
  id: 'alrt_1',
  tenant_id: 'ws_1',
  rule_id: 'rule_1',
  rule_name: 'Budget blocks',
  rule_kind: 'event_count_gte',
  severity: 'high',
  status: 'firing',
  scope_type: 'workspace',
  scope_id: 'ws_1',
  event_types: ['budget.blocked'],
  window: { start: at, end: at },
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
};
const notification: NotificationRecord = {
  notificationId: 'ntf_1',
  type: 'alert.fired',
  tenantId: provenTenantId('ws_1'),
  channelId: 'chan_1',
  channelType: 'webhook',
  alert,
  occurredAt: at,
};
const delivery: DeliveryRecord = {
  notificationId: 'ntf_1',
  type: 'alert.fired',
  tenantId: provenTenantId('ws_1'),
  alertId: 'alrt_1',
  channelId: 'chan_1',
  channelType: 'webhook',
  status: 'retrying',
  attempts: 2,
  responseStatus: 500,
  responseSnippet: 'oops',
  error: 'The destination answered 500.',
  lastAttemptAt: at,
  nextAttemptAt: at,
  sequence: 4,
};

describe('a notification', () => {
  it('is keyed by its channel and reads back as it was written', () => {
    const { key, value } = encodeNotification(notification);
    expect(key).toBe('chan_1');
    expect(decodeNotification(value)).toEqual(notification);
  });

  it('about spend reads back as it was written', () => {
    const spend = { threshold_micros: 10, settled_micros: 12 };
    const aboutSpend = { ...notification, alert: { ...alert, rule_kind: 'spend_gte' as const, threshold: 0, spend } };
    expect(decodeNotification(encodeNotification(aboutSpend).value)).toEqual(aboutSpend);
  });

  const reached = { spent_micros: 12, daily_budget_usd_micros: 10, percent: 100, reached_percent: 120 };
  const period = { kind: 'month', start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' };
  const named = { budget_id: 'bud_1', budget_name: 'Growth team', value: 'zoe', limit_micros: 10, period };
  it.each([
    { scope: 'plan', scope_id: 'pro', ...reached },
    { scope: 'budget', scope_id: 'bud_1', ...reached, ...named },
  ] as const)('about a threshold of a $scope reads back as it was written', (budget) => {
    const aboutBudget = { ...notification, alert: { ...alert, budget } };
    expect(decodeNotification(encodeNotification(aboutBudget).value)).toEqual(aboutBudget);
  });

  it('with the labels of its rule reads back as it was written, and without them it has no such field', () => {
    const ofTeam = { ...notification, alert: { ...alert, labels: { team: 'gr*', 'cost.center': '1200' } } };
    expect(decodeNotification(encodeNotification(ofTeam).value)).toEqual(ofTeam);
    expect(JSON.stringify(decodeNotification(encodeNotification(notification).value).alert)).toBe(
      JSON.stringify(alert),
    );
  });

  it('about several alerts reads back as it was written', () => {
    const group = { total: 12, resolved: 3, others: [{ ...alert, id: 'alrt_2' }] };
    expect(decodeNotification(encodeNotification({ ...notification, group }).value)).toEqual({
      ...notification,
      group,
    });
  });

  it('is readable when a newer producer adds fields', () => {
    const value = JSON.parse(encodeNotification(notification).value.toString()) as object;
    expect(decodeNotification(Buffer.from(JSON.stringify({ ...value, added: 1 })))).toEqual(notification);
  });

  it('is readable with any text for what its reader only shows', () => {
    const value = JSON.parse(encodeNotification(notification).value.toString()) as object;
    const newer = { rule_kind: 'spend_rate_gte', severity: 'fatal', status: 'snoozed', scope_type: 'team' };
    const types = { type: 'alert.escalated', channel_type: 'pager' };
    const read = decodeNotification(Buffer.from(JSON.stringify({ ...value, ...types, alert: { ...alert, ...newer } })));
    expect(read).toMatchObject({ type: 'alert.escalated', channelType: 'pager', alert: newer });
  });

  it.each([
    ['not JSON', 'nope', 'The record is not JSON'],
    ['null', 'null', "can't be read"],
    ['another version', '{"v":2}', 'v: '],
    ['an operator for an id', '{"v":1,"tenant_id":{"$gt":""}}', 'tenant_id: '],
  ])('says what is wrong with %s', (_case, text, message) => {
    expect(() => decodeNotification(Buffer.from(text))).toThrow(message);
  });
});

describe('a delivery', () => {
  it('is keyed by its alert and reads back as it was written', () => {
    const { key, value } = encodeDelivery(delivery);
    expect(key).toBe('alrt_1');
    expect(decodeNotifierRecord(value)).toEqual({ kind: 'delivery', delivery });
  });
});

describe('what became of a channel', () => {
  const tenantId = provenTenantId('ws_1');
  const channel = { id: 'chan_1', type: 'webhook', enabled: false, revision: 2 };
  const changed = { kind: 'channel.changed', tenantId, channel } as const;
  const deleted = { kind: 'channel.deleted', tenantId, channelId: 'chan_1' } as const;

  it.each([changed, deleted])('is keyed by its workspace and reads back as it was written: $kind', (record) => {
    const { key, value } = encodeChannelRecord(record);
    expect(key).toBe('ws_1');
    expect(decodeNotifierRecord(value)).toEqual(record);
  });

  it('has an id of its own for each change and for the deletion, however often it is written', () => {
    const next = { ...changed, channel: { ...channel, revision: 3 } };
    const ids = [changed, next, deleted, changed, next, deleted].map((record) => encodeChannelRecord(record).id);
    expect(new Set(ids).size).toBe(3);
  });

  it('is passed over when a newer notifier reports what this version does not know', () => {
    const value = Buffer.from(JSON.stringify({ v: 1, kind: 'channel.muted', channel_id: 7 }));
    expect(decodeNotifierRecord(value)).toEqual({ kind: 'other' });
  });

  it.each([
    ['a delivery without its fields', { v: 1, kind: 'delivery' }, 'notification_id: '],
    ['a channel with an operator for an id', { v: 1, kind: 'channel.deleted', tenant_id: { $gt: '' } }, 'tenant_id: '],
    ['no kind', { v: 1 }, 'kind: '],
    ['another version', { v: 2, kind: 'channel.deleted' }, 'v: '],
  ])('cannot be read from %s', (_case, record, message) => {
    expect(() => decodeNotifierRecord(Buffer.from(JSON.stringify(record)))).toThrow(message);
  });
});

it.each(['alert.fired', 'alert.acknowledged', 'alert.resolved'] as const)(
  'of %s, channels of a type that this version does not know are notified like a webhook',
  (type) => {
    expect(isNotifiedOf('constructor', type)).toBe(isNotifiedOf('webhook', type));
  },
);
