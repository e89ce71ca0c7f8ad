import { isDeepStrictEqual } from 'node:util';
import type { ScopeType, Severity } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import type { RuleCondition, Watch } from './rule-kinds.ts';

/** An alert rule (spec §2.5, decisions §6). */
export interface Rule {
  id: string;
  tenantId: TenantId;
  name: string;
  description: string;
  enabled: boolean;
  severity: Severity;
  scopeType: ScopeType;
  /** Id of the workspace, or of the agent when `scopeType` is `agent`. */
  scopeId: string;
  condition: RuleCondition;
  windowSeconds: number;
  /** Types that it counts; empty counts every type. */
  eventTypes: string[];
  cooldownSeconds: number;
  channelIds: string[];
  createdAt: Date;
  updatedAt: Date;
  /** Event time of the last fire. */
  lastFiredAt: Date | null;
  /** Rises with every change after which the window starts empty: see {@link startsEmpty}. */
  revision: number;
  /** When this revision was made: only events received from then on count for it. */
  effectiveAt: Date;
}

/** What a person says about a rule; the rest is Tollkeeper's. */
export type RuleDraft = Pick<
  Rule,
  | 'name'
  | 'description'
  | 'enabled'
  | 'severity'
  | 'scopeType'
  | 'scopeId'
  | 'condition'
  | 'windowSeconds'
  | 'eventTypes'
  | 'cooldownSeconds'
  | 'channelIds'
>;

/** Whether an edit makes the rule start with an empty window (decisions §6): re-enabled, or counting something else. */
export function startsEmpty(before: RuleDraft, after: RuleDraft): boolean {
  if (after.enabled && !before.enabled) return true;
  const counted = ({ condition, windowSeconds, scopeType, scopeId, eventTypes }: RuleDraft): unknown[] => [
    ...[condition, windowSeconds, scopeType, scopeId, eventTypes],
  ];
  return !isDeepStrictEqual(counted(before), counted(after));
}

/** Most rules in a workspace. */
export const MAX_RULES = 1000;
/**
 * Most bytes that the windows of a workspace's enabled rules may take together in the evaluator's memory: see `costOf`.
 */
export const MAX_WINDOW_BYTES = 80_000_000;
/** Most channels that one rule tells. */
export const MAX_RULE_CHANNELS = 20;
/**
 * Most channels that the enabled rules of a workspace tell, each counted with each of its rules: what one event fires
 * is stored, with all notifications, while the events behind it wait.
 */
export const MAX_TOLD_CHANNELS = 5000;

/** What a change of a rule is decided on, all of one moment. */
export interface RuleFacts {
  /** The rule as it is; null where there is none with the id. */
  current: Rule | null;
  /** Rules of the workspace. */
  ruleCount: number;
  /** The workspace's other enabled rules. */
  others: readonly RuleInForce[];
  /** Ids of the channels of the workspace. */
  channelIds: ReadonlySet<string>;
}

/** What an enabled rule takes of its workspace's limits. */
export type RuleInForce = Watch & Pick<Rule, 'channelIds'>;

/** Where rules are kept. Another workspace's rule does not exist for any method. */
export interface RuleStore {
  /** Oldest first. */
  list(tenantId: TenantId): Promise<Rule[]>;
  find(tenantId: TenantId, ruleId: string): Promise<Rule | null>;
  /**
   * Stores the rule that `decide` makes of the facts, or nothing when it throws, which is passed on. Changes of rules
   * come one after the other, so `decide` may be run again on newer facts: it must have no effect of its own.
   */
  change(tenantId: TenantId, ruleId: string, decide: (facts: RuleFacts) => Rule): Promise<Rule>;
  /** Deletes the rule with its window and its evaluations; its alerts stay. False when there is no such rule. */
  delete(tenantId: TenantId, ruleId: string): Promise<boolean>;
}
