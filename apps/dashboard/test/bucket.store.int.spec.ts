import { beforeAll, describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { ensureIndexes } from '@tollkeeper/mongo';
import { useMongo } from '@tollkeeper/testing';
import { bucketDeltas } from '../src/domain/bucket.ts';
import { SPEND_SETTLED, type DashboardEvent } from '../src/domain/event.ts';
import { createTallies } from '../src/domain/tallies.ts';
import { emptyTally, MEASURES, tallyOf, type Tally } from '../src/domain/tally.ts';
import { createBucketStore } from '../src/store/bucket.store.ts';

const DAY_MS = 86_400_000;
const tenantId = provenTenantId('ws_1');
const mongo = useMongo();
const buckets = createBucketStore(mongo.connection, 2_000_000_000);
const tallies = createTallies({ tallies: [buckets], runStarts: [] });
const stored = mongo.connection.collection('buckets');

beforeAll(() => ensureIndexes(Object.values(mongo.connection.models)));

function settledAt(time: number): DashboardEvent {
  const spend = { settlement_id: `s${time}`, amount_micros: 7, input_tokens: 5, output_tokens: 3 };
  const data = { agent_id: 'planner', model: 'opus', ...spend };
  return { tenantId, source: 'gw', eventId: `e${time}`, type: SPEND_SETTLED, time, data };
}

describe('a roll-up from before a measure was counted', () => {
  const [first, second] = [settledAt(DAY_MS + 5), settledAt(2 * DAY_MS + 5)];
  const window = { start: DAY_MS, end: 3 * DAY_MS };
  const days = [window.start, 2 * DAY_MS].map((start) => ({ start, end: start + DAY_MS }));

  it.each(Object.entries(MEASURES) as [keyof Tally, { column: string }][])(
    'holds none of it, and the others as they are: %s',
    async (name, { column }) => {
      await stored.deleteMany({});
      await buckets.add(undefined, bucketDeltas([first], []));
      await stored.updateMany({}, { $unset: { [column]: true } });
      const old = { ...tallyOf(first), [name]: 0 };
      expect(await tallies.ofSpans(tenantId, 'workspace', days)).toEqual([old, emptyTally()]);
      expect(await tallies.byAgent(tenantId, window)).toEqual(new Map([['planner', old]]));
      expect(await tallies.byModel(tenantId, 'planner', window)).toEqual(new Map([['opus', old]]));
    },
  );

  it.each(Object.entries(MEASURES) as [keyof Tally, { column: string }][])(
    'adds up with roll-ups that have it, and takes more of it: %s',
    async (name, { column }) => {
      await stored.deleteMany({});
      await buckets.add(undefined, bucketDeltas([first], []));
      await stored.updateMany({}, { $unset: { [column]: true } });
      await buckets.add(undefined, bucketDeltas([second, settledAt(first.time - 1)], []));
      const [later] = await tallies.ofSpans(tenantId, 'workspace', [days[1]!]);
      expect(later).toEqual(tallyOf(second));
      const [whole] = await tallies.ofSpans(tenantId, 'workspace', [window]);
      const counted = (measure: keyof Tally) => (measure === 'lastAt' ? second.time : 3 * tallyOf(first)[measure]);
      const expected = Object.fromEntries(Object.keys(MEASURES).map((key) => [key, counted(key as keyof Tally)]));
      if (name !== 'lastAt') expected[name] = 2 * tallyOf(first)[name];
      expect(whole).toEqual(expected);
      expect(await tallies.byAgent(tenantId, window)).toEqual(new Map([['planner', whole]]));
    },
  );
});
