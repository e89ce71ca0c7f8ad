import { AppError, type Clock, newId, type TenantId } from '@tollkeeper/kernel';
import { mintSession, type SessionOrigin } from '../session.ts';
import { localPartOf, loginNamesFor, type User } from '../user.ts';
import type { Arrival, GrantStore, LinkStore, LogInRequest, StoredGrant } from './log-in.store.ts';
import { planMemberships } from './membership.plan.ts';
import type { Person } from './person.ts';

export interface EntryDeps {
  links: LinkStore;
  grants: GrantStore;
  /** Ids of the configured providers. Grants of other providers do not count. */
  providerIds: readonly string[];
  clock: Clock;
  /** A role could not be given, because the user or the workspace is at its limit. The log-in continues without it. */
  onSkipped: (skipped: { tenantId: TenantId; userId: string; reason: string }) => void;
}

/** The steps of a log-in after its decision. */
export interface Entry {
  /** Creates the account of a new person. False if they got one meanwhile. */
  signUp(person: Person): Promise<boolean>;
  /**
   * Sets the user's memberships to those of the mapping, and records the claims for owners. Grants from the user's
   * other identities stay.
   */
  applyGrants(arrival: Arrival, userId: string, by: LogInRequest): Promise<void>;
  /** A new session, and the text of its cookie. Null if the person is no longer linked to the user. */
  openSession(person: Person, userId: string, origin: SessionOrigin, by: LogInRequest): Promise<string | null>;
}

export function createEntry({ links, grants, providerIds, clock, onSkipped }: EntryDeps): Entry {
  return {
    signUp(person) {
      const user: User = {
        ...{ id: newId('user'), loginName: '', name: person.name ?? nameOf(person) },
        ...{ email: person.email, emailVerified: person.emailProven, passwordHash: null },
        createdAt: new Date(clock()),
      };
      return links.signUp(person, user, loginNamesFor(nameOf(person)));
    },

    async applyGrants({ providerId, person, report, grants: mapped }, userId, by) {
      const at = new Date(clock());
      const { issuer, subject } = person;
      const tenants = await grants.resolve(mapped.map(({ workspace }) => workspace));
      const given = mapped.flatMap(({ workspace, role, rule: { claim, value } }): StoredGrant[] => {
        const tenantId = tenants.get(workspace);
        return tenantId === undefined ? [] : [{ tenantId, role, claim, value }];
      });
      await links.record({ providerId, issuer, subject, at, report, grants: given });
      const reports = await links.reportsOf(userId);
      const all = reports.filter((each) => providerIds.includes(each.providerId)).flatMap((each) => each.grants);
      for (const { tenantId, role } of planMemberships(await grants.membershipsOf(userId), all)) {
        await grants.apply(tenantId, userId, role, at, by).catch((error: unknown) => {
          if (!(error instanceof AppError) || error.code !== 'conflict') throw error;
          onSkipped({ tenantId, userId, reason: error.message });
        });
      }
    },

    async openSession(person, userId, origin, by) {
      const { cookie, session } = mintSession(userId, clock(), origin);
      return (await links.openSession(session, person, by)) ? cookie : null;
    },
  };
}

function nameOf({ email, name }: Person): string {
  return email === null ? (name ?? 'user') : localPartOf(email);
}
