import { isDeepStrictEqual } from 'node:util';
import {
  auditedLabels,
  type AuditedFields,
  type Cause,
  type ChannelSummary,
  haveLabels,
  type Labels,
  type ScopeType,
  type Severity,
} from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { type RuleCondition, thresholdsOf, type Watch } from './rule-kinds.ts';

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
  /** Types of events that the rule counts; empty means all types. */
  eventTypes: string[];
  /** The rule counts events in which a budget reaches one of these percentages; empty means any. */
  percents: number[];
  /** The rule counts events of calls whose labels match these patterns: see `haveLabels`. Empty means any events. */
  labels: Labels;
  cooldownSeconds: number;
  /** The channels of alerts that no route fits. */
  channelIds: string[];
  /** In order: the first that fits decides. */
  routes: Route[];
  /** Alerts within so many seconds after the first are one message for each channel; 0 for a message for each alert. */
  groupSeconds: number;
  createdAt: Date;
  updatedAt: Date;
  /** Event time at which the rule last fired. */
  lastFiredAt: Date | null;
  /** Increases with every change that empties the window: see {@link startsEmpty}. */
  revision: number;
  /** When this revision was made: it counts only events received from then on. */
  effectiveAt: Date;
}

/** Sends alerts to other channels if the event that they fired with has the label. */
export interface Route {
  label: string;
  /** Exact, or a prefix followed by `*`. */
  value: string;
  channelIds: string[];
}

/** The channels of an alert that the rule fires with an event that has these labels. */
export function channelsOf({ channelIds, routes }: Pick<Rule, 'channelIds' | 'routes'>, labels: Labels): string[] {
  return routes.find(({ label, value }) => haveLabels(labels, { [label]: value }))?.channelIds ?? channelIds;
}

/** All channels that the rule names, each once. */
export function namedChannels({ channelIds, routes }: Pick<Rule, 'channelIds' | 'routes'>): string[] {
  return [...new Set([...channelIds, ...routes.flatMap((route) => route.channelIds)])];
}

/** The most channels that one alert of the rule can have. */
export function mostChannels({ channelIds, routes }: Pick<Rule, 'channelIds' | 'routes'>): number {
  return Math.max(channelIds.length, ...routes.map((route) => route.channelIds.length));
}

/** The part of a rule that people edit. */
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
  | 'labels'
  | 'cooldownSeconds'
  | 'channelIds'
  | 'routes'
  | 'groupSeconds'
>;

/**
 * Whether an edit empties the rule's window. It does if it enables the rule or changes what the rule counts. Otherwise,
 * events counted before the edit could fire an alert that does not fit the edited rule.
 */
export function startsEmpty(before: RuleDraft, after: RuleDraft): boolean {
  if (after.enabled && !before.enabled) return true;
  const counted = (rule: RuleDraft): unknown[] => {
    const { condition, windowSeconds, scopeType, scopeId, eventTypes, percents, labels } = rule;
    return [condition, windowSeconds, scopeType, scopeId, eventTypes, percents, labels];
  };
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
  times: (rule) => thresholdsOf(rule.condition).times ?? null,
  min_micros: (rule) => thresholdsOf(rule.condition).minMicros ?? null,
  budget_id: (rule) => thresholdsOf(rule.condition).budgetId ?? null,
  permille: (rule) => thresholdsOf(rule.condition).permille ?? null,
  long_seconds: (rule) => thresholdsOf(rule.condition).longSeconds ?? null,
  short_seconds: (rule) => thresholdsOf(rule.condition).shortSeconds ?? null,
  percent: (rule) => thresholdsOf(rule.condition).percent ?? null,
  event_types: (rule) => rule.eventTypes,
  percents: (rule) => rule.percents,
  labels: (rule) => auditedLabels(rule.labels),
  cooldown_seconds: (rule) => rule.cooldownSeconds,
  channel_config_ids: (rule) => rule.channelIds,
  routes: ({ routes }) => routes.map(({ label, value, channelIds }) => `${label}=${value}: ${channelIds.join(', ')}`),
  group_seconds: (rule) => rule.groupSeconds,
};

/** Maximum number of rules in a workspace. */
export const MAX_RULES = 1000;
/** Maximum memory in the evaluator for the windows of a workspace's enabled rules together, in bytes: see `costOf`. */
export const MAX_WINDOW_BYTES = 80_000_000;
/** Maximum number of channels of a rule. */
export const MAX_RULE_CHANNELS = 20;
/** Maximum number of routes of a rule. */
export const MAX_ROUTES = 20;
/**
 * Maximum number of channels of all enabled rules of a workspace, counted once per rule. One event may fire all of the
 * rules, and later events wait until their alerts and notifications are stored.
 */
export const MAX_NOTIFIED_CHANNELS = 5000;

/** The consistent state on which a change of a rule is decided. */
export interface RuleFacts {
  /** The current rule; null if the workspace has no rule with the id. */
  current: Rule | null;
  /** Number of rules of the workspace. */
  ruleCount: number;
  /** The workspace's other enabled rules. */
  others: readonly RuleInForce[];
  /** Ids of the channels that were found for the rule and have not been deleted since. */
  channelIds: ReadonlySet<string>;
}

/** The part of an enabled rule that counts towards its workspace's limits. */
export type RuleInForce = Watch & Pick<Rule, 'channelIds' | 'routes'>;

/**
 * The store of rules. No method finds a rule of another workspace. Changes are written to the audit trail in the same
 * transaction.
 */
export interface RuleStore {
  /** Oldest first. */
  list(tenantId: TenantId): Promise<Rule[]>;
  find(tenantId: TenantId, ruleId: string): Promise<Rule | null>;
  /**
   * Stores the rule that `decide` makes from the facts. If `decide` throws, nothing is stored and the error is passed
   * on. Changes of a workspace's rules are serialized, so `decide` may run again on newer facts and must have no side
   * effects. `found` are channels that the notifier returned for the rule.
   */
  change(
    tenantId: TenantId,
    ruleId: string,
    found: readonly ChannelSummary[],
    decide: (facts: RuleFacts) => Rule,
    cause: Cause,
  ): Promise<Rule>;
  /** Deletes the rule with its window and evaluations; its alerts are kept. False if there is no such rule. */
  delete(tenantId: TenantId, ruleId: string, cause: Cause): Promise<boolean>;
}
