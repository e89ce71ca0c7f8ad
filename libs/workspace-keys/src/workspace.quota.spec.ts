import { describe, expect, it } from '@jest/globals';
import { type AppError, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { testLogger } from '@tollkeeper/testing';
import { createWorkspaceQuota } from './workspace.quota.ts';

const ONE = provenTenantId('ws_1');
const OTHER = provenTenantId('ws_2');

function makeQuota({ perSecond = 10, burst = 20 } = {}) {
  const clock = { now: 1_000 };
  const logs = testLogger();
  let refusals = 0;
  const quota = createWorkspaceQuota({
    perSecond,
    burst,
    refusal: 'The workspace may make 10 calls a second.',
    warning: 'a workspace makes too many calls',
    refused: { inc: () => (refusals += 1) },
    logger: logs.logger,
    now: () => clock.now,
  });
  /** The seconds to wait; 0 if it was admitted. */
  const admit = (tenantId: TenantId): number => waitOf(() => quota.admit(tenantId));
  const charge = (tenantId: TenantId, more: number): number => waitOf(() => quota.charge(tenantId, more));
  return { quota, clock, logs, admit, charge, refusals: () => refusals };
}

function waitOf(take: () => void): number {
  try {
    take();
    return 0;
  } catch (error) {
    const { code, retryAfterSeconds = 0 } = error as AppError;
    expect(code).toBe('rate_limited');
    return retryAfterSeconds;
  }
}

describe('the quota of a workspace', () => {
  it('admits a burst, then as many as are refilled, and refills no more than a burst', () => {
    const { clock, admit } = makeQuota();
    const admitAll = () => Array.from({ length: 30 }, () => admit(ONE)).filter((wait) => wait === 0).length;
    expect(admitAll()).toBe(20);
    clock.now += 500;
    expect(admitAll()).toBe(5);
    clock.now += 3_600_000;
    expect(admitAll()).toBe(20);
  });

  it('says in its sentence and in seconds when to come back', () => {
    const { quota, admit, charge } = makeQuota();
    expect(admit(ONE)).toBe(0);
    expect(charge(ONE, 40)).toBe(0);
    // 21 below zero, plus one for the request.
    expect(admit(ONE)).toBe(3);
    expect(() => quota.admit(ONE)).toThrow('The workspace may make 10 calls a second. Try again in 3 s.');
  });

  it('lets one request go beyond it, of those that were admitted', () => {
    const { admit, charge } = makeQuota();
    expect([admit(ONE), admit(ONE)]).toEqual([0, 0]);
    expect([charge(ONE, 100), charge(ONE, 100)]).toEqual([0, 9]);
  });

  it('lets an accepted request owe more than is left, which the next one waits for', () => {
    const { quota, admit, charge } = makeQuota();
    expect(admit(ONE)).toBe(0);
    expect(charge(ONE, 40)).toBe(0);
    quota.owe(ONE, 10);
    expect(admit(ONE)).toBe(4);
  });

  it('charges an admitted request nothing for its first token', () => {
    const { admit, charge } = makeQuota();
    expect([admit(ONE), admit(ONE), admit(ONE)]).toEqual([0, 0, 0]);
    expect(charge(ONE, 100)).toBe(0);
    expect([charge(ONE, 0), charge(ONE, -1), charge(ONE, 1)]).toEqual([0, 0, 9]);
  });

  it('admits requests that come together while any token is left, and charges each of them', () => {
    const { clock, quota, admit } = makeQuota();
    const together = (requests: number) => waitOf(() => quota.admit(ONE, requests));
    expect([together(19), together(50), together(1)]).toEqual([0, 0, 5]);
    clock.now += 5_000;
    expect([admit(ONE), admit(ONE)]).toEqual([0, 1]);
  });

  it('refuses a call without requests once nothing is left, and charges it nothing before', () => {
    const { quota, admit, charge } = makeQuota();
    const without = () => waitOf(() => quota.admit(ONE, 0));
    expect([without(), admit(ONE), charge(ONE, 18), without(), admit(ONE), without()]).toEqual([0, 0, 0, 0, 0, 1]);
  });

  it('charges nothing for a refusal', () => {
    const { clock, admit } = makeQuota({ burst: 1 });
    expect(admit(ONE)).toBe(0);
    for (let i = 0; i < 100; i += 1) expect(admit(ONE)).toBe(1);
    clock.now += 100;
    expect(admit(ONE)).toBe(0);
  });

  it('is its own: what one takes is not taken from another', () => {
    const { admit } = makeQuota({ burst: 1 });
    expect([admit(ONE), admit(OTHER), admit(ONE), admit(OTHER)]).toEqual([0, 0, 1, 1]);
  });

  it('counts every refusal, and warns about each workspace once a minute', () => {
    const { clock, logs, admit, refusals } = makeQuota({ burst: 1 });
    const warned = () => logs.lines().map(({ tenant_id: tenantId }) => tenantId);
    for (const tenantId of [ONE, ONE, ONE, OTHER, OTHER]) admit(tenantId);
    expect([refusals(), warned()]).toEqual([3, [ONE, OTHER]]);
    clock.now += 60_000;
    admit(ONE);
    admit(ONE);
    expect(warned()).toEqual([ONE, OTHER]);
    clock.now += 1;
    admit(ONE);
    expect(warned()).toEqual([ONE, OTHER, ONE]);
    expect(logs.text()).toContain('a workspace makes too many calls');
  });
});
