import type { TenantId } from '@tollkeeper/kernel';
import type { Limit } from './limit.ts';

/** The limits that apply to calls of an agent under a plan. */
export interface ApplyingLimits {
  limits: Limit[];
  plan: 'none' | 'active' | 'inactive' | 'unknown';
}

export interface LimitSource {
  applying(tenantId: TenantId, call: { agentId: string; planKey: string | null }): Promise<ApplyingLimits>;
  of(tenantId: TenantId, chosen: { agentIds: readonly string[]; planKeys: readonly string[] }): Promise<Limit[]>;
  all(tenantId: TenantId): Promise<Limit[]>;
}
export interface TimezoneSource {
  timezoneOf(tenantId: TenantId): Promise<string>;
}
export interface AgentRegistrar {
  seen(tenantId: TenantId, agentId: string): void;
}
