import { describe, expect, it } from '@jest/globals';
import { provenTenantId, ROLES, type TenantId } from '@tollkeeper/kernel';
import fc from 'fast-check';
import { MEMBERSHIP_SOURCES } from '../member.ts';
import { planMemberships, settleMembership } from './membership.plan.ts';

const tenant = (name: string) => provenTenantId(`ws_${name}`);
const role = fc.constantFrom(...ROLES);
const source = fc.constantFrom(...MEMBERSHIP_SOURCES);
const tenantId = fc.constantFrom(...['a', 'b', 'c', 'd'].map(tenant));
const granted = fc.array(fc.record({ tenantId, role }), { maxLength: 6 });
const current = fc.uniqueArray(fc.record({ tenantId, role, source }), {
  maxLength: 4,
  selector: (membership) => membership.tenantId,
});

describe('the memberships after a log-in', () => {
  it('are given, changed and taken where they come from single sign-on, and left alone elsewhere', () => {
    const changes = planMemberships(
      [
        { tenantId: tenant('lost'), role: 'admin', source: 'oidc' },
        { tenantId: tenant('changed'), role: 'admin', source: 'oidc' },
        { tenantId: tenant('same'), role: 'member', source: 'oidc' },
        { tenantId: tenant('manual'), role: 'member', source: 'manual' },
        { tenantId: tenant('invited'), role: 'owner', source: 'invitation' },
      ],
      [
        { tenantId: tenant('changed'), role: 'member' },
        { tenantId: tenant('same'), role: 'member' },
        { tenantId: tenant('manual'), role: 'owner' },
        { tenantId: tenant('new'), role: 'member' },
        { tenantId: tenant('new'), role: 'owner' },
      ],
    );
    expect(changes).toEqual([
      { tenantId: tenant('changed'), role: 'member' },
      { tenantId: tenant('new'), role: 'owner' },
      { tenantId: tenant('lost'), role: null },
    ]);
  });

  it('are those that were granted, the highest role of each, once the changes are made', () => {
    fc.assert(
      fc.property(current, granted, (before, grants) => {
        const after = new Map(before.filter(({ source: from }) => from === 'oidc').map((m) => [m.tenantId, m.role]));
        const byHand = new Set(before.filter(({ source: from }) => from !== 'oidc').map((m) => m.tenantId));
        for (const { tenantId: id, role: to } of planMemberships(before, grants)) {
          expect(byHand.has(id)).toBe(false);
          if (to === null) after.delete(id);
          else after.set(id, to);
        }
        const highest = new Map<TenantId, (typeof ROLES)[number]>();
        for (const wanted of ROLES)
          for (const grant of grants)
            if (grant.role === wanted && !byHand.has(grant.tenantId)) highest.set(grant.tenantId, wanted);
        expect(Object.fromEntries(after)).toEqual(Object.fromEntries(highest));
      }),
    );
  });

  it('need no further change after the same log-in again', () => {
    fc.assert(
      fc.property(granted, (grants) => {
        const made = planMemberships([], grants).map((change) => ({ ...change, source: 'oidc' as const }));
        const stored = made.flatMap(({ role: to, ...rest }) => (to === null ? [] : [{ ...rest, role: to }]));
        expect(planMemberships(stored, grants)).toEqual([]);
      }),
    );
  });
});

describe('a change, when it is made', () => {
  it.each([
    [{ role: 'member', source: 'manual' }, 'owner', 1, 'member'],
    [{ role: 'admin', source: 'invitation' }, null, 1, 'admin'],
    [{ role: 'admin', source: 'oidc' }, null, 1, null],
    [{ role: 'owner', source: 'oidc' }, null, 1, null],
    [{ role: 'owner', source: 'oidc' }, null, 0, 'owner'],
    [{ role: 'owner', source: 'oidc' }, 'member', 0, 'owner'],
    [{ role: 'owner', source: 'oidc' }, 'member', 1, 'member'],
    [{ role: 'admin', source: 'oidc' }, 'admin', 0, 'admin'],
  ] as const)('of %j to %s with %i other owners is %s', (membership, change, otherOwners, expected) => {
    expect(settleMembership(membership, change, otherOwners)).toBe(expected);
  });
});
