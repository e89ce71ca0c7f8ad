import type { Role } from './roles.ts';

declare const tenantBrand: unique symbol;

/**
 * The id of the workspace in which a request or an event has been proven to act. Stores take it as their first
 * argument, and a plain string does not type-check there, so a query cannot forget its tenant.
 */
export type TenantId = string & { readonly [tenantBrand]: true };

/**
 * Marks `id` as proven. Only the places that prove it call this: the verification of a caller token or a workspace key,
 * the schemas of requests between services, the decoding of events from the log, and the creation of a workspace.
 */
export function provenTenantId(id: string): TenantId {
  return id as TenantId;
}

/** For whom a request acts, as proven by the gateway. `tenantId` and `role` are null on routes without a workspace. */
export interface Caller {
  userId: string;
  /** Display name of the user; absent if identity did not send it. */
  name?: string | undefined;
  tenantId: TenantId | null;
  role: Role | null;
}
