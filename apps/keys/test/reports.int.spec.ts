import { describe, expect, it } from '@jest/globals';
import { parseWorkspaceKey } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { useMongo } from '@tollkeeper/testing';
import { newTenant, useKeys } from './keys.stack.ts';

const KEY_ID = 'A'.repeat(16);
const FACT = { fact: 'input_tokens', name: 'gen_ai.usage.input_tokens', value: '1200' };
const CALL = { outcome: 'settled', agentId: 'planner', amountMicros: 5170, pricedBy: 'table', facts: [FACT] };

describe('reports of a workspace', () => {
  const mongo = useMongo();
  const keys = useKeys(mongo);

  const report = (tenantId: TenantId, reportId: string, fields: object = {}) => ({
    tenantId,
    reportId,
    keyId: KEY_ID,
    receivedMs: keys.clock.now,
    path: '/v1/traces',
    records: 3,
    calls: 1,
    firstCalls: [CALL],
    notCalls: [{ reason: 'no attribute says that it is a call', records: 2 }],
    refusal: '',
    ...fields,
  });
  const ids = async (tenantId: TenantId) => (await keys.reports(tenantId)).map(({ id }) => id);
  const isWatched = async (tenantId: TenantId) => {
    const { keyId, sha256 } = parseWorkspaceKey((await keys.create(tenantId)).api_key)!;
    return (await keys.verify(keyId, sha256)).watched;
  };

  it('are shown with what was understood, and why the rest are no calls', async () => {
    const tenantId = newTenant();
    await keys.reports(tenantId);
    await keys.keep(report(tenantId, 'rep_1'));
    await keys.keep(report(tenantId, 'rep_2', { records: 0, calls: 0, firstCalls: [], notCalls: [], refusal: 'No.' }));
    const unpriced = { outcome: 'unpriced', agentId: 'planner', pricedBy: '', facts: [] };
    await keys.keep(report(tenantId, 'rep_3', { firstCalls: [unpriced] }));

    const shown = {
      received_at: '2026-11-21T18:00:00.000Z',
      key_id: KEY_ID,
      path: '/v1/traces',
      records: 3,
      calls: 1,
      not_calls: [{ reason: 'no attribute says that it is a call', records: 2 }],
      refusal: null,
    };
    const call = { outcome: 'settled', agent_id: 'planner', amount_micros: 5170, priced_by: 'table', facts: [FACT] };
    const free = { outcome: 'unpriced', agent_id: 'planner', amount_micros: null, priced_by: null, facts: [] };
    expect(await keys.reports(tenantId)).toEqual([
      { ...shown, id: 'rep_3', first_calls: [free] },
      { ...shown, id: 'rep_2', records: 0, calls: 0, first_calls: [], not_calls: [], refusal: 'No.' },
      { ...shown, id: 'rep_1', first_calls: [call] },
    ]);
  });

  it('are kept from the first look on until a minute after the last one, and VerifyKey says so', async () => {
    const tenantId = newTenant();
    await keys.keep(report(tenantId, 'rep_0'));
    expect(await isWatched(tenantId)).toBe(false);
    expect(await ids(tenantId)).toEqual([]);

    expect(await isWatched(tenantId)).toBe(true);
    keys.clock.now += 59_999;
    await keys.keep(report(tenantId, 'rep_1'));
    expect(await ids(tenantId)).toEqual(['rep_1']);

    keys.clock.now += 60_000;
    expect(await isWatched(tenantId)).toBe(false);
    await keys.keep(report(tenantId, 'rep_2'));
    expect(await ids(tenantId)).toEqual(['rep_1']);
  });

  it('are kept once, and only the last 20', async () => {
    const tenantId = newTenant();
    await keys.reports(tenantId);
    await keys.keep(report(tenantId, 'rep_0'));
    await keys.keep(report(tenantId, 'rep_0'));
    expect(await ids(tenantId)).toEqual(['rep_0']);

    for (let index = 1; index <= 25; index += 1) await keys.keep(report(tenantId, `rep_${index}`));
    expect(await ids(tenantId)).toEqual(Array.from({ length: 20 }, (_, index) => `rep_${25 - index}`));
  });

  it('are those of one workspace, for its members alone', async () => {
    const [mine, other] = [newTenant(), newTenant()];
    await keys.reports(mine);
    await keys.reports(other);
    await keys.keep(report(mine, 'rep_1'));

    expect([await ids(mine), await ids(other)]).toEqual([['rep_1'], []]);
    expect(await isWatched(newTenant())).toBe(false);
    const { status } = await keys.call('get', '/api/v1/intake-reports', { tenantId: mine, token: null });
    expect(status).toBe(401);
  });

  it('are removed by MongoDB after a minute without a look', async () => {
    const tenantId = newTenant();
    await keys.reports(tenantId);
    const collection = mongo.connection.useDb(keys.database).collection<{ _id: string }>('watched_reports');
    const indexes = await collection.indexes();
    expect(indexes.map(({ key, expireAfterSeconds }) => [key, expireAfterSeconds])).toContainEqual([
      { watchedUntil: 1 },
      0,
    ]);
    const stored = await collection.findOne({ _id: tenantId });
    expect(stored).toMatchObject({ watchedUntil: new Date(keys.clock.now + 60_000) });
  });

  const many = (length: number, entry: object) => Array.from({ length }, () => entry);
  it.each([
    ['firstCalls', { firstCalls: many(3, CALL) }, 'first_calls'],
    ['facts', { firstCalls: [{ ...CALL, facts: many(65, FACT) }] }, 'first_calls[0].facts'],
    [
      'a value',
      { firstCalls: [{ ...CALL, facts: [{ ...FACT, value: 'x'.repeat(129) }] }] },
      'first_calls[0].facts[0].value',
    ],
    ['reasons', { notCalls: many(11, { reason: 'x', records: 1 }) }, 'not_calls'],
    ['a refusal', { refusal: 'x'.repeat(501) }, 'refusal'],
  ])('have bounds: too much of %s is refused by its name', async (_what, fields, path) => {
    const attempt = keys.keep(report(newTenant(), 'rep_1', fields));
    await expect(attempt).rejects.toMatchObject({ code: 'invalid_request', details: [{ path }] });
  });
});
