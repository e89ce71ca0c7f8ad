import { describe, expect, it } from '@jest/globals';
import type { GatewayEvent } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { useMongo } from '@tollkeeper/testing';
import {
  budgetBlocked,
  guardBlocked,
  newTenant,
  newTenantIn,
  settled,
  unmetered,
  useDashboard,
} from './dashboard.stack.ts';

const mongo = useMongo();
const dashboard = useDashboard(mongo);
/** The clock is at 2026-11-21T18:34:56.789Z. */
const { now } = dashboard.clock;

interface Row {
  key: string | null;
  total_micros: number;
  previous_micros: number;
}
interface Table {
  by: string;
  rows: Row[];
  others: (Omit<Row, 'key'> & { count: number }) | null;
}
interface Statement {
  [field: string]: unknown;
  window: { start: string; end: string; timezone: string };
  previous: { start: string; end: string };
  total: Record<string, number>;
  tables: Table[];
  raises: { rows: object[]; others: object | null };
}

async function statementOf(tenantId: TenantId, query = ''): Promise<Statement> {
  const { status, body } = await dashboard.get(tenantId, `/statement${query}`);
  expect(status).toBe(200);
  return body as Statement;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
const totalOf = (table: Table, of: 'total_micros' | 'previous_micros') =>
  sum([...table.rows, ...(table.others === null ? [] : [table.others])].map((row) => row[of]));
const spendIn = async (tenantId: TenantId, { start, end }: { start: string; end: string }) =>
  ((await dashboard.get(tenantId, `/spend?from=${start}&to=${end}`)).body as { metrics: Record<string, number> })
    .metrics;

/** What the clocks of a zone show at a time, such as `2026-11-21T18:34:56.789`. */
function wallClock(time: string | number, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en-CA', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 },
  });
  const part = new Map(format.formatToParts(new Date(time)).map(({ type, value }) => [type, value]));
  const date = ['year', 'month', 'day'].map((name) => part.get(name as 'year')).join('-');
  const clock = ['hour', 'minute', 'second'].map((name) => part.get(name as 'hour')).join(':');
  return `${date}T${clock}.${part.get('fractionalSecond')}`;
}

/** Calls around the ends of months and clock changes, and anywhere else, of more agents than a table has rows. */
function callsOf(): GatewayEvent[] {
  const edges = ['2026-09-01T00:00', '2026-10-01T00:00', '2026-10-25T01:00', '2026-11-01T06:00', '2026-11-21T18:30'];
  return Array.from({ length: 600 }, (_, index) => {
    const near = Date.parse(`${edges[index % edges.length]}:00Z`) + (((index * 7_919) % 211) - 105) * 900_000;
    const anywhere = Date.parse('2026-08-25T00:00:00Z') + ((index * 104_729) % 7_600_000) * 1_000;
    const time = Math.min(now - 1, (index % 3 === 0 ? anywhere : near) + (index % 5) - 2);
    return settled(new Date(time).toISOString(), index * 17 + 1, {
      agent_id: `agent-${index % 13}`,
      ...(index % 4 > 0 && { plan_key: ['pro', 'free'][index % 2] }),
      ...(index % 3 > 0 && { labels: { team: `team-${index % 11}` } }),
    });
  });
}

/** The obvious way to divide the spend of some calls. */
function divided(
  calls: readonly GatewayEvent[],
  keyOf: (data: Record<string, unknown>) => unknown,
): Map<unknown, number> {
  const sums = new Map<unknown, number>();
  for (const { data } of calls) {
    const fields = data as Record<string, unknown>;
    const key = keyOf(fields) ?? null;
    sums.set(key, (sums.get(key) ?? 0) + (fields['amount_micros'] as number));
  }
  return sums;
}

/** What calls are divided by, in the order of the tables. */
const KEYS: readonly ((data: Record<string, unknown>) => unknown)[] = [
  (data) => data['plan_key'],
  (data) => data['agent_id'],
  ({ labels }) => (labels as { team?: string } | undefined)?.team,
];

describe('the statement of a month', () => {
  it('has what a count of every call finds, and adds up to /spend, in zones with and without clock changes', async () => {
    const zones = ['UTC', 'Europe/Paris', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Pacific/Apia'];
    for (const zone of zones) {
      const tenantId = newTenantIn(zone, 'team');
      const calls = callsOf();
      await dashboard.report(tenantId, calls);
      const of = (isIn: (local: string) => boolean) => calls.filter(({ time }) => isIn(wallClock(time, zone)));
      const sameTime = `2026-10${wallClock(now, zone).slice(7)}`;
      const months = [
        { month: '2026-10', complete: true, isBefore: (local: string) => local.startsWith('2026-09') },
        {
          ...{ month: '2026-11', complete: false },
          isBefore: (local: string) => local.startsWith('2026-10') && local < sameTime,
        },
      ];
      for (const { month, complete, isBefore } of months) {
        const statement = await statementOf(tenantId, `?month=${month}`);
        expect(statement).toMatchObject({ month, complete, window: { timezone: zone } });
        const [inMonth, before] = [of((local) => local.startsWith(month)), of(isBefore)];
        const spend = await spendIn(tenantId, statement.window);
        const [all, previous] = [inMonth, before].map((some) => divided(some, () => 'all').get('all') ?? 0);
        expect([zone, month, statement.total]).toEqual([
          ...[zone, month],
          expect.objectContaining({
            ...{ total_micros: all, previous_micros: previous },
            ...{ unique_settlements: inMonth.length, previous_settlements: before.length },
          }),
        ]);
        expect([spend['total_micros'], spend['unique_settlements']]).toEqual([all, inMonth.length]);
        expect((await spendIn(tenantId, statement.previous))['total_micros']).toBe(previous);
        expect(statement.tables.map(({ by }) => by)).toEqual(['plan', 'agent', 'label:team']);
        for (const [index, table] of statement.tables.entries()) {
          const keyOf = KEYS[index]!;
          const [sums, sumsBefore] = [divided(inMonth, keyOf), divided(before, keyOf)];
          const expected = [...new Set([...sums.keys(), ...sumsBefore.keys()])]
            .map((key) => ({ key, micros: sums.get(key) ?? 0, previous: sumsBefore.get(key) ?? 0 }))
            .sort((a, b) => b.micros - a.micros);
          expect(
            table.rows.map(({ key, total_micros, previous_micros }) => [key, total_micros, previous_micros]),
          ).toEqual(expected.slice(0, 8).map(({ key, micros, previous: micros2 }) => [key, micros, micros2]));
          expect([totalOf(table, 'total_micros'), totalOf(table, 'previous_micros')]).toEqual([all, previous]);
          expect(table.others?.count ?? 0).toBe(Math.max(0, expected.length - 8));
        }
      }
    }
  });

  it('is that of the last month that has ended, unless the query names one', async () => {
    expect(await statementOf(newTenant())).toMatchObject({
      ...{
        month: '2026-10',
        complete: true,
        tables: [
          { by: 'plan', rows: [], others: null },
          { by: 'agent', rows: [], others: null },
        ],
      },
      window: { start: '2026-10-01T00:00:00.000Z', end: '2026-11-01T00:00:00.000Z' },
      previous: { start: '2026-09-01T00:00:00.000Z', end: '2026-10-01T00:00:00.000Z' },
    });
    // In Apia the month has begun already.
    dashboard.clock.now = Date.parse('2026-11-30T12:00:00Z');
    expect((await statementOf(newTenantIn('Pacific/Apia')))['month']).toBe('2026-11');
    dashboard.clock.now = now;
  });

  it('compares budgets with what they select, those that used most first', async () => {
    const tenantId = newTenant('team');
    const day = { kind: 'day', startMonth: 1, startDay: 1 };
    const month = { ...day, kind: 'month' };
    dashboard.budgets.setWorkspace(tenantId, 100);
    dashboard.budgets.setAgent(tenantId, 'planner', 2);
    dashboard.budgets.setActive(tenantId, [
      { id: 'bud_team', name: 'Teams', selector: {}, each: 'label:team', period: month, limitMicros: 200 },
      { id: 'bud_key', name: 'Key', selector: { key: 'a'.repeat(16) }, period: month, limitMicros: 5 },
      { id: 'bud_new', name: 'Of a newer release', selector: {}, period: { kind: 'moon' }, limitMicros: 4 },
      {
        ...{ id: 'bud_once', name: 'Launch', selector: {}, limitMicros: 3 },
        period: { kind: 'once', start: Date.parse('2026-10-05T00:00:00Z'), end: Date.parse('2026-10-09T00:00:00Z') },
      },
      {
        ...{ id: 'bud_past', name: 'Past', selector: {}, limitMicros: 9 },
        period: { kind: 'once', start: Date.parse('2026-08-05T00:00:00Z'), end: Date.parse('2026-08-09T00:00:00Z') },
      },
    ]);
    const inTeam = (team: string) => ({ agent_id: 'coder', labels: { team } });
    await dashboard.report(tenantId, [
      settled('2026-10-01T00:00:00.000Z', 31),
      settled('2026-10-31T23:59:59.999Z', 150, inTeam('growth')),
      settled('2026-10-31T23:59:59.999Z', 50, inTeam('sales')),
      // Most of all values, but in the month before.
      settled('2026-09-30T23:59:59.999Z', 9_000, inTeam('support')),
    ]);
    const { budgets } = await statementOf(tenantId);
    const none = { each: null, value: null, values: null };
    const unknown = { ...none, spent_micros: null, used_pct: null };
    expect(budgets).toEqual({
      rows: [
        {
          ...{ budget_id: 'bud_team', budget_name: 'Teams', period: { kind: 'month', start_day: 1 } },
          ...{ limit_micros: 200, month_limit_micros: 200, spent_micros: 150, used_pct: 75 },
          ...{ each: 'label:team', value: 'growth', values: 2 },
        },
        {
          ...{ budget_id: 'bud_agent.planner', budget_name: 'The Planner', period: { kind: 'day' }, ...none },
          ...{ limit_micros: 2, month_limit_micros: 62, spent_micros: 31, used_pct: 50 },
        },
        {
          ...{ budget_id: 'bud_workspace', budget_name: 'Workspace', period: { kind: 'day' }, ...none },
          ...{ limit_micros: 100, month_limit_micros: 3_100, spent_micros: 231, used_pct: 7.45 },
        },
        {
          ...{ budget_id: 'bud_key', budget_name: 'Key', period: { kind: 'month', start_day: 1 }, ...unknown },
          ...{ limit_micros: 5, month_limit_micros: 5, unknown: 'not_counted' },
        },
        {
          ...{ budget_id: 'bud_new', budget_name: 'Of a newer release', period: null, ...unknown },
          ...{ limit_micros: 4, month_limit_micros: null, spent_micros: 231 },
        },
        {
          ...{ budget_id: 'bud_once', budget_name: 'Launch', ...unknown, unknown: 'part_of_month' },
          ...{ limit_micros: 3, month_limit_micros: 3 },
          period: { kind: 'once', start: '2026-10-05T00:00:00.000Z', end: '2026-10-09T00:00:00.000Z' },
        },
      ],
      others: { count: 0 },
    });
  });

  it('has the largest raises that were granted in the month, and the sum of all others', async () => {
    const tenantId = newTenant();
    const time = (text: string) => Date.parse(text);
    const raise = (id: number, grantedAt: string) => ({
      ...{ raiseId: `rai_${id}`, budgetId: 'bud_workspace', budgetName: 'Workspace', extraMicros: 100 - id },
      ...{ askedBy: 'Mia', grantedBy: 'Olga', grantedAt: time(grantedAt), until: time('2026-11-02T00:00:00Z') },
    });
    dashboard.budgets.setRaises(tenantId, [
      raise(0, '2026-09-30T23:59:59.999Z'),
      { ...raise(1, '2026-10-01T00:00:00Z'), value: 'zoe' },
      ...Array.from({ length: 9 }, (_, index) => raise(2 + index, '2026-10-31T23:59:59.999Z')),
      raise(11, '2026-11-01T00:00:00Z'),
    ]);
    const { raises } = await statementOf(tenantId);
    expect(raises.rows).toHaveLength(8);
    expect(raises.rows[0]).toEqual({
      ...{ raise_id: 'rai_1', budget_id: 'bud_workspace', budget_name: 'Workspace', value: 'zoe', extra_micros: 99 },
      ...{ asked_by: 'Mia', granted_by: 'Olga', granted_at: '2026-10-01T00:00:00.000Z' },
      until: '2026-11-02T00:00:00.000Z',
    });
    expect(raises.rows[7]).toMatchObject({ raise_id: 'rai_8', value: null });
    expect(raises.others).toEqual({ count: 2, extra_micros: 91 + 90 });
  });

  it('has what blocked calls, with those of all other reasons together', async () => {
    const tenantId = newTenant();
    const october = '2026-10-10T12:00:00.000Z';
    const ofBudget = (id: string, name: string) => ({ budget_id: id, budget_name: name });
    await dashboard.report(tenantId, [
      budgetBlocked('2026-10-01T00:00:00.000Z', { ...ofBudget('bud_1', 'Old name'), count: 40 }),
      budgetBlocked(october, { ...ofBudget('bud_1', 'Growth'), count: 2 }),
      budgetBlocked(october),
      budgetBlocked(october, { code: 'paused', pause_id: 'pau_1', pause_reason: 'Runs away', count: 7 }),
      guardBlocked(october),
      guardBlocked(october),
      ...Array.from({ length: 6 }, (_, index) => guardBlocked(october, { guard: `guard ${index}` })),
      guardBlocked('2026-09-30T23:59:59.999Z', { guard: 'before' }),
      budgetBlocked('2026-11-01T00:00:00.000Z', { count: 90 }),
    ]);
    expect((await statementOf(tenantId))['blocked']).toEqual({
      ...{ budget: 50, guard: 8, previous: { budget: 0, guard: 1 } },
      reasons: [
        { by: 'budget', name: 'Growth', calls: 42 },
        { by: 'pause', name: 'Runs away', calls: 7 },
        { by: 'guard', name: 'pii', calls: 2 },
        { by: 'budget', name: 'agent', calls: 1 },
        ...[0, 1, 2, 3].map((index) => ({ by: 'guard', name: `guard ${index}`, calls: 1 })),
      ],
      others: { calls: 2 },
    });
  });

  it('has a call that was accepted just before, and says which calls are in no sum', async () => {
    const tenantId = newTenant();
    for (let count = 1; count <= 3; count += 1) {
      await dashboard.append(tenantId, [
        settled('2026-10-02T00:00:00.000Z', 0, { priced_by: 'none' }),
        unmetered('2026-10-02T00:00:00.000Z'),
      ]);
      expect((await statementOf(tenantId)).total).toMatchObject({
        ...{ total_micros: 0, unique_settlements: count, unpriced: { calls: count }, unmetered: { calls: count } },
      });
    }
  });

  it.each([
    ['2026-12', 'must be a month that has begun'],
    ['2024-10', 'must be 2024-11 or later'],
    ['2026-13', 'must be a year and a month, such as 2026-11'],
    ['november', 'must be a year and a month, such as 2026-11'],
  ])('of %s is refused, and says which month to choose', async (month, message) => {
    expect(await dashboard.get(newTenant(), `/statement?month=${month}`)).toMatchObject({
      ...{ status: 400, body: { details: [{ path: 'month', message: expect.stringContaining(message) }] } },
    });
  });

  it('is not answered without its budgets, as it would not be complete', async () => {
    const tenantId = newTenant();
    await dashboard.budgets.stop();
    expect(await dashboard.get(tenantId, '/statement')).toMatchObject({
      ...{ status: 503, body: { code: 'service_unavailable' } },
    });
  });
});
