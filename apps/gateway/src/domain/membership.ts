import { AppError, roleAtLeast } from '@tollkeeper/kernel';
import type { Role, TenantId } from '@tollkeeper/kernel';

/** What a user is in one workspace. */
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
 * The caller's membership in the workspace that a request names (decisions §2); without a name, in the caller's only
 * one. Throws `forbidden` for a workspace that does not exist and one of others alike, so that neither can be probed,
 * and when slug and id name two; `workspace_required` when nothing names one of several.
 */
export function chooseMembership(memberships: readonly Membership[], { slug, tenantId }: WorkspaceNaming): Membership {
  if (slug === undefined && tenantId === undefined) {
    const [only, another] = memberships;
    if (only !== undefined && another === undefined) return only;
    if (only !== undefined) {
      throw new AppError(
        'workspace_required',
        'You have several workspaces. Name one: /w/{slug}/api/v1/… or the X-Workspace header.',
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

/** Throws `forbidden` unless the member may do what `needed` may do. */
export function requireRole({ role }: Membership, needed: Role): void {
  if (!roleAtLeast(role, needed))
    throw new AppError('forbidden', `This needs the role ${needed} in the workspace; yours is ${role}.`);
}
