import { describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import type { Act, NeededRole, Role } from '@tollkeeper/kernel';
import type { Membership } from './membership.ts';
import { chooseMembership, requireRole } from './membership.ts';

const member = (slug: string, role: Role = 'member'): Membership => ({
  tenantId: provenTenantId(`ws_${slug}`),
  slug,
  role,
});
const acme = member('acme');
const bob = member('bob');

describe('the membership that a request acts with', () => {
  it.each([
    ['the only one when nothing is named', [acme], undefined, undefined, acme],
    ['the one of the slug', [bob, acme], 'acme', undefined, acme],
    ['the one of the id', [bob, acme], undefined, 'ws_acme', acme],
    ['the one that slug and id name both', [bob, acme], 'acme', 'ws_acme', acme],
  ])('is %s', (_which, memberships, slug, tenantId, chosen) => {
    expect(chooseMembership(memberships, { slug, tenantId })).toBe(chosen);
  });

  it.each([
    ['a slug of nobody here, with one workspace', [acme], 'bob', undefined],
    ['an id of nobody here, with one workspace', [acme], undefined, 'ws_bob'],
    ['a slug of nobody here, with several', [acme, bob], 'carol', undefined],
    ['a slug and an id that name two', [acme, bob], 'acme', 'ws_bob'],
    ['a foreign slug beside an own id', [acme, bob], 'carol', 'ws_acme'],
    ['a caller without any workspace', [], undefined, undefined],
  ])('is refused in one and the same way for %s', (_case, memberships, slug, tenantId) => {
    expect(() => chooseMembership(memberships, { slug, tenantId })).toThrow(
      expect.objectContaining({ code: 'forbidden', message: 'You have no access to this workspace.' }),
    );
  });

  it('must be named by who has several', () => {
    expect(() => chooseMembership([acme, bob], { slug: undefined, tenantId: undefined })).toThrow(
      expect.objectContaining({
        code: 'workspace_required',
        message: 'You have several workspaces. Name one with /w/{slug}/api/v1/… or the X-Workspace header.',
      }),
    );
  });
});

describe('a role', () => {
  it.each<[Role, Act, NeededRole]>([
    ['member', 'change', 'member'],
    ['admin', 'change', 'admin'],
    ['owner', 'change', 'admin'],
    ['finance', 'read', 'owner'],
    ['finance', 'change', 'any'],
  ])('%s may %s what is for %s', (role, act, needed) => {
    expect(() => requireRole(member('acme', role), act, needed)).not.toThrow();
  });

  it.each<[Role, Act, NeededRole]>([
    ['member', 'read', 'admin'],
    ['admin', 'change', 'owner'],
    ['finance', 'change', 'member'],
  ])('%s may not %s what is for %s, and the error names both roles', (role, act, needed) => {
    expect(() => requireRole(member('acme', role), act, needed)).toThrow(
      expect.objectContaining({
        code: 'forbidden',
        message: `This requires the role ${needed} in the workspace; yours is ${role}.`,
      }),
    );
  });
});
