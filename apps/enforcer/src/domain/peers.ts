import type { BudgetScope } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import type { Limit } from './limit.ts';

/** The limits that apply to calls of an agent under a plan. That of a plan is among them while the plan is active. */
export interface ApplyingLimits {
  /** The workspace first, then the agent, then the plan; each if it is set. */
  limits: Limit[];
  /** `none` for a call without a plan, `unknown` for a plan that the workspace does not have. */
  plan: 'none' | 'active' | 'inactive' | 'unknown';
}

/** The ids of accounts of a workspace beside its own. */
type ChosenAccounts = Record<Exclude<BudgetScope, 'workspace'>, readonly string[]>;

/** Knows the daily budgets that owners set. All of it rejects with `service_unavailable` alone. */
export interface LimitSource {
  /**
   * As of at most 2 s ago; while budgets is down, the last known ones. Rejects within a second, if one of them is not
   * known.
   */
  applying(tenantId: TenantId, call: { agentId: string; planKey: string | null }): Promise<ApplyingLimits>;
  /**
   * The limits of the workspace and of these accounts that are set, in that order, those of inactive plans included.
   * As fresh as {@link applying}.
   */
  of(tenantId: TenantId, chosen: ChosenAccounts): Promise<Limit[]>;
  /**
   * Everything that is set as of now: the workspace first, then agents and plans in order of their ids, inactive plans
   * included. Of more than 10 000 agents with a budget, the first 10 000.
   */
  all(tenantId: TenantId): Promise<Limit[]>;
}

/** Knows in which time zone the days of a workspace begin. */
export interface TimezoneSource {
  /**
   * IANA zone of the workspace, as of now; UTC for one that identity does not know. Rejects with `service_unavailable`
   * while identity is down.
   */
  timezoneOf(tenantId: TenantId): Promise<string>;
}

/** Makes agents known that call before any event names them. */
export interface AgentRegistrar {
  /**
   * Registers the agent in the background. An agent that this process has registered costs nothing. It never throws: an
   * agent that could not be registered is tried again when it is seen again.
   */
  seen(tenantId: TenantId, agentId: string): void;
}
