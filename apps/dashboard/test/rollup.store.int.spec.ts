import { beforeAll, describe, expect, it } from '@jest/globals';
import { provenTenantId, resolveRange, type TenantId, type TimeSpan } from '@tollkeeper/kernel';
import { ensureIndexes, withTransaction } from '@tollkeeper/mongo';
import { useMongo } from '@tollkeeper/testing';
import { DIMENSIONS, type Breakdown } from '../src/domain/breakdown.ts';
import { SPEND_SETTLED, type DashboardEvent } from '../src/domain/event.ts';
import { namesOf } from '../src/domain/names.ts';
import { rollupDeltas } from '../src/domain/rollup.ts';
import { seriesOf } from '../src/domain/series.ts';
import { createTallies, sumTallies, WHOLE_WORKSPACE } from '../src/domain/tallies.ts';
import { createNameStore } from '../src/store/rollups/name.store.ts';
import { createRollupStore } from '../src/store/rollups/rollup.store.ts';
import { documentsRead } from './documents-read.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const day = Date.parse('2026-11-22T00:00:00.000Z');
const window = { start: day, end: day + DAY_MS };
/** Not a whole day, so it is read by hour. */
const hoursAlone = { start: day, end: day + 23 * HOUR_MS };
/** Of packed rows. */
const MAX_PART_BYTES = 12 * 1024;
const mongo = useMongo();
const names = createNameStore(mongo.connection, 2_000_000_000);
const rollups = createRollupStore(mongo.connection, 2_000_000_000, names);
const tallies = createTallies({ tallies: [rollups], runStarts: [rollups] });
const stored = mongo.connection.collection('rollups');

beforeAll(() => ensureIndexes(Object.values(mongo.connection.models)));

function settled(
  tenantId: TenantId,
  agent: number,
  time: number,
  model = 'opus',
  plan?: { plan_key: string },
): DashboardEvent {
  const data = { agent_id: `agent-${agent}`, model, ...plan, amount_micros: agent + 1, settlement_id: 's' };
  return { tenantId, source: 'gw', eventId: 'e', type: SPEND_SETTLED, time, data };
}

const add = (events: DashboardEvent[]) =>
  withTransaction(mongo.connection, async (session) => {
    await names.add(session, namesOf(events));
    await rollups.add(session, rollupDeltas(events, []));
  });

describe('the roll-ups of a workspace with thousands of agents', () => {
  const tenantId = provenTenantId('ws_many');
  const AGENTS = 3_000;
  const HOURS = [0, 1, 5, 9, 13, 17, 21, 23];

  beforeAll(async () => {
    for (const hour of HOURS) {
      // Some hundreds of agents at a time, so that roll-ups with several parts get more of them.
      for (let first = 0; first < AGENTS; first += 400) {
        const agents = Array.from({ length: Math.min(400, AGENTS - first) }, (_, index) => first + index);
        await add(agents.map((agent) => settled(tenantId, agent, day + hour * HOUR_MS + agent, `model-${agent % 3}`)));
      }
    }
  });

  it('hold what each agent spent, over the day and in each hour of it', async () => {
    const byAgent = await tallies.byAgent(tenantId, window);
    expect(byAgent.size).toBe(AGENTS);
    for (const [agentId, { totalMicros, settlements }] of byAgent) {
      const agent = Number(agentId.slice('agent-'.length));
      expect([totalMicros, settlements]).toEqual([HOURS.length * (agent + 1), HOURS.length]);
    }
    const hours = Array.from({ length: 24 }, (_, hour) => day + hour * HOUR_MS);
    for (const agent of [0, 7, 1_234, AGENTS - 1]) {
      const series = await tallies.ofSpans(
        tenantId,
        { scope: 'agent', agentId: `agent-${agent}` },
        hours.map((start) => ({ start, end: start + HOUR_MS })),
      );
      expect(series.map(({ settlements }) => settlements)).toEqual(
        hours.map((_, hour) => (HOURS.includes(hour) ? 1 : 0)),
      );
      const models = await tallies.byModel(tenantId, `agent-${agent}`, window);
      expect([...models].map(([model, { settlements }]) => [model, settlements])).toEqual([
        [`model-${agent % 3}`, HOURS.length],
      ]);
    }
    const [whole] = await tallies.ofSpans(tenantId, WHOLE_WORKSPACE, [window]);
    expect(whole).toEqual(sumTallies(byAgent.values()));
  });

  it('lie in parts of bounded size, so that an event rewrites little', async () => {
    const parts = await stored.find({ tenantId }).toArray();
    expect(parts.length).toBeGreaterThan(5 * 4);
    const bytes = parts.flatMap(({ agents, days }) => [agents, days]).map((packed) => packed?.length() ?? 0);
    expect(Math.max(...bytes)).toBeLessThanOrEqual(MAX_PART_BYTES);
    expect(rollups.partsOf(tenantId).agents).toBeGreaterThanOrEqual(16);
    expect(rollups.partsOf(tenantId).days).toBeGreaterThan(1);
  });

  it('are read of a whole day from its parts with whole days alone', async () => {
    const { agents, days } = rollups.partsOf(tenantId);
    expect(days).toBeLessThan(agents);
    const read = () => tallies.byAgent(tenantId, window);
    // Plus the document of the workspace, which says that the rows are divided.
    expect(await documentsRead(mongo.connection, read, ['rollups'])).toBeLessThanOrEqual(1 + days);
  });
});

describe('the roll-ups of agents with hundreds of models', () => {
  it('hold each agent once when all agents leave a part', async () => {
    const tenantId = provenTenantId('ws_models');
    const AGENTS = 6;
    const MODELS = 100;
    for (let model = 0; model < MODELS; model += 20) {
      const events = Array.from({ length: 20 * AGENTS }, (_, index) =>
        settled(
          tenantId,
          index % AGENTS,
          day,
          `${'a-long-name-of-a-model-'.repeat(4)}${model + Math.floor(index / AGENTS)}`,
        ),
      );
      await add(events);
    }
    const parts = rollups.partsOf(tenantId);
    expect(Math.min(parts.agents, parts.days)).toBeGreaterThan(1);
    for (const span of [window, hoursAlone]) {
      const byAgent = await tallies.byAgent(tenantId, span);
      expect([...byAgent].map(([agent, { settlements }]) => [agent, settlements]).sort()).toEqual(
        Array.from({ length: AGENTS }, (_, agent) => [`agent-${agent}`, MODELS]),
      );
      for (let agent = 0; agent < AGENTS; agent += 1) {
        expect((await tallies.byModel(tenantId, `agent-${agent}`, span)).size).toBe(MODELS);
      }
    }
  });
});

describe('the plans of settlements', () => {
  const totals = async (tenantId: TenantId) =>
    (await tallies.breakdown(tenantId, { by: 'plan' }, [window], 20)).groups.map(({ key, total }) => [
      key,
      total.totalMicros,
      total.settlements,
    ]);

  it('add up to the workspace with the settlements that name none', async () => {
    const tenantId = provenTenantId('ws_plans');
    const pro = { plan_key: 'pro' };
    await add([settled(tenantId, 4, day, 'opus', pro), settled(tenantId, 1, day)]);
    expect(await totals(tenantId)).toEqual([
      ['pro', 5, 1],
      [null, 2, 1],
    ]);
    await add([settled(tenantId, 9, day + HOUR_MS, 'opus', pro), settled(tenantId, 0, day + HOUR_MS)]);
    expect(await totals(tenantId)).toEqual([
      ['pro', 15, 2],
      [null, 3, 2],
    ]);
  });

  it('stay with the roll-up while its agents are divided among more parts', async () => {
    const tenantId = provenTenantId('ws_plans_divided');
    for (let first = 0; first < 1_200; first += 400) {
      await add(
        Array.from({ length: 400 }, (_, agent) =>
          settled(tenantId, first + agent, day, 'opus', { plan_key: `plan-${agent % 2}` }),
        ),
      );
    }
    expect(rollups.partsOf(tenantId).agents).toBeGreaterThan(1);
    expect((await totals(tenantId)).map(([key, , settlements]) => [key, settlements])).toEqual([
      ['plan-1', 600],
      ['plan-0', 600],
    ]);
  });
});

describe('a query', () => {
  it.each([
    ['for each day', 'America/New_York', 1],
    ['for each day, and one for the hour that its midnight divides', 'Asia/Kathmandu', 2],
  ])('of three months, divided, reads a roll-up %s, in %s', async (_what, zone, ofDay) => {
    const tenantId = provenTenantId(`ws_months_${ofDay}`);
    const months = resolveRange('3m', zone, day + 15 * HOUR_MS);
    const from = months.start + 20 * 60_000;
    for (let time = from; time < months.end; time += 10 * DAY_MS) {
      const hours = Array.from({ length: 240 }, (_, hour) => time + hour * HOUR_MS);
      await add(
        hours
          .filter((at) => at < months.end)
          .map((at, index) => settled(tenantId, index % 3, at, 'opus', { plan_key: 'pro' })),
      );
    }
    const { points } = seriesOf(months);
    const series = await tallies.ofSpans(tenantId, WHOLE_WORKSPACE, points);
    expect(points.length).toBeGreaterThan(90);
    for (const by of DIMENSIONS) {
      let breakdown: Breakdown | undefined;
      const read = async () => void (breakdown = await tallies.breakdown(tenantId, { by }, points, 20));
      const documents = await documentsRead(mongo.connection, read, ['rollups']);
      expect(documents).toBeGreaterThanOrEqual(90 * ofDay);
      // The two ends are some hours.
      expect(documents).toBeLessThanOrEqual(points.length * ofDay + 3);
      const sums = points.map((_, span) => breakdown!.groups.reduce((sum, { micros }) => sum + micros[span]!, 0));
      expect(sums).toEqual(series.map(({ totalMicros }) => totalMicros));
    }
  });

  it('of whole days reads one part of each day, also when the hours of its agents lie in several', async () => {
    const tenantId = provenTenantId('ws_whole_days');
    const AGENTS = 100;
    const days = [0, 1, 2].map((number) => day + number * DAY_MS);
    for (const start of days) {
      for (let hour = 0; hour < 24; hour += 1) {
        const at = start + hour * HOUR_MS;
        await add(Array.from({ length: AGENTS }, (_, agent) => settled(tenantId, agent, at, `model-${agent % 4}`)));
      }
    }
    expect(rollups.partsOf(tenantId)).toEqual({ agents: 2, days: 1, plans: 1, labels: 1 });
    const span = { start: day, end: day + days.length * DAY_MS };
    for (const [ask, settlements] of [
      [() => tallies.byAgent(tenantId, span), AGENTS * 72],
      [() => tallies.byModel(tenantId, 'agent-7', span), 72],
    ] as const) {
      let sum = 0;
      const read = async () => void (sum = sumTallies((await ask()).values()).settlements);
      expect(await documentsRead(mongo.connection, read, ['rollups'])).toBe(days.length);
      expect(sum).toBe(settlements);
    }
  });

  it('sees whole transactions, also while a roll-up gets more parts', async () => {
    const tenantId = provenTenantId('ws_growing');
    const AGENTS = 500;
    let adding = true;
    const added = (async () => {
      for (let round = 0; round < 12; round += 1) {
        const at = day + round * HOUR_MS;
        await add(Array.from({ length: AGENTS }, (_, agent) => settled(tenantId, agent, at, `model-${round}`)));
      }
      adding = false;
    })();
    const settlementsIn = async (span: TimeSpan) =>
      sumTallies((await tallies.byAgent(tenantId, span)).values()).settlements;
    const seen = new Set<number>();
    while (adding) for (const span of [window, hoursAlone]) seen.add(await settlementsIn(span));
    await added;
    expect([...seen].filter((settlements) => settlements % AGENTS !== 0)).toEqual([]);
    expect(rollups.partsOf(tenantId).agents).toBeGreaterThanOrEqual(16);
    expect(rollups.partsOf(tenantId).days).toBeGreaterThan(1);
    for (const span of [window, hoursAlone]) expect(await settlementsIn(span)).toBe(12 * AGENTS);
  });

  it('sees whole transactions, also of whole days and hours', async () => {
    const tenantId = provenTenantId('ws_whole_transactions');
    let adding = true;
    const added = (async () => {
      for (let round = 0; round < 250; round += 1) {
        await add([settled(tenantId, 0, day), settled(tenantId, 0, day - HOUR_MS)]);
      }
      adding = false;
    })();
    const seen = new Set<number>();
    while (adding) {
      const byAgent = await tallies.byAgent(tenantId, { start: day - HOUR_MS, end: day + DAY_MS });
      seen.add(sumTallies(byAgent.values()).settlements);
    }
    await added;
    expect(seen.size).toBeGreaterThan(10);
    expect([...seen].filter((settlements) => settlements % 2 !== 0)).toEqual([]);
  });

  it('finds nothing of another workspace, also of one whose name begins alike', async () => {
    await add([settled(provenTenantId('ws_1'), 0, day)]);
    const [tally] = await tallies.ofSpans(provenTenantId('ws_'), WHOLE_WORKSPACE, [window]);
    expect(tally!.settlements).toBe(0);
    expect(await tallies.byAgent(provenTenantId('ws_11'), window)).toEqual(new Map());
  });
});
