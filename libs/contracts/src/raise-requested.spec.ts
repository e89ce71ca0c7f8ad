import { expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { decodeGatewayEvent, encodeGatewayEvent } from './event-record.ts';
import { isAboutEarlier } from './event-schemas.ts';
import { gatewayEventSchema, type RaiseRequestedEvent } from './events.ts';
import { checkRaiseLink, signRaiseLink } from './raise-link.ts';

const SECRET = 'a-secret-of-more-than-32-characters!';
const tenantId = provenTenantId('ws_1');
const NOW = Date.parse('2026-11-21T18:00:00.000Z');
const EVENT: RaiseRequestedEvent = {
  ...{ specversion: '1.0', id: 'rai_1', source: 'tollkeeper/budgets', type: 'raise.requested' },
  time: '2026-11-21T18:00:00.000Z',
  data: {
    ...{ raise_id: 'rai_1', budget_id: 'bud_1', budget_name: 'Per user', value: 'zoe', extra_micros: 10_000_000 },
    ...{ until: '2026-11-22T06:00:00.000Z', reason: 'Night run', asked_by: 'Mia' },
  },
};

it('a request for a raise is in the log as it was written, and rules count it', () => {
  const record = { tenantId, receivedAt: '2026-11-21T18:00:00.000Z', keyId: undefined, event: EVENT };
  expect(decodeGatewayEvent(encodeGatewayEvent(record).value)).toEqual(record);
  expect([isAboutEarlier('raise.requested'), isAboutEarlier('spend.repriced')]).toEqual([false, true]);
});

it('a gateway cannot report a request for a raise', () => {
  expect(gatewayEventSchema.safeParse(EVENT).error?.issues.map(({ path }) => path.join('.'))).toContain('type');
});

it('the token of a link is good for its request and until its end, and for nothing else', () => {
  const raise = { tenantId, raiseId: 'rai_1' };
  const token = signRaiseLink(SECRET, raise, NOW);
  const check = (text: string, on = raise, now = NOW - 1) => checkRaiseLink(SECRET, on, text, now);
  expect([check(token), check(token, raise, NOW)]).toEqual(['good', 'expired']);
  const [end, signature] = [token.slice(0, -43), token.slice(-43)];
  const later = signRaiseLink(SECRET, raise, NOW + 1_000).slice(0, -43);
  const altered = [`${later}${signature}`, `${end}${'A'.repeat(43)}`, end, `${token}A`, token.slice(0, -1), ''];
  for (const text of altered) expect(check(text)).toBe('forged');
  for (const other of [
    { tenantId, raiseId: 'rai_2' },
    { tenantId: provenTenantId('ws_2'), raiseId: 'rai_1' },
  ]) {
    expect(check(token, other)).toBe('forged');
  }
  expect(checkRaiseLink(`${SECRET}!`, raise, token, NOW - 1)).toBe('forged');
});
