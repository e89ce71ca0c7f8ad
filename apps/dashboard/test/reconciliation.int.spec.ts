import { describe, expect, it } from '@jest/globals';
import type { Role, TenantId } from '@tollkeeper/kernel';
import { useMongo } from '@tollkeeper/testing';
import { newTenant, settled, useDashboard } from './dashboard.stack.ts';

const dashboard = useDashboard(useMongo());
const PATH = '/api/v1/reconciliations';
const FILE = ['day,model,amount_usd', '2026-11-20,gpt-4o,2.50', '2026-11-21,gpt-4o,1', '2026-11-21,o3,4'].join('\n');

const send = (tenantId: TenantId, file: string, role: Role = 'admin') =>
  dashboard.sendAs({ tenantId, role }, 'post', `${PATH}?file_name=october.csv`, file);
const get = (tenantId: TenantId, path: string) => dashboard.sendAs({ tenantId, role: 'member' }, 'get', path);

describe('a comparison with a cost file', () => {
  it('has what was charged and counted by day and model, and is kept', async () => {
    const tenantId = newTenant();
    await dashboard.report(tenantId, [
      settled('2026-11-20T23:59:59.999Z', 2_000_000, { model: 'gpt-4o-2024-08-06' }),
      settled('2026-11-21T00:00:00.000Z', 1_500_000, { model: 'gpt-4o' }),
      settled('2026-11-21T12:00:00.000Z', 7, { model: 'house-1' }),
      settled('2026-11-19T12:00:00.000Z', 9, { model: 'gpt-4o' }),
    ]);
    const { status, body } = await send(tenantId, FILE);
    expect(status).toBe(200);
    const sums = (charged: number, counted: number) => ({
      charged_micros: charged,
      counted_micros: counted,
      difference_micros: counted - charged,
    });
    expect(body).toMatchObject({
      ...{ file_name: 'october.csv', format: 'generic', from: '2026-11-20', to: '2026-11-21' },
      ...sums(7_500_000, 3_500_000),
      days: [
        { day: '2026-11-20', ...sums(2_500_000, 2_000_000) },
        { day: '2026-11-21', ...sums(5_000_000, 1_500_000) },
      ],
      models: [
        { model: 'o3', ...sums(4_000_000, 0) },
        { model: 'gpt-4o', ...sums(3_500_000, 3_500_000) },
      ],
      only_counted: [{ model: 'house-1', micros: 7 }],
    });
    expect(body.cells).toHaveLength(3);
    expect((await get(tenantId, `${PATH}/${body.id}`)).body).toEqual(body);
    const { items } = (await get(tenantId, PATH)).body;
    expect(items).toHaveLength(1);
    expect(body).toMatchObject(items[0]);
    expect(items[0]).not.toHaveProperty('cells');
    const other = newTenant();
    expect((await get(other, `${PATH}/${body.id}`)).status).toBe(404);
    expect((await get(other, PATH)).body).toEqual({ items: [] });
  });

  it('is refused for a file that cannot be read, for days without figures, and for members', async () => {
    const tenantId = newTenant();
    expect((await send(tenantId, 'a,b\n1,2')).body).toMatchObject({ code: 'invalid_request' });
    expect((await send(tenantId, FILE.replaceAll('2026', '2020'))).body).toMatchObject({ code: 'invalid_request' });
    expect((await send(tenantId, FILE, 'member')).status).toBe(403);
    expect((await get(tenantId, PATH)).body).toEqual({ items: [] });
  });

  it('is listed, and the oldest of a hundred until another one is made', async () => {
    const tenantId = newTenant();
    const ids: string[] = [];
    for (let nth = 0; nth <= 100; nth += 1) {
      dashboard.clock.now += 1;
      ids.push((await send(tenantId, FILE)).body.id);
    }
    expect((await get(tenantId, `${PATH}/${ids[0]}`)).status).toBe(404);
    expect((await get(tenantId, `${PATH}/${ids[1]}`)).status).toBe(200);
    const { items } = (await get(tenantId, PATH)).body as { items: { id: string }[] };
    expect(items.map(({ id }) => id)).toEqual(ids.slice(1).toReversed());
  });
});
