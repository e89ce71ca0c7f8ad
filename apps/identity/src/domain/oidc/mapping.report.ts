import { AppError, type Role, type TenantId } from '@tollkeeper/kernel';
import type { WorkspaceStore } from '../workspace.ts';
import { IDENTIFYING_CLAIMS, type ShownClaim } from './claims.ts';
import type { GrantStore, LinkStore } from './log-in.store.ts';
import type { OidcProvider } from './provider.ts';

/** What a provider said about a member at their last log-in, and the resulting role in one workspace. */
export interface MappingReport {
  provider: Pick<OidcProvider, 'id' | 'buttonText'>;
  issuer: string;
  subject: string;
  at: Date;
  /** The identifying claims, and those that rules of this workspace need. */
  claims: ShownClaim[];
  /** The names of all claims that the provider sent. */
  names: string[];
  /** The rule that gives them a role here; null if none does. */
  grant: { claim: string; value: string; role: Role } | null;
}

export interface MappingReportDeps {
  providers: readonly OidcProvider[];
  links: Pick<LinkStore, 'reportsOf'>;
  grants: Pick<GrantStore, 'membershipsOf'>;
  workspaces: Pick<WorkspaceStore, 'find'>;
}

/** Reports about a member of the workspace, by provider. Throws `not_found` for other users. */
export type ReportMapping = (tenantId: TenantId, userId: string) => Promise<MappingReport[]>;

/**
 * Owners see only those claims of a member that the rules of their own workspace need. A person is in several
 * workspaces, and the groups that lead to the others do not concern these owners.
 */
export function createReportMapping({ providers, links, grants, workspaces }: MappingReportDeps): ReportMapping {
  return async (tenantId, userId) => {
    const memberships = await grants.membershipsOf(userId);
    const workspace = await workspaces.find(tenantId);
    if (workspace === null || !memberships.some((membership) => membership.tenantId === tenantId)) {
      throw new AppError('not_found', 'This workspace has no member with that user_id.');
    }
    const reports = await links.reportsOf(userId);
    return providers.flatMap((provider) => {
      // Several people of one provider may be linked to one user.
      const [found] = reports
        .filter(({ providerId }) => providerId === provider.id)
        .sort((one, other) => other.at.getTime() - one.at.getTime());
      if (found === undefined) return [];
      const ours = provider.mapping.filter((rule) => rule.workspace === workspace.slug);
      const asked = new Set([...IDENTIFYING_CLAIMS, ...ours.map(({ claim }) => claim)]);
      const { issuer, subject, at, report } = found;
      const grant = found.grants.find((each) => each.tenantId === tenantId);
      return {
        provider: { id: provider.id, buttonText: provider.buttonText },
        ...{ issuer, subject, at, names: report.names },
        claims: report.claims.filter(({ name }) => asked.has(name)),
        grant: grant === undefined ? null : { claim: grant.claim, value: grant.value, role: grant.role },
      };
    });
  };
}
