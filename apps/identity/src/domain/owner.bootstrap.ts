import { type Clock, newId, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { draftUser } from './member.use-cases.ts';
import type { PasswordHasher } from './password.hasher.ts';
import type { User } from './user.ts';
import type { Workspace } from './workspace.ts';

export interface FirstOwner {
  email: string;
  /** The part of the e-mail before the @ unless given. */
  name?: string;
  password: string;
  /** `timezone` is UTC unless given. */
  workspace: { slug: string; name: string; timezone?: string };
}

export interface EnsuredOwner {
  userId: string;
  tenantId: TenantId;
}

export interface BootstrapStore {
  /**
   * Makes what is missing of the user, the workspace and the user's ownership of it, all at once or not at all. A
   * user with that e-mail gets the new password and loses all sessions; a workspace with that slug stays as it is.
   */
  ensure(user: User, workspace: Workspace): Promise<EnsuredOwner>;
}

/**
 * Sees to it that a workspace and its owner exist and that the owner has this password. For a first start, which can
 * be cut off at any moment, even before it could show a password that it generated: repeat it until it is through.
 */
export type EnsureOwner = (owner: FirstOwner) => Promise<EnsuredOwner>;

export function createEnsureOwner(deps: { store: BootstrapStore; hasher: PasswordHasher; clock: Clock }): EnsureOwner {
  const { store, hasher, clock } = deps;
  return async ({ email, name, password, workspace }) => {
    const user = await draftUser({ hasher, clock }, { email: email.toLowerCase(), name, password });
    const { slug, name: workspaceName, timezone = 'UTC' } = workspace;
    const id = provenTenantId(newId('ws'));
    return store.ensure(user, { id, slug, name: workspaceName, timezone, createdAt: user.createdAt });
  };
}
