import { describe, expect, it } from '@jest/globals';
import { dashboardService, GATEWAY_EVENTS_TOPIC, GATEWAY_EVENTS_TOPIC_OPTIONS } from '@tollkeeper/contracts';
import type { GatewayEvent } from '@tollkeeper/contracts';
import { createConsumerGroup, createMongoEventLog } from '@tollkeeper/event-log';
import type { AppError, TenantId } from '@tollkeeper/kernel';
import { connectMongo } from '@tollkeeper/mongo';
import { createMetrics } from '@tollkeeper/runtime';
import { testLogger, useMongo } from '@tollkeeper/testing';
import { CONSUMER_GROUP, createGatewayEventsConsumer } from '../src/consumers/gateway-events.consumer.ts';
import { createReads } from '../src/domain/reads.ts';
import { createSettlementList } from '../src/domain/settlement.list.ts';
import { createStores } from '../src/store/stores.ts';
import { budgetBlocked, encode, newTenant, settled, useDashboard } from './dashboard.stack.ts';

const mongo = useMongo();
const dashboard = useDashboard(mongo);
const HOUR_MS = 3_600_000;
const noon = Date.parse('2026-11-21T12:00:00.000Z');
const today = { from: noon - 12 * HOUR_MS, until: noon + 12 * HOUR_MS };
const at = (ms: number) => new Date(ms).toISOString();

type Page = Awaited<ReturnType<typeof dashboard.listSettlements>>;

/** All pages of a pass. `between` runs before each page but the first. */
async function pagesOf(tenantId: TenantId, between: () => Promise<unknown> = async () => {}): Promise<Page[]> {
  const pages: Page[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    if (pages.length > 0) await between();
    const page: Page = await dashboard.listSettlements({ tenantId, ...today, cursor });
    pages.push(page);
    cursor = page.nextCursor === '' ? undefined : page.nextCursor;
  }
  return pages;
}

const idsOf = (pages: readonly Page[]) =>
  pages.flatMap(({ settlements }) => settlements.map(({ settlementId }) => settlementId));
const settlementId = ({ data }: GatewayEvent) => (data as { settlement_id: string }).settlement_id;

describe('ListSettlements', () => {
  it('has all that the event of a settlement says, and nothing that it does not', async () => {
    const tenantId = newTenant();
    const known = { plan_key: 'pro', model: 'claude-1', provider: 'anthropic', reservation_id: 'res_1' };
    const labels = { team: 'growth', 'cost.center': 'Zürich' };
    const full = settled(at(noon), 9_007_199_254_740_991, { ...known, labels, run_id: 'r', input_tokens: 5 });
    const bare = settled(at(noon + 1), 0);
    const keyId = 'abcdefgh12345678';
    await dashboard.appendValues([encode(tenantId, full, keyId), encode(tenantId, bare)]);
    const page = await dashboard.listSettlements({ tenantId, ...today });
    expect(page).toMatchObject({ nextCursor: '', readUntil: today.until });
    expect(page.settlements).toEqual([
      {
        ...{ settlementId: settlementId(full), time: noon, agentId: 'planner', labels, keyId },
        ...{ planKey: 'pro', model: 'claude-1', provider: 'anthropic', reservationId: 'res_1' },
        amountMicros: 9_007_199_254_740_991,
        ...{ _planKey: 'planKey', _model: 'model', _provider: 'provider' },
        ...{ _keyId: 'keyId', _reservationId: 'reservationId' },
      },
      {
        ...{ settlementId: settlementId(bare), time: noon + 1, agentId: 'planner', labels: {} },
        amountMicros: 0,
      },
    ]);
  });

  it('names the lease of a settlement in place of a reservation', async () => {
    const tenantId = newTenant();
    const [leased, both] = [{ lease_id: 'lse_1' }, { lease_id: 'lse_1', reservation_id: 'rsv_1' }];
    await dashboard.append(tenantId, [settled(at(noon), 1, leased), settled(at(noon + 1), 1, both)]);
    const { settlements } = await dashboard.listSettlements({ tenantId, ...today });
    expect(settlements.map(({ reservationId }) => reservationId)).toEqual(['lse_1', 'rsv_1']);
  });

  it('has each settlement once while others are reported, and none of another workspace or time', async () => {
    const [tenantId, other] = [newTenant(), newTenant()];
    const spendOf = (count: number) =>
      Array.from({ length: count }, (_, index) => settled(at(noon + ((index * 7_919) % 86_400) * 10), 1));
    const before = spendOf(1_500);
    await dashboard.append(tenantId, [
      ...before,
      settled(at(today.from - 1), 1),
      settled(at(today.until), 1),
      budgetBlocked(at(noon)),
    ]);
    await dashboard.append(other, spendOf(50));
    const later: GatewayEvent[] = [];
    const pages = await pagesOf(tenantId, async () => {
      for (let round = 0; round < 6; round += 1) {
        const more = spendOf(3);
        later.push(...more);
        await dashboard.report(tenantId, more);
      }
    });
    const ids = idsOf(pages);
    expect(pages.length).toBeGreaterThan(3);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining(before.map(settlementId)));
    const known = new Set([...before, ...later].map(settlementId));
    expect(ids.filter((id) => !known.has(id))).toEqual([]);
  });

  it('stays far below the largest answer of gRPC with the longest labels', async () => {
    const tenantId = newTenant();
    const labels = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [`label-${index}`.padEnd(32, 'x'), '語'.repeat(128)]),
    );
    const events = Array.from({ length: 600 }, (_, index) => settled(at(noon + (index % 7)), 1, { labels }));
    for (let index = 0; index < events.length; index += 50)
      await dashboard.append(tenantId, events.slice(index, index + 50));
    const pages = await pagesOf(tenantId);
    expect(idsOf(pages).toSorted()).toEqual(events.map(settlementId).toSorted());
    const bytes = pages.map((page) => dashboardService.ListSettlements.responseSerialize(page).length);
    expect(Math.max(...bytes)).toBeLessThanOrEqual(3 * 1024 * 1024);
    expect(Math.max(...bytes)).toBeGreaterThan(2.5 * 1024 * 1024);
  });

  it('has on the first pages all that was appended before', async () => {
    const tenantId = newTenant();
    for (let count = 1; count <= 10; count += 1) {
      await dashboard.append(tenantId, [settled(at(noon + count), 1)]);
      expect(idsOf(await pagesOf(tenantId))).toHaveLength(count);
    }
  });

  it.each([
    ['from', { from: 5, until: 5 }, 'must be before until'],
    ['from', { from: 0, until: 400 * 24 * HOUR_MS + 1 }, 'must be at most 400 days before until'],
    ['from', { from: -1, until: 5 }, 'must not be negative'],
    ['until', { from: 9_007_199_254_740_990, until: 9_007_199_254_740_991 }, 'must be before the year 10000'],
    ['tenant_id', { tenantId: '', ...today }, 'must be 1 to 128 characters'],
    ['cursor', { ...today, cursor: 'nonsense' }, 'must be the next_cursor of an earlier response'],
  ])('names the field %s of a request that it cannot answer: %j', async (path, request, message) => {
    const failure: unknown = await dashboard.listSettlements({ tenantId: newTenant(), ...request }).catch((e) => e);
    const { code, details } = failure as AppError;
    expect(code).toBe('invalid_request');
    expect(details).toContainEqual({ path, message: expect.stringContaining(message) });
  });

  it('refuses the cursor of another span', async () => {
    const tenantId = newTenant();
    await dashboard.append(
      tenantId,
      Array.from({ length: 401 }, (_, index) => settled(at(noon + index), 1)),
    );
    const { nextCursor: cursor } = await dashboard.listSettlements({ tenantId, ...today });
    const others = [
      { from: today.from, until: noon },
      { from: noon + HOUR_MS, until: today.until },
    ];
    for (const span of others) {
      const failure = dashboard.listSettlements({ tenantId, ...span, cursor });
      await expect(failure).rejects.toMatchObject({ details: [{ path: 'cursor' }] });
    }
  });
});

describe('the first page', () => {
  it('is unavailable until the events of the workspace in the log are stored', async () => {
    const { logger } = testLogger();
    const metrics = createMetrics('dashboard');
    const database = connectMongo({ uri: mongo.uri, database: mongo.newDatabase(), logger });
    const { connection } = database;
    const stores = createStores(connection, 2_000_000_000);
    const eventLog = createMongoEventLog({ connection, logger, metrics });
    const group = createConsumerGroup({ name: CONSUMER_GROUP, eventLog, connection, metrics, logger });
    const trackedLabels = { of: async () => [], refresh: async () => undefined, lastKnown: () => [] };
    const base = { recorder: stores.recorder, trackedLabels, metrics, logger, clock: () => noon };
    const consumer = createGatewayEventsConsumer({ ...base, group });
    const deps = { reader: stores.settlements, reads: createReads(), caughtUp: consumer.caughtUp };
    const list = createSettlementList({ ...deps, logWaitMs: 200 });
    await database.start();
    await eventLog.start();
    try {
      const tenantId = newTenant();
      await expect(list.first(tenantId, today)).rejects.toMatchObject({ code: 'service_unavailable' });
      await eventLog.ensureTopic(GATEWAY_EVENTS_TOPIC_OPTIONS);
      expect(await list.first(tenantId, today)).toEqual({ settlements: [], next: null });
      await eventLog.append(GATEWAY_EVENTS_TOPIC, [encode(tenantId, settled(at(noon), 1))]);
      const refusal = { code: 'service_unavailable', message: expect.stringContaining('still reading the event log') };
      await expect(list.first(tenantId, today)).rejects.toMatchObject(refusal);
      await consumer.start();
      await consumer.caughtUp(tenantId, AbortSignal.timeout(60_000));
      expect((await list.first(tenantId, today)).settlements).toHaveLength(1);
    } finally {
      await consumer.stop();
      await eventLog.stop();
      await database.stop();
    }
  });
});
