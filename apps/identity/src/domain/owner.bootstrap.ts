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
  hasUsers(): Promise<boolean>;
  /** The same while there is no user at all; otherwise null, and nothing is made. */
  ensureFirst(user: User, workspace: Workspace): Promise<EnsuredOwner | null>;
}

/**
 * Sees to it that a workspace and its owner exist and that the owner has this password. For a first start, which can
 * be cut off at any moment, even before it could show a password that it generated: repeat it until it is through.
 */
export type EnsureOwner = (owner: FirstOwner) => Promise<EnsuredOwner>;

export interface BootstrapDeps {
  store: BootstrapStore;
  hasher: PasswordHasher;
  clock: Clock;
}

export function createEnsureOwner(deps: BootstrapDeps): EnsureOwner {
  return async (owner) => {
    const { user, workspace } = await draft(deps, owner);
    return deps.store.ensure(user, workspace);
  };
}

/**
 * Makes the workspace and its owner while there is no user at all, and null afterwards, whatever has become of that
 * owner. For a start of any of several replicas: one of them makes it.
 */
export function createFirstOwner(deps: BootstrapDeps): (owner: FirstOwner) => Promise<EnsuredOwner | null> {
  return async (owner) => {
    // Asked first because a password takes long to hash, and every start comes along here.
    if (await deps.store.hasUsers()) return null;
    const { user, workspace } = await draft(deps, owner);
    return deps.store.ensureFirst(user, workspace);
  };
}

async function draft(deps: BootstrapDeps, { email, name, password, workspace }: FirstOwner) {
  const user = await draftUser(deps, { email: email.toLowerCase(), name, password });
  const { timezone = 'UTC', ...named } = workspace;
  const { createdAt } = user;
  const drafted: Workspace = { id: provenTenantId(newId('ws')), ...named, timezone, createdAt };
  return { user, workspace: drafted };
}
