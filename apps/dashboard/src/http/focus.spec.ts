import { describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import fc from 'fast-check';
import { type DashboardEvent, SPEND_SETTLED } from '../domain/event.ts';
import { createFocusLines, toCharges } from './focus.ts';

const tenantId = provenTenantId('ws_focus');
const HOUR_MS = 3_600_000;
const midnight = Date.parse('2026-11-01T00:00:00Z');
const span = { start: midnight + 1_800_000, end: midnight + 5.5 * HOUR_MS };

const call = (time: number, data: DashboardEvent['data']): DashboardEvent => ({
  ...{ tenantId, source: '', eventId: '', type: SPEND_SETTLED, time },
  data,
});

const calls = fc
  .array(
    fc.record({
      time: fc.integer({ min: span.start, max: span.end - 1 }),
      amount: fc.integer({ min: 0, max: 5_000_000 }),
      model: fc.constantFrom(undefined, 'gpt', 'opus'),
      team: fc.constantFrom(undefined, 'growth', 'sales'),
      tokens: fc.option(fc.integer({ min: 0, max: 9_000 }), { nil: undefined }),
    }),
    { maxLength: 80 },
  )
  .map((all) =>
    all
      .sort((a, b) => a.time - b.time)
      .map(({ time, amount, model, team, tokens }) =>
        call(time, {
          amount_micros: amount,
          ...(model && { model }),
          ...(team && { labels: { team } }),
          ...(tokens !== undefined && { input_tokens: tokens }),
        }),
      ),
  );

async function chargesOf(all: DashboardEvent[], pageSize: number, maxCharges?: number) {
  async function* pages() {
    for (let at = 0; at < all.length; at += pageSize) yield all.slice(at, at + pageSize);
  }
  const charges = [];
  for await (const page of toCharges(pages(), span, maxCharges)) charges.push(...page);
  return charges;
}

describe('charges', () => {
  it('add up to their calls in each hour, whatever the pages and however few may be in memory', async () => {
    const sizes = fc.record({ page: fc.integer({ min: 1, max: 30 }), most: fc.integer({ min: 1, max: 20 }) });
    await fc.assert(
      fc.asyncProperty(calls, sizes, async (all, { page, most }) => {
        const charges = await chargesOf(all, page, most);
        const sums = (times: [number, number][]) =>
          Array.from({ length: 6 }, (_, hour) =>
            times
              .filter(([time]) => Math.floor((time - midnight) / HOUR_MS) === hour)
              .reduce((sum, [, amount]) => sum + amount, 0),
          );
        const amounts = all.map(({ time, data }): [number, number] => [time, data.amount_micros!]);
        expect(sums(charges.map(({ start, micros }) => [start, micros]))).toEqual(sums(amounts));
        expect(charges.reduce((sum, charge) => sum + charge.calls, 0)).toBe(all.length);
        for (const { start, end } of charges) expect([start >= span.start, end <= span.end]).toEqual([true, true]);
      }),
      { seed: 20261130, numRuns: 100 },
    );
  });

  it('are sent when as many as may be in memory are', async () => {
    const kinds = Array.from({ length: 7 }, (_, at) => call(span.start + at, { amount_micros: 1, agent_id: `a${at}` }));
    async function* pages() {
      for (const each of kinds) yield [each];
    }
    const sizes: number[] = [];
    for await (const page of toCharges(pages(), span, 3)) sizes.push(page.length);
    expect(sizes).toEqual([3, 3, 1]);
  });

  it('of the same kind and hour are one row', async () => {
    const alike = [1, 2, 3].map((at) => call(span.start + at, { amount_micros: at, model: 'gpt', input_tokens: at }));
    const other = call(span.start + HOUR_MS, { amount_micros: 9, model: 'gpt', input_tokens: 9 });
    expect(await chargesOf([...alike, other], 2)).toMatchObject([
      { micros: 6, calls: 3, inputTokens: 6, start: span.start, end: midnight + HOUR_MS },
      { micros: 9, calls: 1, start: midnight + HOUR_MS },
    ]);
  });

  it('say what they are in the columns of FOCUS', async () => {
    const labels = { team: '=growth' };
    const known = { model: 'gpt-4o', provider: 'openai', agent_id: 'planner', labels };
    const { head, line } = createFocusLines({ id: tenantId, name: 'Demo, Inc.' });
    const [full, bare] = await chargesOf(
      [
        call(span.start, { amount_micros: 1_500_000, input_tokens: 7, output_tokens: 3, ...known }),
        call(span.start + 1, { amount_micros: 2 }),
      ],
      10,
    );
    const columns = head.trimEnd().split(',');
    const cells = line(full!)
      .trimEnd()
      .split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/);
    const row = Object.fromEntries(columns.map((name, at) => [name, cells[at]]));
    expect(row).toMatchObject({
      ...{ BilledCost: '1.500000', EffectiveCost: '1.500000', BillingAccountName: '"Demo, Inc."', InvoiceId: '' },
      ...{ BillingPeriodStart: '2026-11-01T00:00:00Z', BillingPeriodEnd: '2026-12-01T00:00:00Z' },
      ...{ ChargePeriodStart: '2026-11-01T00:30:00Z', ChargePeriodEnd: '2026-11-01T01:00:00Z' },
      ...{ ConsumedQuantity: '10.0', ConsumedUnit: 'Tokens', ProviderName: 'openai', SkuId: 'gpt-4o' },
      ...{ Tags: '"{""team"":""=growth""}"', x_AgentId: 'planner', x_Calls: '1' },
    });
    expect(line(bare!)).toContain(',1.0,Requests,');
  });
});
