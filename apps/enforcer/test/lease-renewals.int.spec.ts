import { describe, expect, it } from '@jest/globals';
import { useMongo } from '@tollkeeper/testing';
import { cost, useLeases } from './leases.stack.ts';

const SECOND = 1000;

const stack = useLeases(useMongo(), { replicas: 2 });
const { budgets, clock, identity } = stack;

describe('a renewal', () => {
  it('makes a lease larger and longer, never smaller, and changes nothing when it is repeated', async () => {
    const workspace = stack.newWorkspace(1_000);
    const { id } = await workspace.leased(100);
    await workspace.settleFrom(id, [cost(60)]);
    clock.now += 30 * SECOND;
    const renewal = { request_id: 'renewal-1' };
    expect((await workspace.renew(id, 200, renewal)).body).toMatchObject({
      ...{ amount_micros: 200, settled_micros: 60, left_micros: 140, expires_in_ms: 60 * SECOND },
    });
    clock.now += 10 * SECOND;
    expect((await workspace.renew(id, 200, renewal, { replica: 1 })).body).toMatchObject({
      ...{ amount_micros: 200, expires_in_ms: 50 * SECOND },
    });
    expect(await workspace.renew(id, 201, renewal)).toMatchObject({ status: 409, body: { code: 'request_id_reused' } });
    expect((await workspace.renew(id, 10, { ttl_seconds: 10 })).body).toMatchObject({
      ...{ amount_micros: 200, expires_in_ms: 50 * SECOND },
    });
    // 800 are left of the limit, and the lease is the only one.
    expect((await workspace.renew(id, 9_000)).body).toMatchObject({ amount_micros: 600, left_micros: 540 });
    await workspace.giveBack(id);
    expect(await workspace.renew(id, 10)).toMatchObject({ status: 409, body: { code: 'conflict' } });
  });

  it('leaves a lease as it was once a period has ended in which it counts', async () => {
    const workspace = stack.newWorkspace();
    budgets.setBudgets(workspace.tenantId, {
      id: 'bud_hour',
      period: { kind: 'rolling', seconds: 3_600 },
      limitMicros: 500,
    });
    const { id } = await workspace.leased(100, { ttl_seconds: 600 });
    clock.now += 60 * SECOND;
    expect((await workspace.renew(id, 400, { ttl_seconds: 600 })).body).toMatchObject({
      ...{ amount_micros: 100, expires_in_ms: 540 * SECOND },
    });
  });
});

describe('a renewal leaves a lease as it was, so that its gateway asks for another one,', () => {
  const asLeased = { amount_micros: 100, expires_in_ms: 58 * SECOND };

  it('once its plan is inactive', async () => {
    const workspace = stack.newWorkspace(1_000);
    budgets.setPlan(workspace.tenantId, 'pro', 500);
    const { id } = await workspace.leased(100, { plan_key: 'pro' });
    budgets.setPlan(workspace.tenantId, 'pro', 500, false);
    clock.now += 2 * SECOND;
    expect(await workspace.renew(id, 400)).toMatchObject({ status: 200, body: asLeased });
  });

  it('while its agent has another label', async () => {
    const workspace = stack.newWorkspace(1_000, { env: 'prod' });
    const { id } = await workspace.leased(100, { labels: { team: 'growth' } });
    identity.setLabels(workspace.tenantId, 'planner', { team: 'sales' });
    clock.now += 2 * SECOND;
    expect((await workspace.renew(id, 400)).body).toMatchObject(asLeased);
    identity.setLabels(workspace.tenantId, 'planner', { team: 'growth' });
    clock.now += 2 * SECOND;
    expect((await workspace.renew(id, 400)).body).toMatchObject({ amount_micros: 400 });
  });
});
