import { describe, expect, it } from '@jest/globals';
import type { GatewayEvent } from '@tollkeeper/contracts';
import { useMongo } from '@tollkeeper/testing';
import { storedEvents } from './stored.events.ts';
import { budgetBlocked, guardBlocked, newTenant, settled, useDashboard } from './dashboard.stack.ts';

const mongo = useMongo();
const dashboard = useDashboard(mongo);
const today = '2026-11-21T12:00:00.000Z';

type Identity = Pick<GatewayEvent, 'id' | 'source'>;
const settlement = (settlementId: string, identity: Identity): GatewayEvent => ({
  ...settled(today, 5, { settlement_id: settlementId }),
  ...identity,
});
const KINDS: [string, (identity: Identity) => GatewayEvent][] = [
  ['a settlement', (identity) => settlement('S2', identity)],
  ['a budget block', (identity) => ({ ...budgetBlocked(today), ...identity })],
  ['a guard block', (identity) => ({ ...guardBlocked(today), ...identity })],
  ['another event', (identity) => ({ ...budgetBlocked(today), type: 'tool.called', ...identity })],
];
/** Ids and sources that look like the settlement S1 of the event e1 of gw, or like its id. */
const LOOKALIKES: Identity[] = [
  { id: 'settlement', source: 'S1' },
  { id: 'settlement', source: '|S1' },
  { id: 'S1', source: '|settlement|S1' },
  { id: 'e1', source: 'gw|' },
  { id: 'S1', source: 'gw' },
];
const cases = KINDS.flatMap(([kind, make]) =>
  LOOKALIKES.map((identity) => ({
    kind,
    ...identity,
    pair: [settlement('S1', { id: 'e1', source: 'gw' }), make(identity)],
  })),
);

async function counted(batches: GatewayEvent[][]): Promise<number> {
  const tenantId = newTenant();
  for (const batch of batches) await dashboard.report(tenantId, batch);
  return storedEvents(mongo.connection.useDb(dashboard.database), tenantId);
}

describe('a settlement', () => {
  it('that is reported again is counted by whether its amount differs from the first one', async () => {
    const duplicates = async () => {
      const values = await dashboard.metricOf('dashboard_duplicate_settlements_total');
      return ['false', 'true'].map((differs) => values.find(({ labels }) => labels['differs'] === differs)?.value ?? 0);
    };
    const costing = (amount: number, id: string): GatewayEvent => ({
      ...settled(today, amount, { settlement_id: 'S1' }),
      ...{ id, source: 'gw' },
    });
    const [alike, differing] = await duplicates();
    const first = costing(5, 'e1');
    expect(await counted([[first], [first], [costing(5, 'e2'), costing(6, 'e3'), costing(7, 'e4')]])).toBe(1);
    expect(await duplicates()).toEqual([alike! + 2, differing! + 2]);
  });

  it.each(cases)('and $kind with the id $id of $source are two, in both orders', async ({ pair }) => {
    for (const [first, second] of [pair, pair.toReversed()]) {
      expect(await counted([[first!, second!]])).toBe(2);
      expect(await counted([[first!], [second!]])).toBe(2);
    }
  });

  it('that another event reports again is one, and so is an event that comes again, in both orders', async () => {
    const event = settlement('S1', { id: 'e1', source: 'gw' });
    const again = settlement('S1', { id: 'e2', source: 'other' });
    const sameId = settlement('S3', { id: 'e1', source: 'gw' });
    for (const other of [again, sameId]) {
      for (const [first, second] of [
        [event, other],
        [other, event],
      ]) {
        expect(await counted([[first!, second!]])).toBe(1);
        expect(await counted([[first!], [second!]])).toBe(1);
      }
    }
  });
});
