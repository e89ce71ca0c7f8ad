import { type Clock, newId, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import type { PasswordHasher } from './password.hasher.ts';
import { draftUser, type User } from './user.ts';
import type { Workspace } from './workspace.ts';

export interface FirstOwner {
  email: string;
  /** Default: the part of the e-mail before the @. */
  name?: string;
  password: string;
  /** `timezone` defaults to UTC. */
  workspace: { slug: string; name: string; timezone?: string };
}

export interface EnsuredOwner {
  userId: string;
  tenantId: TenantId;
}

export interface BootstrapStore {
  /**
   * Creates the user, the workspace and the ownership in one step, if missing. An existing user with that login name
   * gets the new password and loses all sessions. An existing workspace with that slug stays as it is.
   */
  ensure(user: User, workspace: Workspace): Promise<EnsuredOwner>;
  hasUsers(): Promise<boolean>;
  /** Does the same if there is no user at all. Otherwise null, with nothing created. */
  ensureFirst(user: User, workspace: Workspace): Promise<EnsuredOwner | null>;
}

/**
 * Ensures that a workspace and its owner exist and that the owner has this password. A first start can be interrupted
 * at any time, even before it has shown a generated password. So repeat this until it succeeds.
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
 * Creates the workspace and its owner if there is no user at all. Otherwise null, even if that owner was removed.
 * Several replicas may call it concurrently: one of them creates the owner.
 */
export function createFirstOwner(deps: BootstrapDeps): (owner: FirstOwner) => Promise<EnsuredOwner | null> {
  return async (owner) => {
    // Checked first, because hashing a password is slow and every start calls this.
    if (await deps.store.hasUsers()) return null;
    const { user, workspace } = await draft(deps, owner);
    return deps.store.ensureFirst(user, workspace);
  };
}

async function draft(deps: BootstrapDeps, { email, name, password, workspace }: FirstOwner) {
  const user = await draftUser(deps, { email: email.toLowerCase(), name, password });
  const { timezone = 'UTC', ...named } = workspace;
  const { createdAt } = user;
  const drafted: Workspace = { id: provenTenantId(newId('ws')), ...named, timezone, trackedLabels: [], createdAt };
  return { user, workspace: drafted };
}
