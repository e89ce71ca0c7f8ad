import { beforeAll, describe, expect, it } from '@jest/globals';
import { isCallType } from '@tollkeeper/contracts';
import { provenTenantId, RANGE_KINDS, resolveRange, type TenantId, type TimeWindow } from '@tollkeeper/kernel';
import { ensureIndexes, withTransaction } from '@tollkeeper/mongo';
import { useMongo } from '@tollkeeper/testing';
import fc from 'fast-check';
import type { Dimension, Grouping } from '../src/domain/breakdown.ts';
import {
  BLOCKED_TYPES,
  type DashboardEvent,
  type EventAmount,
  NOBODY,
  SPEND_REPRICED,
  SPEND_SETTLED,
  withoutDuplicates,
} from '../src/domain/event.ts';
import { recordEvents } from '../src/domain/record-events.ts';
import { seriesOf } from '../src/domain/series.ts';
import { createTallies, sumTallies, WHOLE_WORKSPACE } from '../src/domain/tallies.ts';
import { type Measure, MEASURES, type SpendTally } from '../src/domain/tally.ts';
import { withTracked } from '../src/domain/tracked-labels.ts';
import { createStores } from '../src/store/stores.ts';
import { referenceOf } from './reference.ts';

const CENTURY_SECONDS = 2_000_000_000;
const TENANTS = ['ws_a', 'ws_b'].map(provenTenantId);
const AGENTS = ['planner', 'coder', 'a.b', 'a:b'];
const MODELS = [undefined, 'gpt', 'opus|x'];
const PLANS = [undefined, 'pro', 'free_tier'];
/** A tenant with so many rows on two days that they are divided, and with names of the maximum length. */
const WIDE_TENANT = provenTenantId('ws_wide');
const SPEND_MEASURES = Object.entries<Measure>(MEASURES).flatMap(([name, { of, combine }]) =>
  of !== 'time' && of.type === SPEND_SETTLED && combine === 'sum' ? [name as keyof SpendTally] : [],
);
const WIDE = { agents: 30, names: 300, events: 4_000 };
const TRACKED = ['team', 'user'];
const TEAMS = [undefined, 'growth', 'a=b|c'];
const GROUPS: Record<Dimension, { by: Grouping; keyOf: (data: DashboardEvent['data']) => string | undefined }> = {
  agent: { by: { by: 'agent' }, keyOf: ({ agent_id }) => agent_id },
  model: { by: { by: 'model' }, keyOf: ({ model }) => model },
  plan: { by: { by: 'plan' }, keyOf: ({ plan_key }) => plan_key },
  label: { by: { by: 'label', name: 'team' }, keyOf: ({ labels }) => labels?.['team'] },
};

// Half a year in which many zones change their clocks.
const from = Date.parse('2026-08-01T00:00:00Z');
const to = Date.parse('2027-01-20T00:00:00Z');

/**
 * Event times lie on and around bucket boundaries as often as elsewhere, and cluster before the instants of the
 * queries.
 */
const NOWS = [
  ...['2026-11-21T18:34:56.789Z', '2026-10-05T00:00:00.000Z', '2026-10-25T22:45:00.000Z', '2026-11-02T05:15:00.001Z'],
  ...['2026-09-27T14:00:00.000Z', '2026-10-03T15:29:59.999Z', '2027-01-01T00:00:00.000Z', '2026-12-31T18:15:00.000Z'],
].map((text) => Date.parse(text));
const time = fc.oneof(
  fc.integer({ min: from, max: to }),
  fc.integer({ min: from / 900_000, max: to / 900_000 }).map((quarter) => Math.floor(quarter) * 900_000),
  fc.tuple(fc.constantFrom(...NOWS), fc.integer({ min: -4_000_000, max: 1000 })).map(([now, delta]) => now + delta),
);

const tokens = fc.oneof(fc.integer({ min: 0, max: 200_000 }), fc.constant(3_000_000_000));
/** Values of the event fields that measures add up. */
const AMOUNT: Record<EventAmount, fc.Arbitrary<number>> = {
  amount_micros: fc.oneof(fc.integer({ min: 0, max: 50_000 }), fc.constant(3_000_000_000)),
  input_tokens: tokens,
  output_tokens: tokens,
  cache_read_tokens: tokens,
  cache_write_tokens: tokens,
  cache_write_1h_tokens: tokens,
  reasoning_tokens: tokens,
  count: fc.constantFrom(1, 12, 1000),
};

/** Every type with measures of its own, and one without. */
const COUNTED_TYPES = Object.values<Measure>(MEASURES).flatMap(({ of }) => (of === 'time' ? [] : of.type));
const TYPES = [...new Set([...COUNTED_TYPES, ...BLOCKED_TYPES]), 'tool.called'];

const event: fc.Arbitrary<DashboardEvent> = fc
  .record({
    tenantId: fc.constantFrom(...TENANTS),
    source: fc.constantFrom('gw', 'gw|2'),
    eventId: fc.integer({ min: 0, max: 6000 }).map((id) => `e${id}`),
    type: fc.constantFrom(SPEND_SETTLED, SPEND_SETTLED, ...TYPES),
    time,
    agent: fc.constantFrom(...AGENTS),
    run: fc.integer({ min: 0, max: 400 }),
    settlement: fc.integer({ min: 0, max: 5000 }),
    model: fc.constantFrom(...MODELS),
    plan: fc.constantFrom(...PLANS),
    team: fc.constantFrom(...TEAMS),
    amounts: fc.record(AMOUNT, { requiredKeys: ['amount_micros'] }),
    pricedBy: fc.constantFrom(undefined, 'table', NOBODY),
  })
  .map(({ agent, run, settlement, model, plan, team, amounts, pricedBy, ...rest }) => {
    const data: DashboardEvent['data'] = { run_id: `r${run}`, agent_id: agent };
    if (rest.type === SPEND_SETTLED) {
      Object.assign(data, {
        settlement_id: `s${settlement}`,
        ...(model && { model }),
        ...(plan && { plan_key: plan }),
        ...(pricedBy && { priced_by: pricedBy }),
      });
    }
    for (const { of } of Object.values<Measure>(MEASURES)) {
      if (of === 'time' || of.type !== rest.type || of.amount === undefined) continue;
      const amount = amounts[of.amount];
      if (amount !== undefined) data[of.amount] = amount;
    }
    if (!isCallType(rest.type) || team === undefined) return { ...rest, data };
    data.labels = { env: 'prod', team };
    return withTracked({ ...rest, data }, TRACKED);
  });

/** Two corrections of each fifth settlement that counts, up and down, the first of them twice. */
function correctionsOf(reported: DashboardEvent[]): DashboardEvent[] {
  const { fresh } = withoutDuplicates(reported, new Map());
  const counted = fresh.filter(({ type }) => type === SPEND_SETTLED);
  return counted.flatMap((settlement, index): DashboardEvent[] => {
    if (index % 5 > 0) return [];
    const { amount_micros: before = 0, priced_by: said = 'table', ...facts } = settlement.data;
    const correction = (from_micros: number, to_micros: number, from_priced_by: string, nth: number) => ({
      ...{ ...settlement, source: 'dashboard', eventId: `c${index}-${nth}`, type: SPEND_REPRICED },
      data: { ...facts, from_micros, to_micros, from_priced_by, priced_by: 'override', corrected_ms: nth },
    });
    const first = correction(before, index, said, 1);
    return [first, correction(index, Math.floor(before / 2), 'override', 2), first];
  });
}

describe('tallies over roll-ups', () => {
  const mongo = useMongo();
  const stores = createStores(mongo.connection, CENTURY_SECONDS);
  const { recorder } = stores;
  const tallies = createTallies(stores);

  // Ids repeat within and across batches, with other times and amounts, and many events are late.
  const reported = [...fc.sample(event, { numRuns: 6000, seed: 20261121 }), ...wideEvents()];
  const sample = [...reported, ...correctionsOf(reported)];
  const reference = referenceOf(sample);

  beforeAll(async () => {
    await ensureIndexes(Object.values(mongo.connection.models));
    for (let at = 0, size = 1; at < sample.length; at += size, size = (size * 7 + 3) % 400 || 1) {
      const batch = sample.slice(at, at + size);
      await withTransaction(mongo.connection, (session) => recordEvents(recorder, session, batch));
    }
    for (const parts of Object.values(recorder.rollupPartsOf(WIDE_TENANT))) expect(parts).toBeGreaterThan(1);
  });

  it('equal a brute-force sum over raw events for random windows, zones and workspaces', async () => {
    const zones = Intl.supportedValuesOf('timeZone');
    const question = fc.record({
      tenantId: fc.constantFrom(...TENANTS, WIDE_TENANT),
      range: fc.constantFrom(...RANGE_KINDS, 'custom'),
      ends: fc.tuple(time, time),
      zone: fc.oneof(
        fc.constantFrom('Asia/Kathmandu', 'Pacific/Chatham', 'Australia/Lord_Howe', 'America/St_Johns', 'UTC'),
        fc.constantFrom(...zones),
      ),
      now: fc.oneof(fc.constantFrom(...NOWS), fc.integer({ min: from + 100 * 86_400_000, max: to })),
      agentId: fc.constantFrom(...AGENTS, wideName('agent', 3)),
      limit: fc.integer({ min: 1, max: 4 }),
      team: fc.constantFrom('growth', 'a=b|c', wideName('team', 3), 'nobody'),
    });
    await fc.assert(
      fc.asyncProperty(question, async ({ tenantId, range, ends, zone, now, agentId, limit, team }) => {
        const window: TimeWindow =
          range === 'custom'
            ? { kind: range, start: Math.min(...ends), end: Math.max(...ends), timezone: zone }
            : resolveRange(range, zone, now);
        const { points } = seriesOf(window);
        const expected = reference(tenantId, window);
        const series = await tallies.ofSpans(tenantId, WHOLE_WORKSPACE, points);
        expect(series).toEqual(expected.totals(points));
        expect(sumTallies(series)).toEqual(expected.total);
        expect((await tallies.ofSpans(tenantId, WHOLE_WORKSPACE, [window]))[0]).toEqual(expected.total);
        expect(await tallies.byAgent(tenantId, window)).toEqual(expected.byAgent);
        expect(sumTallies(await tallies.ofSpans(tenantId, { scope: 'agent', agentId }, points))).toEqual(
          expected.byAgent.get(agentId) ?? sumTallies([]),
        );
        expect(await tallies.byModel(tenantId, agentId, window)).toEqual(expected.byModel(agentId));
        expect(await tallies.runsStarted(tenantId, window)).toBe(expected.runsStarted);
        const label = { scope: 'label', name: 'team', value: team } as const;
        expect(await tallies.ofSpans(tenantId, label, points)).toEqual(expected.ofLabel('team', team, points));
        for (const { by, keyOf } of Object.values(GROUPS)) {
          const { groups, others } = await tallies.breakdown(tenantId, by, points, limit);
          const wanted = expected.groups(keyOf, points);
          expect(groups.map(spendOf)).toEqual(wanted.slice(0, limit).map(spendOf));
          expect(others?.count ?? 0).toBe(Math.max(0, wanted.length - limit));
          const layers = others === undefined ? groups : [...groups, others];
          expect(sumOfLayers(layers, points.length)).toEqual(series.map(({ totalMicros }) => totalMicros));
          for (const name of SPEND_MEASURES) {
            expect(layers.reduce((sum, { total }) => sum + total[name], 0)).toBe(expected.total[name]);
          }
        }
      }),
      // Other queries in each run. A failure prints the seed and the path that repeat them.
      { numRuns: 200 },
    );
  });

  it('do not change when every event comes again, in another order and other batches', async () => {
    const window = { start: from, end: to };
    const tenants = [...TENANTS, WIDE_TENANT];
    const before = await Promise.all(tenants.map((tenantId) => snapshot(tenantId)));
    for (const batch of chunks(sample.toReversed(), 500)) {
      const { counted } = await withTransaction(mongo.connection, (session) => recordEvents(recorder, session, batch));
      expect(counted).toBe(0);
    }
    expect(await Promise.all(tenants.map((tenantId) => snapshot(tenantId)))).toEqual(before);

    async function snapshot(tenantId: TenantId): Promise<unknown> {
      return [await tallies.byAgent(tenantId, window), await tallies.runsStarted(tenantId, window)];
    }
  });

  it('count nothing of a batch whose transaction does not commit', async () => {
    const tenantId = provenTenantId('ws_aborted');
    const batch = sample.slice(0, 50).map((one) => ({ ...one, tenantId }));
    const failed = withTransaction(mongo.connection, async (session) => {
      await recordEvents(recorder, session, batch);
      throw new Error('stopped before the commit');
    });
    await expect(failed).rejects.toThrow('stopped before the commit');
    expect(await tallies.byAgent(tenantId, { start: from, end: to })).toEqual(new Map());
    expect(await tallies.runsStarted(tenantId, { start: from, end: to })).toBe(0);
  });
});

function wideName(of: string, number: number): string {
  return `${of}-${number}-`.padEnd(128, 'x');
}

/** Events before the first of {@link NOWS}, with times in mixed order. */
function wideEvents(): DashboardEvent[] {
  const end = NOWS[0]!;
  return Array.from({ length: WIDE.events }, (_, number) => {
    const event: DashboardEvent = {
      ...{ tenantId: WIDE_TENANT, source: 'gw', eventId: `wide-${number}`, type: SPEND_SETTLED },
      time: end - ((number * 7_919) % WIDE.events) * 30_000,
      data: {
        ...{ run_id: `r${number % 50}`, settlement_id: `wide-${number}`, amount_micros: number },
        agent_id: wideName('agent', number % WIDE.agents),
        model: wideName('model', (number * 31) % WIDE.names),
        plan_key: wideName('plan', (number * 17) % WIDE.names),
        labels: { team: wideName('team', (number * 13) % WIDE.names), user: `user-${number % 5}` },
      },
    };
    return withTracked(event, TRACKED);
  });
}

/** A group with the sums that can be divided. */
function spendOf({ key, total, micros }: { key: string | null; total: SpendTally; micros: Iterable<number> }) {
  return { key, spend: SPEND_MEASURES.map((name) => total[name]), micros: [...micros] };
}

function sumOfLayers(layers: { micros: Float64Array }[], spans: number): number[] {
  return Array.from({ length: spans }, (_, span) => layers.reduce((sum, { micros }) => sum + micros[span]!, 0));
}

function chunks<T>(items: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
