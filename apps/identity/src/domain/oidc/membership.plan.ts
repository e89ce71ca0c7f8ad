import { type Role, ranksAtLeast, type TenantId } from '@tollkeeper/kernel';
import type { MembershipSource } from '../member.ts';

/** A role in a workspace. */
export interface TenantRole {
  tenantId: TenantId;
  role: Role;
}

/** An existing membership. */
export interface CurrentMembership extends TenantRole {
  source: MembershipSource;
}

/** The role that a log-in gives in a workspace; null ends the membership. */
export interface MembershipChange {
  tenantId: TenantId;
  role: Role | null;
}

/**
 * The changes of a log-in, which make the memberships from single sign-on equal to `granted`. Memberships that were
 * given by hand or by invitation stay, even if the mapping says otherwise.
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

/** One role per workspace: the highest. */
function highestOf(granted: readonly TenantRole[]): Map<TenantId, Role> {
  const highest = new Map<TenantId, Role>();
  for (const { tenantId, role } of granted) {
    const known = highest.get(tenantId);
    if (known === undefined || ranksAtLeast(role, known)) highest.set(tenantId, role);
  }
  return highest;
}

/**
 * The result of a change, since the workspace may have changed after it was planned: the new role, or null to end the
 * membership. The last owner stays an owner.
 */
export function settleMembership(
  { role, source }: Pick<CurrentMembership, 'role' | 'source'>,
  change: Role | null,
  otherOwners: number,
): Role | null {
  const stays = source !== 'oidc' || (role === 'owner' && otherOwners === 0);
  return stays ? role : change;
}
