import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { provenTenantId, type TenantId, type TimeSpan } from '@tollkeeper/kernel';
import { ensureIndexes, withTransaction } from '@tollkeeper/mongo';
import { useMongo } from '@tollkeeper/testing';
import { createConnection, mongo as driver } from 'mongoose';
import { SPEND_SETTLED, type DashboardEvent } from '../src/domain/event.ts';
import { recordEvents } from '../src/domain/record-events.ts';
import { createTallies, sumTallies, WHOLE_WORKSPACE } from '../src/domain/tallies.ts';
import { withTracked } from '../src/domain/tracked-labels.ts';
import { createStores } from '../src/store/stores.ts';
import { documentsRead } from './documents-read.ts';

const HOUR_MS = 3_600_000;
const day = Date.parse('2026-11-22T00:00:00.000Z');
const wholeDay = { start: day, end: day + 24 * HOUR_MS };
const hoursAlone = { start: day + HOUR_MS, end: day + 23 * HOUR_MS };
const quartersAlone = { start: day + 5.25 * HOUR_MS, end: day + 6.75 * HOUR_MS };
/** Within all three spans. */
const time = day + 5.5 * HOUR_MS;

const MODELS = 1_000;
const AT_ONCE = 1_000;
/** A name as long as the name of a model may be. */
const longName = (of: string, number: number): string => `${of}-${number}-`.padEnd(128, 'x');

const mongo = useMongo();
const connection = createConnection(mongo.uri, {
  ...{ dbName: mongo.newDatabase(), autoIndex: false, autoCreate: false, monitorCommands: true },
});
const stores = createStores(connection, 2_000_000_000);
const tallies = createTallies(stores);

beforeAll(async () => {
  await connection.asPromise();
  await ensureIndexes(Object.values(connection.models));
});
afterAll(() => connection.close());

/** Bytes of the commands that change roll-ups or names while `work` runs. */
async function bytesWritten(work: () => Promise<unknown>): Promise<number> {
  const client = connection.getClient();
  let bytes = 0;
  const count = ({ command }: driver.CommandStartedEvent): void => {
    if (['rollups', 'names'].includes(command['update'])) bytes += driver.BSON.calculateObjectSize(command);
  };
  client.on('commandStarted', count);
  try {
    await work();
  } finally {
    client.off('commandStarted', count);
  }
  return bytes;
}

let sequence = 0;
/** `label` is the value of a label that is tracked. */
function settled(
  tenantId: TenantId,
  names: { agent: string; model?: string; plan?: string; label?: string },
): DashboardEvent {
  const number = ++sequence;
  const { agent, model, plan, label } = names;
  const data = {
    ...{ agent_id: agent, run_id: 'r', settlement_id: `s${number}`, amount_micros: 1_000_000 + number },
    ...{ input_tokens: 1_000 + number, output_tokens: 1_000 + number },
    ...(model !== undefined && { model }),
    ...(plan !== undefined && { plan_key: plan }),
    ...(label !== undefined && { labels: { team: label } }),
  };
  const event = { tenantId, source: 'gw', eventId: `e${number}`, type: SPEND_SETTLED, time, data };
  return withTracked(event, ['team']);
}

const record = (events: DashboardEvent[]) =>
  withTransaction(connection, (session) => recordEvents(stores.recorder, session, events));

describe.each([
  { agents: 10, agentOf: (number: number) => longName('agent', number), what: '10 agents with long names' },
  { agents: 40, agentOf: (number: number) => `agent-${number}`, what: '40 agents' },
])('a workspace of $what that each settle under 1,000 models and plans with long names', ({ agents, agentOf }) => {
  const tenantId = provenTenantId(`ws_wide_${agents}`);
  const eventOf = (row: number): DashboardEvent =>
    settled(tenantId, {
      agent: agentOf(row % agents),
      model: longName('model', Math.floor(row / agents) % MODELS),
      plan: longName('plan', row % MODELS),
    });
  let bytesAtOnce = 0;

  beforeAll(async () => {
    for (let row = 0; row < agents * MODELS; row += AT_ONCE) {
      const events = Array.from({ length: AT_ONCE }, (_, index) => eventOf(row + index));
      bytesAtOnce += await bytesWritten(() => record(events));
    }
  });

  it('has at most 4 kB written to its roll-ups for an event of many that come at once', () => {
    expect(bytesAtOnce / (agents * MODELS)).toBeLessThanOrEqual(4_000);
  });

  it('has at most 64 kB written to its roll-ups for an event that comes alone', async () => {
    const bytes: number[] = [];
    for (let number = 0; number < 200; number += 1) {
      bytes.push(await bytesWritten(() => record([eventOf(number * 7_919)])));
    }
    bytes.sort((a, b) => a - b);
    expect(bytes[0]).toBeGreaterThan(0);
    expect(bytes[Math.ceil(bytes.length * 0.99) - 1]).toBeLessThanOrEqual(64_000);
  });

  it('is listed in full, and adds up', async () => {
    for (const span of [wholeDay, hoursAlone, quartersAlone]) {
      const [whole] = await tallies.ofSpans(tenantId, WHOLE_WORKSPACE, [span]);
      const byAgent = await tallies.byAgent(tenantId, span);
      expect(byAgent.size).toBe(agents);
      expect(sumTallies(byAgent.values())).toEqual(whole);
      const agent = agentOf(3);
      const byModel = await tallies.byModel(tenantId, agent, span);
      expect(byModel.size).toBe(MODELS);
      expect(sumTallies(byModel.values())).toEqual(byAgent.get(agent));
      for (const by of ['model', 'plan'] as const) {
        const { groups, others } = await tallies.breakdown(tenantId, { by }, [span], 20);
        expect(groups.length + others!.count).toBe(1_000);
        for (const name of ['totalMicros', 'settlements'] as const) {
          expect([...groups, others!].reduce((sum, { total }) => sum + total[name], 0)).toBe(whole![name]);
        }
      }
    }
  });
});

describe('a workspace that tracks five labels with 1,000 long values each', () => {
  const tenantId = provenTenantId('ws_labels');
  const NAMES = ['team', 'env', 'user', 'cost.center', 'x'.repeat(32)];
  const VALUES = 1_000;
  const valueOf = (label: number, row: number) => longName(`value-${label}`, (row * (label + 1)) % VALUES);
  function eventOf(row: number): DashboardEvent {
    const event = settled(tenantId, { agent: `agent-${row % 40}` });
    const labels = Object.fromEntries(NAMES.map((name, label) => [name, valueOf(label, row)]));
    return withTracked({ ...event, data: { ...event.data, labels } }, NAMES);
  }
  let bytesAtOnce = 0;
  const EVENTS = 10 * AT_ONCE;

  beforeAll(async () => {
    for (let row = 0; row < EVENTS; row += AT_ONCE) {
      const events = Array.from({ length: AT_ONCE }, (_, index) => eventOf(row + index));
      bytesAtOnce += await bytesWritten(() => record(events));
    }
  });

  it('has at most 4 kB written to its roll-ups for an event of many that come at once', () => {
    expect(bytesAtOnce / EVENTS).toBeLessThanOrEqual(4_000);
  });

  it('has at most 24 kB more written for each of them when an event comes alone', async () => {
    const bytes: number[] = [];
    for (let number = 0; number < 100; number += 1) {
      bytes.push(await bytesWritten(() => record([eventOf(number * 7_919)])));
    }
    bytes.sort((a, b) => a - b);
    expect(bytes[98]).toBeLessThanOrEqual(64_000 + NAMES.length * 24_000);
  });

  it('divides spend by each of them, and finds each value from the parts that can hold it', async () => {
    for (const span of [wholeDay, hoursAlone, quartersAlone]) {
      const [whole] = await tallies.ofSpans(tenantId, WHOLE_WORKSPACE, [span]);
      for (const [label, name] of NAMES.entries()) {
        const { groups } = await tallies.breakdown(tenantId, { by: 'label', name }, [span], 2 * VALUES);
        expect(groups.reduce((sum, { total }) => sum + total.totalMicros, 0)).toBe(whole!.totalMicros);
        const { key, total } = groups[label]!;
        const [tally] = await tallies.ofSpans(tenantId, { scope: 'label', name, value: key! }, [span]);
        expect(tally).toMatchObject({ totalMicros: total.totalMicros, settlements: total.settlements });
      }
    }
    const { labels } = stores.recorder.rollupPartsOf(tenantId);
    const ofUser = { scope: 'label', name: 'user', value: valueOf(2, 7) } as const;
    const read = () => tallies.ofSpans(tenantId, ofUser, [wholeDay]);
    expect(labels).toBeGreaterThan(5);
    // The document of the workspace, the list of parts and one part.
    expect(await documentsRead(connection, read, ['rollups'])).toBeLessThanOrEqual(3);
  });
});

describe('the names that settlements of a day are divided by', () => {
  const OTHER = '';

  const GROUPINGS = { model: { by: 'model' }, plan: { by: 'plan' }, label: { by: 'label', name: 'team' } } as const;
  const KINDS = ['model', 'plan', 'label'] as const;

  async function groupsOf(tenantId: TenantId, by: (typeof KINDS)[number], span: TimeSpan) {
    const { groups } = await tallies.breakdown(tenantId, GROUPINGS[by], [span], 2_000);
    return new Map(groups.map(({ key, total }) => [key, total.settlements]));
  }

  it.each(KINDS)(
    'are 1,000 of a kind: every further %s counts as other, in the day and its hours alike',
    async (by) => {
      const tenantId = provenTenantId(`ws_names_${by}`);
      const of = (number: number, agent = `agent-${number % 7}`) =>
        settled(tenantId, { agent, [by]: `name-${number}` });
      // In several batches, with names that came before, and the limit inside one batch.
      for (const [from, to] of [
        [0, 1],
        [0, 400],
        [300, 999],
      ]) {
        await record(Array.from({ length: to! - from! }, (_, index) => of(from! + index)));
      }
      const unnamed = settled(tenantId, { agent: 'agent-0' });
      const results = [
        await record([of(1_000), of(1_001), of(1_000), of(5), unnamed]),
        await record([of(1_001), of(998)]),
      ];
      expect(results.map(({ others }) => others)).toEqual([
        [{ tenantId, kind: by, events: 1 }],
        [{ tenantId, kind: by, events: 1 }],
      ]);
      for (const span of [wholeDay, hoursAlone, quartersAlone]) {
        const groups = await groupsOf(tenantId, by, span);
        expect(groups.size).toBe(1_002);
        expect(groups.get('name-1000')).toBe(2);
        expect(groups.has('name-1001')).toBe(false);
        expect(groups.get(OTHER)).toBe(2);
        expect(groups.get(null)).toBe(1);
        const [whole] = await tallies.ofSpans(tenantId, WHOLE_WORKSPACE, [span]);
        expect([...groups.values()].reduce((sum, settlements) => sum + settlements, 0)).toBe(whole!.settlements);
        const byAgent = await tallies.byAgent(tenantId, span);
        expect(sumTallies(byAgent.values())).toEqual(whole);
        for (const [agent, tally] of byAgent) {
          expect(sumTallies((await tallies.byModel(tenantId, agent, span)).values())).toEqual(tally);
        }
      }
    },
  );

  it('are those of the day of the event, of its workspace alone, and not of a transaction that does not commit', async () => {
    const [one, other] = [provenTenantId('ws_names_1'), provenTenantId('ws_names_2')];
    const full = Array.from({ length: 1_000 }, (_, number) => settled(one, { agent: 'a', model: `name-${number}` }));
    const failed = withTransaction(connection, async (session) => {
      await recordEvents(stores.recorder, session, [settled(one, { agent: 'a', model: 'lost' }), ...full]);
      throw new Error('stopped before the commit');
    });
    await expect(failed).rejects.toThrow('stopped before the commit');
    await record(full);
    expect((await groupsOf(one, 'model', wholeDay)).has(OTHER)).toBe(false);
    const late = settled(one, { agent: 'a', model: 'late' });
    await record([settled(one, { agent: 'a', model: 'further' }), settled(other, { agent: 'a', model: 'further' })]);
    await record([{ ...late, time: time - 24 * HOUR_MS }]);
    expect((await groupsOf(one, 'model', wholeDay)).get(OTHER)).toBe(1);
    expect(await groupsOf(other, 'model', wholeDay)).toEqual(new Map([['further', 1]]));
    const dayBefore = { start: day - 24 * HOUR_MS, end: day };
    expect(await groupsOf(one, 'model', dayBefore)).toEqual(new Map([['late', 1]]));
  });
});
