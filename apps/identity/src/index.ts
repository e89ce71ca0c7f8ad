export { type IdentityConfig, identityConfig } from './config.ts';
export type { EnsureOwner, FirstOwner } from './domain/owner.bootstrap.ts';
export { runUserCommand, userCommandConfig } from './user.command.ts';
export { createIdentity, type IdentityDeps, type IdentityService } from './identity.service.ts';
