import { type Role, roleAtLeast, type TenantId } from '@tollkeeper/kernel';
import type { MembershipSource } from '../member.ts';

/** A role in a workspace. */
export interface TenantRole {
  tenantId: TenantId;
  role: Role;
}

/** A membership as it is now. */
export interface CurrentMembership extends TenantRole {
  source: MembershipSource;
}

/** The role that a log-in gives in a workspace; null ends the membership. */
export interface MembershipChange {
  tenantId: TenantId;
  role: Role | null;
}

/**
 * The changes that a log-in makes, so that the memberships which come from single sign-on are those of `granted`. What
 * people gave by hand or by invitation stays as it is, also where the mapping says something else.
 */
export function planMemberships(
  current: readonly CurrentMembership[],
  granted: readonly TenantRole[],
): MembershipChange[] {
  const wanted = highestOf(granted);
  const known = new Map(current.map((membership) => [membership.tenantId, membership]));
  const gained = [...wanted].flatMap(([tenantId, role]) => {
    const membership = known.get(tenantId);
    const stays = membership !== undefined && (membership.source !== 'oidc' || membership.role === role);
    return stays ? [] : [{ tenantId, role }];
  });
  const lost = current
    .filter(({ tenantId, source }) => source === 'oidc' && !wanted.has(tenantId))
    .map(({ tenantId }) => ({ tenantId, role: null }));
  return [...gained, ...lost];
}

/** One role for each workspace: the highest. */
function highestOf(granted: readonly TenantRole[]): Map<TenantId, Role> {
  const highest = new Map<TenantId, Role>();
  for (const { tenantId, role } of granted) {
    const known = highest.get(tenantId);
    if (known === undefined || roleAtLeast(role, known)) highest.set(tenantId, role);
  }
  return highest;
}

/**
 * What becomes of a membership at a change, since the workspace may have changed after it was planned: its role, or
 * null for its end. The last owner stays one.
 */
export function settleMembership(
  { role, source }: Pick<CurrentMembership, 'role' | 'source'>,
  change: Role | null,
  otherOwners: number,
): Role | null {
  const stays = source !== 'oidc' || (role === 'owner' && otherOwners === 0);
  return stays ? role : change;
}
