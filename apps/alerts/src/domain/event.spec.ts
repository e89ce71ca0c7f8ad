import { describe, expect, it } from '@jest/globals';
import type { GatewayEvent } from '@tollkeeper/contracts';
import { provenTenantId } from '@tollkeeper/kernel';
import { eventAt } from '../../test/fixtures.ts';
import { type CountableEvent, isLate, toCountableEvent } from './event.ts';

const time = '2026-11-21T18:00:00.000Z';
const made = (type: string, id: string, source: string, settlementId?: string): GatewayEvent => ({
  ...{ specversion: '1.0', type, id, source, time },
  data: {
    ...(settlementId !== undefined && { settlement_id: settlementId, run_id: 'r', agent_id: 'a', amount_micros: 1 }),
  },
});
const otherData: object = { labels: { team: 'x' } };
const MISSING: object = { model: 'm' };
const RAISE: object = {
  ...{ raise_id: 'rai_1', budget_id: 'bud_1', budget_name: 'Per user', extra_micros: 10, reason: 'Night run' },
  ...{ until: '2026-11-22T06:00:00.000Z', asked_by: 'Mia' },
};
const identityOf = (event: GatewayEvent) =>
  toCountableEvent({ tenantId: provenTenantId('ws_1'), receivedAt: time, event }).identity;

describe('the identity of an event', () => {
  const settlement = made('spend.settled', 'e1', 'gw', 'S1');
  const other = (id: string, source: string) => made('tool.called', id, source);

  it.each([
    ['an event whose id and source read like the settlement', settlement, other('settlement', 'S1')],
    ['an event whose source reads like the settlement', settlement, other('e2', '|settlement|S1')],
    ['another settlement', settlement, made('spend.settled', 'e1', 'gw', 'S2')],
    ['an event with its id and source', settlement, other('e1', 'gw')],
    ['an event with another source', other('e1', 'gw'), other('e1', 'gw|')],
  ])('is not that of %s', (_case, one, another) => {
    expect(identityOf(one)).not.toBe(identityOf(another));
  });

  it('is the same for an event that arrives again, and for a settlement that another event reports again', () => {
    expect(identityOf(other('e1', 'gw'))).toBe(identityOf(other('e1', 'gw')));
    expect(identityOf(settlement)).toBe(identityOf(made('spend.settled', 'e2', 'other', 'S1')));
  });

  it('stays what it is, since stored windows know events by it', () => {
    // 48 bits of the SHA-256 of `e1|gw` and of `|settlement|S1`.
    expect(identityOf(other('e1', 'gw'))).toBe(0xbde3e574872c);
    expect(identityOf(settlement)).toBe(0x93cb7e0ca1f9);
  });
});

describe('an event', () => {
  it('is late from more than 5 minutes after its time on', () => {
    expect(isLate(eventAt(0, { receivedAt: 300_000 }))).toBe(false);
    expect(isLate(eventAt(0, { receivedAt: 300_001 }))).toBe(true);
  });

  it.each([
    [
      'a settlement, with what it settles',
      made('spend.settled', 'e1', 'gw', 'S1'),
      {
        ...{ agentId: 'a', settledMicros: 1, count: 1, percent: undefined, budget: undefined, labels: {} },
        call: { agent: 'a', plan: null, model: null, provider: null, key: 'key_1', labels: {} },
      },
    ],
    [
      'another, which settles nothing and whose labels are not those of a call',
      { ...made('tool.called', 'e1', 'gw'), data: otherData },
      { agentId: undefined, settledMicros: 0, count: 1, percent: undefined, budget: undefined, labels: {} },
    ],
    [
      'calls that a budget blocked, as many as it reports',
      { ...made('budget.blocked', 'e1', 'gw'), data: { agent_id: 'a', count: 12, labels: { team: 'x' } } },
      { agentId: 'a', settledMicros: 0, count: 12, percent: undefined, budget: undefined, labels: { team: 'x' } },
    ],
    [
      'a call without usage, with its labels',
      { ...made('call.unmetered', 'e1', 'gw'), data: { agent_id: 'a', labels: { team: 'x' } } },
      { agentId: 'a', settledMicros: 0, count: 1, percent: undefined, budget: undefined, labels: { team: 'x' } },
    ],
    [
      'a model without a price, of no agent',
      { ...made('price.missing', 'e1', 'gw'), data: MISSING },
      { agentId: undefined, settledMicros: 0, count: 1, percent: undefined, budget: undefined, labels: {} },
    ],
    [
      'a request for a raise, of no agent',
      { ...made('raise.requested', 'e1', 'gw'), data: RAISE },
      {
        ...{ agentId: undefined, settledMicros: 0, count: 1, percent: undefined, budget: undefined, labels: {} },
        raise: RAISE,
      },
    ],
  ])('counts at its own time: %s', (_what, event, counted) => {
    const tenantId = provenTenantId('ws_1');
    const receivedAt = '2026-11-21T18:00:01.000Z';
    expect(toCountableEvent({ tenantId, receivedAt, keyId: 'key_1', event })).toEqual({
      ...{ tenantId, id: 'e1', type: event.type, identity: expect.any(Number) },
      ...{ time: Date.parse(time), receivedAt: Date.parse(receivedAt), ...counted },
    });
  });

  it.each<[string, object, Partial<CountableEvent>]>([
    ['an agent, and is of that agent', { scope: 'agent', scope_id: 'a' }, { agentId: 'a', percent: 80 }],
    ['a plan, and is of no agent', { scope: 'plan', scope_id: 'a' }, { agentId: undefined, percent: 80 }],
    [
      'some calls, and is of no agent',
      { scope: 'budget', scope_id: 'bud_1', percent: 100, reached_percent: 200, value: 'zoe' },
      { agentId: undefined, percent: 200 },
    ],
    ['the workspace, and is of no agent', { scope: 'workspace', scope_id: 'a' }, { agentId: undefined, percent: 80 }],
  ])('reports a threshold of the budget of %s', (_what, about, counted) => {
    const data: object = { percent: 80, spent_micros: 8, daily_budget_usd_micros: 10, ...about };
    const event = { ...made('x', 'e1', 'gw'), type: 'budget.threshold_reached', data };
    const counting = { ...counted, budget: data };
    expect(toCountableEvent({ tenantId: provenTenantId('ws_1'), receivedAt: time, event })).toMatchObject(counting);
  });
});
