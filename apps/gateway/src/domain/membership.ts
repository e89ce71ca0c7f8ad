import { AppError, may } from '@tollkeeper/kernel';
import type { Act, NeededRole, Role, TenantId } from '@tollkeeper/kernel';

/** A user's role in one workspace. */
export interface Membership {
  tenantId: TenantId;
  slug: string;
  role: Role;
}

/**
 * How a request names its workspace: by slug (path prefix or header), by the id in a budgets path, by both, or not at
 * all.
 */
export interface WorkspaceNaming {
  slug: string | undefined;
  tenantId: string | undefined;
}

/**
 * The caller's membership in the workspace that a request names, or in the caller's only workspace. Throws `forbidden`
 * for unknown workspaces and for those of others alike, so that nobody can probe which exist, and if slug and id name
 * different workspaces. Throws `workspace_required` if the caller has several and the request names none.
 */
export function chooseMembership(memberships: readonly Membership[], { slug, tenantId }: WorkspaceNaming): Membership {
  if (slug === undefined && tenantId === undefined) {
    const [only, another] = memberships;
    if (only !== undefined && another === undefined) return only;
    if (only !== undefined) {
      throw new AppError(
        'workspace_required',
        'You have several workspaces. Name one with /w/{slug}/api/v1/… or the X-Workspace header.',
      );
    }
  }
  const chosen = memberships.find(
    (membership) =>
      (slug === undefined || membership.slug === slug) && (tenantId === undefined || membership.tenantId === tenantId),
  );
  if (chosen === undefined) throw new AppError('forbidden', 'You have no access to this workspace.');
  return chosen;
}

/** Throws `forbidden` unless the member's role lets them do `act` where `needed` is required. */
export function requireRole({ role }: Membership, act: Act, needed: NeededRole): void {
  if (!may(role, act, needed))
    throw new AppError('forbidden', `This requires the role ${needed} in the workspace; yours is ${role}.`);
}
