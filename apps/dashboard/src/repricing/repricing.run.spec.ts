import { setImmediate } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { decodeGatewayEvent } from '@tollkeeper/contracts';
import { AppError, provenTenantId } from '@tollkeeper/kernel';
import type { PriceBook } from '@tollkeeper/prices';
import type { DashboardEvent } from '../domain/event.ts';
import { UNLIMITED } from '../domain/reads.ts';
import { emptySums, type RepricingJob } from './repricing.ts';
import { startRun } from './repricing.run.ts';
import { toCorrectionData } from '../domain/corrections.ts';

const TENANT = provenTenantId('ws_1');
const NOON = Date.parse('2026-11-21T12:00:00.000Z');

const JOB: RepricingJob = {
  ...{ id: 'rpr_1', tenantId: TENANT, state: 'running', createdAt: new Date(NOON), createdBy: 'user_1' },
  ...{ from: 0, to: NOON, models: null, dryRun: false, timezone: 'UTC', overrides: 1, expected: 3 },
  ...{ place: { time: 0, after: '' }, sums: emptySums(), finishedAt: null, problem: null, failures: 0 },
};

interface SetUp {
  calls?: number;
  price?: PriceBook['price'];
  caughtUp?: () => Promise<void>;
}

/** A dashboard that counts what is appended at once, with pages of two settlements. */
function setUp({ calls = 3, price = () => undefined, caughtUp = async () => undefined }: SetUp = {}) {
  const stored = Array.from({ length: calls }, (_, index) => index + 1).map((nth): DashboardEvent => ({
    ...{ tenantId: TENANT, source: 'gw', eventId: `e${nth}`, type: 'spend.settled', time: NOON - 10 + nth },
    data: {
      ...{ settlement_id: `s${nth}`, run_id: 'r', agent_id: 'a', model: 'house', amount_micros: 0, priced_by: 'none' },
      ...{ input_tokens: 1_000_000 * nth, output_tokens: 0 },
    },
  }));
  const ids: string[] = [];
  const start = (job: RepricingJob, overrides = [{ id: 'p', provider: undefined, model: 'house', validFromMs: 0 }]) =>
    startRun(
      {
        reader: {
          async settlementsFrom(_tenantId, from) {
            const after = stored.filter(({ time }) => time > from.time);
            const times = [...new Set(after.map(({ time }) => time))].sort((a, b) => a - b).slice(0, 2);
            const settlements = after.filter(({ time }) => times.includes(time));
            return { settlements, next: times.length === 2 ? { time: times[1]!, after: '' } : null };
          },
        },
        reads: { run: (_read, work) => work(UNLIMITED) },
        prices: { price },
        overridesOf: async () => overrides.map((each) => ({ ...each, microsPerMillion: { input: 7 } })),
        budgetList: { of: async () => [] },
        async append(records) {
          for (const { value } of records) {
            const { tenantId, event } = decodeGatewayEvent(value);
            if (ids.includes(event.id)) continue;
            ids.push(event.id);
            const data = toCorrectionData(event.data as Parameters<typeof toCorrectionData>[0]);
            const { source, type } = event;
            stored.push({ tenantId, source, eventId: event.id, type, time: Date.parse(event.time), data });
          }
        },
        caughtUp,
        clock: () => NOON + 1,
      },
      job,
    );
  return { start, ids, stored };
}

it('a page that is done again after a crash corrects nothing twice, and reports all of its changes', async () => {
  const { start, ids } = setUp();
  await (await start(JOB)).nextPage();
  expect(ids).toHaveLength(2);
  // It was not stored that the page is done.
  const again = await (await start(JOB)).nextPage();
  expect(ids).toHaveLength(2);
  expect(again).toMatchObject({ state: 'running', sums: { read: 2, calls: 2, fromMicros: 0, toMicros: 21 } });
  const last = await (await start(again)).nextPage();
  expect(ids).toHaveLength(3);
  expect(last).toMatchObject({ state: 'done', sums: { read: 3, calls: 3, fromMicros: 0, toMicros: 42 } });
});

it('a job that goes on in another process uses no price that was set after it began', async () => {
  const { start, stored } = setUp();
  const base = { provider: undefined, model: 'house', validFromMs: 0 };
  await (
    await start(JOB, [
      { id: 'p', ...base },
      { id: 'later', ...base },
    ])
  ).nextPage();
  expect(stored.slice(3).map(({ data }) => data.price_id)).toEqual(['p', 'p']);
});

it("a job waits for the operator's list instead of pricing by the table alone, and goes on when it was read", async () => {
  let isRead = false;
  const { start, ids, stored } = setUp({
    price() {
      if (!isRead) throw new AppError('service_unavailable', 'PRICES_URL was never read.');
      return { micros: 9, priceId: 'house-1', priceVersion: 'v1' };
    },
  });
  // The workspace has no price of the model.
  await expect((await start(JOB, [])).nextPage()).rejects.toThrow('PRICES_URL was never read.');
  expect(ids).toEqual([]);
  isRead = true;
  expect(await (await start(JOB, [])).nextPage()).toMatchObject({ sums: { read: 2, calls: 2, toMicros: 18 } });
  expect(stored.slice(3).map(({ data }) => data.price_id)).toEqual(['house-1', 'house-1']);
});

it('a page is written only when all corrections are counted but those of the page before', async () => {
  /** One for the corrections of earlier jobs, then one a page. */
  const counts = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
  let asked = 0;
  const { start, ids } = setUp({ calls: 7, caughtUp: () => counts[asked++]!.promise });
  counts[0]!.resolve();
  const run = await start(JOB);
  await run.nextPage();
  await run.nextPage();
  const third = run.nextPage();
  for (let turn = 0; turn < 50; turn += 1) await setImmediate();
  expect(ids).toHaveLength(4);
  counts[1]!.resolve();
  await third;
  expect(ids).toHaveLength(6);
  counts[2]!.resolve();
  counts[3]!.resolve();
  let isDone = false;
  const last = run.nextPage().finally(() => (isDone = true));
  for (let turn = 0; turn < 50; turn += 1) await setImmediate();
  expect([ids.length, asked, isDone]).toEqual([7, 5, false]);
  counts[4]!.resolve();
  expect(await last).toMatchObject({ state: 'done', sums: { read: 7, calls: 7 } });
});
