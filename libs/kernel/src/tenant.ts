declare const tenantBrand: unique symbol;

/**
 * The id of the workspace that a request or an event has been proven to act in. Stores take it as their first
 * argument, and a plain string does not type-check there, so a query cannot forget its tenant.
 */
export type TenantId = string & { readonly [tenantBrand]: true };

/**
 * Marks `id` as proven. Only the places that prove it call this: verification of a caller token or a workspace key, the
 * schemas of what services ask each other, decoding of an event that the log carries, and the creation of a workspace.
 */
export function provenTenantId(id: string): TenantId {
  return id as TenantId;
}

/** Workspace roles, weakest first. */
export const ROLES = ['member', 'admin', 'owner'] as const;
export type Role = (typeof ROLES)[number];

/** True when `role` may do what `needed` may do. */
export function roleAtLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** Who a request acts for, as the gateway proved it. `tenantId` and `role` are null on routes without a workspace. */
export interface Caller {
  userId: string;
  /** What people call the user; absent where identity did not say. */
  name?: string | undefined;
  tenantId: TenantId | null;
  role: Role | null;
}
