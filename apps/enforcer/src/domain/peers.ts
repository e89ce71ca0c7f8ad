import type { BudgetScope, Labels } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import type { ActiveBudgets } from './active.budgets.ts';
import type { Correction } from './correct.ts';
import type { DailyLimit } from './limit.ts';
import type { Fill } from './metering.ts';
import type { ReportedSpend } from './settle.ts';

/** The limits that apply to calls of an agent under a plan; that of the plan only while the plan is active. */
export interface ApplyingLimits {
  /** Workspace, agent, plan, in that order; only limits that are set. */
  limits: DailyLimit[];
  /** `none` for a call without a plan, `unknown` for a plan that the workspace does not have. */
  plan: 'none' | 'active' | 'inactive' | 'unknown';
}

/** The ids of accounts of a workspace other than its own. */
type ChosenAccounts = Record<Exclude<BudgetScope, 'workspace'>, readonly string[]>;

/** Knows the daily budgets that owners set. Rejects only with `service_unavailable`. */
export interface LimitSource {
  /**
   * At most 2 s old; while budgets is down, the last known limits. Rejects within a second if one of them is not known.
   */
  applying(tenantId: TenantId, call: { agentId: string; planKey: string | null }): Promise<ApplyingLimits>;
  /**
   * The limits that are set for the workspace and these accounts, in that order, including inactive plans. As fresh as
   * {@link applying}.
   */
  of(tenantId: TenantId, chosen: ChosenAccounts): Promise<DailyLimit[]>;
  /**
   * All current limits: the workspace first, then agents and plans in order of their ids, including inactive plans. At
   * most 10 000 agents with a budget, the first ones.
   */
  all(tenantId: TenantId): Promise<DailyLimit[]>;
}

/** Knows the budgets with a selector that owners made. */
export interface BudgetSource {
  /**
   * The active budgets, at most 2 s old, and not a promise if they are in the cache. While budgets is down, the last
   * known ones; rejects with `service_unavailable` if none are known.
   */
  of(tenantId: TenantId): ActiveBudgets | Promise<ActiveBudgets>;
  /** Those asked for at `at` or later, by the monotonic clock. Rejects as {@link of}, also if only older are known. */
  since(tenantId: TenantId, at: number): Promise<ActiveBudgets>;
}

export interface SettlementPage {
  /** Settlements, each followed by its corrections. */
  spend: (ReportedSpend | Correction)[];
  /** Of the next page; empty after the last. */
  cursor: string;
  /** All spend before this time has been read, epoch milliseconds. */
  readUntil: number;
}

/** Knows what was settled before budgets were made. */
export interface SettlementSource {
  /**
   * The next page of a fill. The first one has, with those after it, all settlements that were in the log before the
   * call. Rejects with `service_unavailable` while dashboard is down or behind the log.
   */
  read(tenantId: TenantId, fill: Pick<Fill, 'from' | 'until' | 'cursor'>): Promise<SettlementPage>;
}

/** Knows the time zone in which the days of a workspace begin. */
export interface TimezoneSource {
  /**
   * The current IANA zone of the workspace; UTC if identity does not know the workspace. Rejects with
   * `service_unavailable` while identity is down.
   */
  timezoneOf(tenantId: TenantId): Promise<string>;
}

/** Knows the labels that owners give agents. */
export interface AgentLabelSource {
  /**
   * The labels by agent; without any, an agent may be absent. At most 2 s old; while identity is down, the last known
   * ones. Rejects with `service_unavailable` if those of an agent are not known.
   */
  labelsOf(
    tenantId: TenantId,
    agentIds: readonly string[],
  ): ReadonlyMap<string, Labels> | Promise<ReadonlyMap<string, Labels>>;
}

/** Registers agents that call before any event names them. */
export interface AgentRegistrar {
  /**
   * Registers the agent in the background and never throws. Agents already registered by this process cost nothing.
   * After a failure, the agent is tried again when it is seen again.
   */
  seen(tenantId: TenantId, agentId: string): void;
}
