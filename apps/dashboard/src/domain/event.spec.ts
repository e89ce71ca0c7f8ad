import { describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import {
  BUDGET_BLOCKED,
  eventKey,
  GUARD_BLOCKED,
  identitiesOf,
  isBlocked,
  settlementKey,
  SPEND_SETTLED,
  withoutDuplicates,
  type DashboardEvent,
} from './event.ts';

const [tenantId, otherTenant] = ['ws_1', 'ws_2'].map(provenTenantId) as [
  DashboardEvent['tenantId'],
  DashboardEvent['tenantId'],
];

function settled(eventId: string, settlement_id: string, rest: Partial<DashboardEvent> = {}): DashboardEvent {
  return { tenantId, source: 'gw', eventId, type: SPEND_SETTLED, time: 1, data: { settlement_id }, ...rest };
}

const fresh = (events: DashboardEvent[], known: string[] = []) =>
  withoutDuplicates(events, new Map(known.map((identity) => [identity, 1]))).fresh;

describe('an event counts once', () => {
  const first = settled('e1', 's1');

  it.each([
    ['its source and id', settled('e1', 's2')],
    ['its settlement', settled('e2', 's1')],
  ])('by %s: the first one to arrive counts', (_by, again) => {
    expect(fresh([first, again])).toEqual([first]);
    expect(fresh([again], identitiesOf(first))).toEqual([]);
  });

  it.each([
    ['another source', settled('e1', 's2', { source: 'gw2' })],
    ['another workspace', settled('e1', 's1', { tenantId: otherTenant })],
    ['a type that settles nothing', settled('e2', 's1', { type: BUDGET_BLOCKED })],
    ['an id and a source that read the same together', settled('e1|g', 's2', { source: 'w' })],
  ])('and one of %s counts beside it', (_of, other) => {
    expect(fresh([first, other])).toEqual([first, other]);
  });

  it('and a duplicate makes nothing else a duplicate', () => {
    const events = [first, settled('e1', 's2'), settled('e3', 's2')];
    expect(fresh(events)).toEqual([first, events[2]]);
  });
});

describe('the keys of stored events', () => {
  it('stay what they are, since events are known by them', () => {
    const event = settled('e1', 's1', { source: 'gw|2' });
    expect(identitiesOf(event)).toEqual(['ws_1|e1|gw|2', '|settlement|ws_1|s1']);
    expect(identitiesOf(event)).toEqual([eventKey(event), settlementKey(tenantId, 's1')]);
  });
});

describe('a blocked event', () => {
  it('is one that a budget or a guard blocked, and no other', () => {
    const types = [BUDGET_BLOCKED, GUARD_BLOCKED, SPEND_SETTLED, 'tool.blocked', ''];
    expect(types.map((type) => isBlocked({ type }))).toEqual([true, true, false, false, false]);
  });
});
