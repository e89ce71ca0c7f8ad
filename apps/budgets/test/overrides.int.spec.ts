import { describe, expect, it } from '@jest/globals';
import { useMongo } from '@tollkeeper/testing';
import { BOB, budgetCalls, PER_USER } from './budget.calls.ts';
import { newTenant, useBudgets } from './budgets.stack.ts';

const mongo = useMongo();
const budgets = useBudgets(mongo);
const replica = useBudgets(mongo, budgets.database);
const { post, patch, remove, made } = budgetCalls(budgets);

describe('a budget that overrides another', () => {
  it('names one value of what the other is split by', async () => {
    const tenantId = newTenant();
    const { id } = await made(tenantId, PER_USER);
    const { id: shared } = await made(tenantId, { ...PER_USER, each: null });
    for (const fields of [
      { selector: {} },
      { selector: { labels: { user: 'b*' } } },
      { selector: { agent: 'bob' } },
      { overrides: shared },
    ]) {
      const refused = await post(tenantId, { ...BOB, overrides: id, ...fields });
      expect(refused).toMatchObject({ status: 400, body: { details: [{ path: 'overrides' }] } });
    }
    expect(await made(tenantId, { ...BOB, overrides: id })).toMatchObject({ overrides: id });
  });

  it('is of the same workspace', async () => {
    const { id } = await made(newTenant(), PER_USER);
    const refused = await post(newTenant(), { ...BOB, overrides: id });
    expect(refused).toMatchObject({ status: 400, body: { details: [{ path: 'overrides' }] } });
  });

  it('never overrides itself, directly or through others', async () => {
    const tenantId = newTenant();
    const split = { ...BOB, selector: { agent: 'a', model: 'm' } };
    const { id: first } = await made(tenantId, { ...split, each: 'agent' });
    const { id: second } = await made(tenantId, { ...split, each: 'model', overrides: first });
    for (const overrides of [first, second]) {
      const refused = await patch(tenantId, first, { overrides });
      expect(refused).toMatchObject({ status: 400, body: { details: [{ path: 'overrides' }] } });
    }
  });

  it('keeps the other from being deleted, and from being split by anything else, until it is gone', async () => {
    const tenantId = newTenant();
    const { id } = await made(tenantId, PER_USER);
    const { id: bob } = await made(tenantId, { ...BOB, overrides: id });
    for (const refused of [
      await remove(tenantId, id),
      await patch(tenantId, id, { each: null }),
      await patch(tenantId, id, { each: 'agent' }),
    ]) {
      expect(refused).toMatchObject({ status: 409, body: { code: 'conflict' } });
      expect(refused.body.error).toContain(`Bob (${bob})`);
    }
    expect((await patch(tenantId, id, { limit_micros: 9 })).status).toBe(200);
    expect((await remove(tenantId, bob)).status).toBe(204);
    expect((await remove(tenantId, id)).status).toBe(204);
  });

  it('is never left without the other by calls on two replicas at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const tenantId = newTenant();
      const { id } = await made(tenantId, PER_USER);
      const body = { ...BOB, overrides: id };
      const [deleted, created] = await Promise.all([
        remove(tenantId, id),
        replica.callBudgets('post', tenantId, '', { body }),
      ]);
      expect([
        [204, 400],
        [409, 201],
      ]).toContainEqual([deleted.status, created.status]);
    }
  });
});
