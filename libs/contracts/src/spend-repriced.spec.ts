import { expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { decodeGatewayEvent, encodeGatewayEvent, peekEventType } from './event-record.ts';
import { isOwnType } from './event-schemas.ts';
import { gatewayEventSchema, type SpendRepricedEvent } from './events.ts';

const EVENT: SpendRepricedEvent = {
  ...{ specversion: '1.0', id: 'rpr_1', source: 'tollkeeper/dashboard', type: 'spend.repriced' },
  time: '2026-11-21T18:00:00.000Z',
  data: {
    ...{ settlement_id: 's1', run_id: 'r', agent_id: 'a', plan_key: 'pro', model: 'gpt-4o', provider: 'openai' },
    labels: { team: 'growth' },
    ...{ from_micros: 5, to_micros: 3, from_priced_by: 'none', priced_by: 'table', price_id: 'mistral/large' },
    ...{ price_version: 'v1', corrected_at: '2026-11-22T18:00:00.000Z', tracked: 'team' },
  },
};

it('a correction is in the log as it was written, and readers see its type without parsing it', () => {
  const record = { tenantId: provenTenantId('ws_1'), receivedAt: '2026-11-22T18:00:00.000Z', keyId: 'k', event: EVENT };
  const { key, value } = encodeGatewayEvent(record);
  expect(key).toBe('ws_1');
  expect(peekEventType(value)).toBe('spend.repriced');
  expect(decodeGatewayEvent(value)).toEqual(record);
});

it('a gateway cannot report a correction', () => {
  const { success, error } = gatewayEventSchema.safeParse(EVENT);
  expect(success).toBe(false);
  expect(error?.issues.map(({ path, message }) => [path.join('.'), message])).toContainEqual([
    'type',
    'must be another type: Tollkeeper alone writes events of this one',
  ]);
  expect(isOwnType('spend.settled')).toBe(false);
});
