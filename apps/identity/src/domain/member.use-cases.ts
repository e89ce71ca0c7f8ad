import { AppError, type Clock, newId, randomBase62, type Role, type TenantId } from '@tollkeeper/kernel';
import { type Member, type MemberStore, requireOwnerLeft } from './member.ts';
import type { PasswordHasher } from './password.hasher.ts';
import type { User, UserStore } from './user.ts';

export interface NewMember {
  email: string;
  role: Role;
  /** Name of a new user. Default: the part of the e-mail before the @. */
  name?: string | undefined;
}

/** Changes throw `forbidden` when `ownerId` is no owner any more. */
export interface MemberUseCases {
  list(tenantId: TenantId): Promise<Member[]>;
  /**
   * Adds a user by e-mail. When no user has the e-mail, makes one with a generated password, which only this result
   * contains. Throws `conflict` when the user is a member already.
   */
  add(
    tenantId: TenantId,
    ownerId: string,
    member: NewMember,
  ): Promise<{ member: Member; initialPassword: string | null }>;
  /** Throws `not_found`, and `conflict` when the workspace would be left without an owner. */
  setRole(tenantId: TenantId, ownerId: string, userId: string, role: Role): Promise<Member>;
  /** Throws `not_found`, and `conflict` when the workspace would be left without an owner. */
  remove(tenantId: TenantId, ownerId: string, userId: string): Promise<void>;
}

export interface MemberDeps {
  members: MemberStore;
  users: UserStore;
  hasher: PasswordHasher;
  clock: Clock;
}

/** 119 random bits. */
const INITIAL_PASSWORD_LENGTH = 20;

/** A new user who logs in with the e-mail. */
export async function draftUser(
  { hasher, clock }: Pick<MemberDeps, 'hasher' | 'clock'>,
  { email, name, password }: { email: string; name?: string | undefined; password: string },
): Promise<User> {
  const passwordHash = await hasher.hash(password);
  const localPart = email.slice(0, email.indexOf('@'));
  return {
    ...{ id: newId('user'), loginName: email, name: name ?? localPart },
    ...{ email, emailVerified: false, passwordHash, mustChangePassword: false },
    createdAt: new Date(clock()),
  };
}

export function createMemberUseCases({ members, users, hasher, clock }: MemberDeps): MemberUseCases {
  return {
    list: (tenantId) => members.list(tenantId),

    async add(tenantId, ownerId, { email, role, name }) {
      const initialPassword = randomBase62(INITIAL_PASSWORD_LENGTH);
      // For an existing user no hash is needed. The store handles a user that is made meanwhile.
      const user =
        (await users.findByLogin(email)) ??
        (await draftUser({ hasher, clock }, { email, name, password: initialPassword }));
      const added = await members.add(tenantId, ownerId, user, role, new Date(clock()));
      if (added.status === 'already_member') {
        const details = [{ path: 'email', message: 'is a member already; change the role instead' }];
        throw new AppError(
          'conflict',
          'The user with that email is a member of the workspace already. Change the role with PATCH.',
          { details },
        );
      }
      return { member: added.member, initialPassword: added.userCreated ? initialPassword : null };
    },

    async setRole(tenantId, ownerId, userId, role) {
      const member = await members.change(tenantId, ownerId, userId, (current, otherOwners) => {
        if (role !== 'owner') requireOwnerLeft(current, otherOwners);
        return role;
      });
      return member ?? notFound();
    },

    async remove(tenantId, ownerId, userId) {
      const removed = await members.change(tenantId, ownerId, userId, (current, otherOwners) => {
        requireOwnerLeft(current, otherOwners);
        return null;
      });
      if (removed === null) notFound();
    },
  };
}

function notFound(): never {
  throw new AppError('not_found', 'This workspace has no member with that user_id.');
}
