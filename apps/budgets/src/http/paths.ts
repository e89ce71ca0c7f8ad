import { identifier, planKey } from '@tollkeeper/contracts';
import type { TenantCaller } from '@tollkeeper/http';
import { AppError, type TenantId } from '@tollkeeper/kernel';

export const PREFIX = '/api/v1/workspaces/{tenant_id}/budgets';
export const TAG = 'Budgets';

/** The path segments below {@link PREFIX}. */
export const segments = {
  tenant_id: identifier.meta({ description: 'Id of the workspace' }),
  agent_id: identifier,
  plan_key: planKey,
};

/**
 * The workspace of a request. Throws `forbidden` unless the path and the caller token name the same workspace; the
 * gateway checks this too.
 */
export function workspaceOf(caller: TenantCaller, params: { tenant_id: string }): TenantId {
  if (params.tenant_id === caller.tenantId) return caller.tenantId;
  throw new AppError('forbidden', 'You have no access to this workspace.');
}
