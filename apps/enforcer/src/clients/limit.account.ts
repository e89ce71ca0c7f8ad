import type { BudgetScope } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import type { Limit } from '../domain/limit.ts';

/** What may have a limit, as budgets knows it. */
export interface Account {
  scope: BudgetScope;
  scopeId: string;
  /** In the cache. */
  key: string;
}

// No id has a slash.
export function workspaceAccount(tenantId: TenantId): Account {
  return { scope: 'workspace', scopeId: tenantId, key: tenantId };
}

export function agentAccount(tenantId: TenantId, agentId: string): Account {
  return { scope: 'agent', scopeId: agentId, key: `${tenantId}/agent/${agentId}` };
}

export function planAccount(tenantId: TenantId, planKey: string): Account {
  return { scope: 'plan', scopeId: planKey, key: `${tenantId}/plan/${planKey}` };
}

export function toLimit({ scope, scopeId }: Account, micros: string): Limit {
  return { scope, scopeId, dailyBudgetMicros: Number(micros) };
}
