import { describe, expect, it } from '@jest/globals';
import type { TenantId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { mongo as driver } from 'mongoose';
import { newTenant, settled, useDashboard } from './dashboard.stack.ts';

const mongo = useMongo();
const dashboard = useDashboard(mongo);

type Row = Record<string, unknown> & { total_micros: number; amount_micros: number };
interface Spend {
  metrics: Record<string, number>;
}

async function text(tenantId: TenantId, query: string): Promise<string> {
  const answer = await dashboard.download(tenantId, `/export?${query}`);
  const body = await answer.text();
  if (answer.status !== 200) throw new Error(`${answer.status} ${body}`);
  return body;
}

async function rows(tenantId: TenantId, query: string): Promise<Row[]> {
  const lines = (await text(tenantId, `${query}&format=ndjson`)).split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Row);
}

/** The cells of a file whose texts have neither quotes nor line breaks, except for JSON. */
function cells(csv: string): Record<string, string>[] {
  const [head = '', ...lines] = csv.split('\r\n').slice(0, -1);
  const names = head.split(',');
  return lines.map((line) => {
    const values = line.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/);
    return Object.fromEntries(names.map((name, at) => [name, values[at] ?? '']));
  });
}

const microsOf = (usd: string) => Math.round(Number(usd) * 1_000_000);
const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
const spendIn = async (tenantId: TenantId, query: string) =>
  (await dashboard.get(tenantId, `/spend?${query}`)).body as Spend;

let filling: Promise<TenantId> | undefined;
/** A workspace for all tests that only read it. */
const filled = () => (filling ??= fill());

/** Calls before, on and after midnights and clock changes of several zones, some of them priced again. */
async function fill(): Promise<TenantId> {
  const tenantId = newTenant('team');
  const midnights = [
    '2026-10-04T15:30',
    '2026-10-24T22:00',
    '2026-10-25T23:00',
    '2026-10-25T01:00',
    '2026-11-01T05:00',
  ];
  const instants = midnights.map((time) => Date.parse(`${time}:00Z`));
  const events = Array.from({ length: 420 }, (_, index) => {
    const offset = ((index * 7_919) % 200) * 450_000 - 45_000_000 + (index % 3) - 1;
    return settled(new Date(instants[index % instants.length]! + offset).toISOString(), index * 13, {
      agent_id: ['planner', 'coder', 'writer'][index % 3],
      ...(index % 4 > 0 && { model: ['gpt', 'opus', '=house-1'][index % 3], provider: 'openai' }),
      ...(index % 5 > 0 && { plan_key: ['pro', 'free'][index % 2] }),
      ...(index % 3 > 0 && { labels: { team: ['growth', '@sales'][index % 2], env: 'prod' } }),
      ...(index % 7 > 0 && { input_tokens: index, output_tokens: 2 * index }),
      ...(index % 6 === 2 && { priced_by: 'none', amount_micros: 0 }),
    });
  });
  await dashboard.report(tenantId, events);
  dashboard.budgets.setPrices(tenantId, [
    { id: 'p', model: '=house-1', validFrom: 0, input: 2_000_000, output: 1_000 },
  ]);
  const body = { from: '2026-09-20T00:00:00Z', to: '2026-11-10T00:00:00Z' };
  const path = '/api/v1/prices:reprice';
  const owner = { tenantId, role: 'owner' } as const;
  const { id } = (await dashboard.sendAs(owner, 'post', path, body)).body as { id: string };
  await eventually(async () => {
    const { body: job } = await dashboard.sendAs(owner, 'get', `${path}/jobs/${id}`);
    expect(job).toMatchObject({ state: 'done' });
  });
  await dashboard.caughtUp();
  return tenantId;
}

describe('an export', () => {
  it('equals /spend to the micro for every grouping, format, zone and day, also days with a clock change', async () => {
    const tenantId = await filled();
    const windows = [
      'from=2026-10-03T14:10:00.001Z&to=2026-10-05T13:00:00Z',
      'from=2026-10-20T22:00:00Z&to=2026-11-02T04:47:13.500Z',
      'from=2026-10-25T00:50:00Z&to=2026-10-25T01:20:00Z',
      'range=1m',
    ];
    let repriced = 0;
    for (const window of windows) {
      for (const zone of ['Europe/Paris', 'Australia/Lord_Howe', 'Asia/Kathmandu']) {
        const query = `${window}&timezone=${zone}`;
        const { metrics } = await spendIn(tenantId, query);
        const { total_micros, unique_settlements, input_tokens, output_tokens } = metrics;
        const days = await rows(tenantId, query);
        for (const day of days) {
          const ofDay = await spendIn(tenantId, `from=${String(day['start'])}&to=${String(day['end'])}`);
          expect(day).toMatchObject({
            ...{ total_micros: ofDay.metrics['total_micros'], input_tokens: ofDay.metrics['input_tokens'] },
            unique_settlements: ofDay.metrics['unique_settlements'],
          });
        }
        for (const by of ['', 'agent', 'model', 'plan', 'label:team']) {
          const divided = await rows(tenantId, by === '' ? query : `${query}&group_by=${by}`);
          const all = (of: string) => sum(divided.map((row) => row[of] as number));
          expect([
            by,
            all('total_micros'),
            all('unique_settlements'),
            all('input_tokens'),
            all('output_tokens'),
          ]).toEqual([by, total_micros, unique_settlements, input_tokens, output_tokens]);
          const csv = cells(await text(tenantId, by === '' ? query : `${query}&group_by=${by}`));
          expect(sum(csv.map((row) => microsOf(row['total_usd']!)))).toBe(total_micros);
          expect(sum(csv.map((row) => Number(row['total_micros'])))).toBe(total_micros);
        }
        const calls = await rows(tenantId, `${query}&group_by=call`);
        expect([calls.length, sum(calls.map((row) => row.amount_micros))]).toEqual([unique_settlements, total_micros]);
        const focus = cells(await text(tenantId, `${query}&format=focus`));
        expect(sum(focus.map((row) => microsOf(row['BilledCost']!)))).toBe(total_micros);
        expect(sum(focus.map((row) => Number(row['x_Calls'])))).toBe(unique_settlements);
        repriced += calls.filter((row) => row['priced_by'] === 'override').length;
      }
    }
    expect(repriced).toBeGreaterThan(0);
  });

  it('of a label equals /spend of the label, by day and by call', async () => {
    const tenantId = await filled();
    const query = 'from=2026-10-20T22:00:00Z&to=2026-11-02T04:47:13.500Z&label.team=growth';
    const { metrics } = await spendIn(tenantId, query);
    expect(metrics['total_micros']).toBeGreaterThan(0);
    expect(sum((await rows(tenantId, query)).map((row) => row.total_micros))).toBe(metrics['total_micros']);
    const calls = await rows(tenantId, `${query}&group_by=call`);
    expect(sum(calls.map((row) => row.amount_micros))).toBe(metrics['total_micros']);
    const focus = cells(await text(tenantId, `${query}&format=focus`));
    expect(sum(focus.map((row) => microsOf(row['BilledCost']!)))).toBe(metrics['total_micros']);
  });

  it('has the names of groups, local dates, and no text that a spreadsheet would calculate', async () => {
    const tenantId = await filled();
    const query = 'from=2026-10-25T00:00:00Z&to=2026-10-25T12:00:00Z&timezone=Europe/Paris';
    const answer = await dashboard.download(tenantId, `/export?${query}&group_by=agent`);
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(answer.headers.get('content-disposition')).toBe(
      'attachment; filename="tollkeeper-2026-10-25-to-2026-10-25.csv"',
    );
    const byAgent = cells(await answer.text());
    expect(byAgent.map(({ date, key, display_name }) => [date, key, display_name]).toSorted()).toEqual([
      ['2026-10-25', 'coder', 'coder'],
      ['2026-10-25', 'planner', 'The Planner'],
      ['2026-10-25', 'writer', 'writer'],
    ]);
    const calls = await text(tenantId, `${query}&group_by=call`);
    expect(calls).toContain(",'=house-1,");
    expect(calls).not.toMatch(/(^|,)"?[=@+]/m);
  });

  it('has a call that was accepted just before', async () => {
    const tenantId = newTenant();
    const time = '2026-11-21T12:00:00.000Z';
    for (let count = 1; count <= 5; count += 1) {
      await dashboard.append(tenantId, [settled(time, 1)]);
      expect(await rows(tenantId, 'range=today&group_by=call')).toHaveLength(count);
    }
  });

  it('of nothing has its first line, or none', async () => {
    const tenantId = newTenant();
    expect(await text(tenantId, 'range=today&group_by=call')).toMatch(/^occurred_at,amount_usd,settlement_id,.*\r\n$/);
    expect(await text(tenantId, 'range=today&group_by=call&format=ndjson')).toBe('');
    expect(await text(tenantId, 'range=today&format=focus')).toMatch(/^BilledCost,.*\r\n$/);
  });

  it.each([
    ['format=focus&group_by=agent', 'group_by', 'Leave it out'],
    ['group_by=agent&label.team=growth', 'label.team', 'cannot be combined with group_by=agent'],
    ['group_by=label:color', 'group_by', 'must be a label that the workspace tracks'],
    ['group_by=hour', 'group_by', 'must be agent, model, plan, call, or label:'],
    ['format=xlsx', 'format', ''],
    ['group_by=call&from=2026-06-01T00:00:00Z&to=2026-11-01T00:00:00Z', 'from', 'earlier calls have been removed'],
    ['format=focus&from=2026-06-01T00:00:00Z&to=2026-11-01T00:00:00Z', 'from', 'earlier calls have been removed'],
  ])('with %s is refused, and says how to ask', async (query, path, message) => {
    const answer = await dashboard.download(newTenant('team'), `/export?${query}`);
    const { details } = (await answer.json()) as { details: unknown };
    expect(answer.status).toBe(400);
    expect(details).toEqual([{ path, message: expect.stringContaining(message) }]);
  });

  it('reads sums of time whose events have been removed, to the quarter of an hour', async () => {
    const tenantId = newTenant();
    const query = 'from=2026-06-01T00:00:00Z&to=2026-06-03T22:15:00Z&timezone=Europe/Paris';
    await dashboard.report(tenantId, [settled('2026-06-03T22:05:00.000Z', 5), settled('2026-06-01T10:00:00.000Z', 7)]);
    // As after their expiry.
    await chunks().deleteMany({ tenantId });
    const days = await rows(tenantId, `${query}&group_by=agent`);
    expect(days.map(({ date, total_micros }) => [date, total_micros])).toEqual([
      ['2026-06-01', 7],
      ['2026-06-04', 5],
    ]);
  });

  it('that fails in the middle breaks off, so that nobody takes the file for a complete one', async () => {
    const tenantId = await manyCalls();
    await chunks().updateMany(
      { tenantId, to: { $gte: new Date('2026-11-20T00:00:00Z') } },
      { $set: { events: new driver.Binary(Buffer.from('rubbish')) } },
    );
    const answer = await dashboard.download(tenantId, `/export?${TWO_DAYS}&group_by=call`);
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow();
    await eventually(async () => {
      expect(await dashboard.metricOf('dashboard_exports_total')).toContainEqual(
        expect.objectContaining({ labels: { format: 'csv', outcome: 'failed' }, value: 1 }),
      );
    });
  });

  it('ends with its client, and lets the next one begin', async () => {
    const tenantId = await manyCalls();
    const client = new AbortController();
    const answer = await dashboard.download(tenantId, `/export?${TWO_DAYS}&group_by=call`, client.signal);
    const reader = answer.body!.getReader();
    await reader.read();
    const second = await dashboard.download(tenantId, `/export?${TWO_DAYS}`);
    expect(second.status).toBe(429);
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0);
    await second.text();
    client.abort();
    await eventually(async () => expect(await text(tenantId, TWO_DAYS)).toContain('2026-11-20'));
    expect(await dashboard.metricOf('dashboard_exports_in_progress')).toMatchObject([{ value: 0 }]);
  });
});

const TWO_DAYS = 'from=2026-11-19T00:00:00Z&to=2026-11-21T00:00:00Z&timezone=UTC';

/** More calls than the first page has, and than the system buffers for a socket, on two days. */
async function manyCalls(): Promise<TenantId> {
  const tenantId = newTenant();
  const labels = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`label-${at}`, 'x'.repeat(120)]));
  for (let batch = 0; batch < 12; batch += 1) {
    const day = Date.parse(batch < 10 ? '2026-11-19T00:00:00Z' : '2026-11-20T00:00:00Z');
    const times = Array.from({ length: 500 }, (_, at) => new Date(day + (batch * 500 + at) * 1_000).toISOString());
    await dashboard.append(
      tenantId,
      times.map((time) => settled(time, 1, { labels })),
    );
  }
  await dashboard.caughtUp();
  return tenantId;
}

/** The stored events. */
function chunks() {
  return mongo.connection.getClient().db(dashboard.database).collection('chunks');
}
