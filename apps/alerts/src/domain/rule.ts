import { isDeepStrictEqual } from 'node:util';
import type { AuditedFields, Cause, ChannelSummary, ScopeType, Severity } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { type RuleCondition, thresholdsOf, type Watch } from './rule-kinds.ts';

/** An alert rule. */
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
  /** Types of events that the rule counts; when empty, all types. */
  eventTypes: string[];
  /** The rule counts that a daily budget reaches one of these percents; when empty, any. */
  percents: number[];
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

/** The part of a rule that people write. */
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
  | 'percents'
  | 'cooldownSeconds'
  | 'channelIds'
>;

/**
 * Whether an edit makes the rule start with an empty window. It does when it enables the rule, or changes what the rule
 * counts: events counted before would otherwise make an alert that the rule as it is now does not mean.
 */
export function startsEmpty(before: RuleDraft, after: RuleDraft): boolean {
  if (after.enabled && !before.enabled) return true;
  const counted = ({ condition, windowSeconds, scopeType, scopeId, eventTypes, percents }: RuleDraft): unknown[] => [
    ...[condition, windowSeconds, scopeType, scopeId, eventTypes, percents],
  ];
  return !isDeepStrictEqual(counted(before), counted(after));
}

/** The fields of a rule that the audit log records. */
export const AUDITED_RULE: AuditedFields<RuleDraft> = {
  name: (rule) => rule.name,
  description: (rule) => rule.description,
  enabled: (rule) => rule.enabled,
  severity: (rule) => rule.severity,
  scope_type: (rule) => rule.scopeType,
  scope_id: (rule) => rule.scopeId,
  rule_kind: (rule) => rule.condition.kind,
  window_seconds: (rule) => rule.windowSeconds,
  threshold: (rule) => thresholdsOf(rule.condition).threshold,
  threshold_micros: (rule) => thresholdsOf(rule.condition).thresholdMicros,
  event_types: (rule) => rule.eventTypes,
  percents: (rule) => rule.percents,
  cooldown_seconds: (rule) => rule.cooldownSeconds,
  channel_config_ids: (rule) => rule.channelIds,
};

/** Most rules in a workspace. */
export const MAX_RULES = 1000;
/** Most bytes of the evaluator's memory for the windows of a workspace's enabled rules together: see `costOf`. */
export const MAX_WINDOW_BYTES = 80_000_000;
/** Most channels of one rule. */
export const MAX_RULE_CHANNELS = 20;
/**
 * Most channels of all enabled rules of a workspace. A channel counts once for each of its rules. One event may fire
 * all of the rules, and later events wait until their alerts and notifications are stored.
 */
export const MAX_TOLD_CHANNELS = 5000;

/** The state that a change of a rule is decided on, as of one moment. */
export interface RuleFacts {
  /** The rule as it is; null when the workspace has no rule with the id. */
  current: Rule | null;
  /** Rules of the workspace. */
  ruleCount: number;
  /** The workspace's other enabled rules. */
  others: readonly RuleInForce[];
  /** Ids of the channels that were found for the rule and are not deleted since. */
  channelIds: ReadonlySet<string>;
}

/** The part of an enabled rule that counts towards its workspace's limits. */
export type RuleInForce = Watch & Pick<Rule, 'channelIds'>;

/**
 * Where rules are kept. Another workspace's rule does not exist for any method. A change is written to the audit trail
 * in its transaction.
 */
export interface RuleStore {
  /** Oldest first. */
  list(tenantId: TenantId): Promise<Rule[]>;
  find(tenantId: TenantId, ruleId: string): Promise<Rule | null>;
  /**
   * Stores the rule that `decide` makes of the facts, or nothing when it throws, which is passed on. Changes of rules
   * come one after the other, so `decide` may be run again on newer facts: it must have no effect of its own. `found`
   * are channels that the notifier has for the rule.
   */
  change(
    tenantId: TenantId,
    ruleId: string,
    found: readonly ChannelSummary[],
    decide: (facts: RuleFacts) => Rule,
    cause: Cause,
  ): Promise<Rule>;
  /** Deletes the rule with its window and its evaluations; its alerts stay. False when there is no such rule. */
  delete(tenantId: TenantId, ruleId: string, cause: Cause): Promise<boolean>;
}
