import type { TenantId } from '@tollkeeper/kernel';
import type { Condition, Evidence, SavedCondition } from './condition.ts';
import type { CountableEvent } from './event.ts';
import { EventCountCondition } from './event-count.condition.ts';
import { FirstOccurrenceCondition } from './first-occurrence.condition.ts';
import type { Rule } from './rule.ts';

/** What the evaluator remembers of one revision of a rule. */
export interface RuleWindow {
  tenantId: TenantId;
  ruleId: string;
  revision: number;
  condition: Condition;
  /** Newest event time that the rule, in whatever revision, fired at; epoch milliseconds. */
  lastFiredAt: number | null;
}

export type Outcome = 'fired' | 'suppressed';

/** Why a rule did what it did; `cooldown` is the only reason to suppress. */
export type Reason = 'condition_became_true' | 'condition_still_true_after_cooldown' | 'cooldown';

/** What a rule decided with an event. Without a decision nothing about the rule is to be told. */
export interface Decision {
  outcome: Outcome;
  reason: Reason;
  rule: Rule;
  event: CountableEvent;
  evidence: Evidence;
  /** Up to when the condition is met without any further event, epoch milliseconds. */
  metUntil: number;
  /** End of the cooldown that suppressed it, epoch milliseconds; null when it fired. */
  cooldownUntil: number | null;
}

/**
 * The window of a rule: empty, or with the condition as it was saved for the same revision. `lastFiredAt` is what is known of
 * earlier windows of the rule, of whatever revision: the rule itself can have been read before its last fire was stored.
 */
export function openWindow(rule: Rule, lastFiredAt: number | null = null, saved?: SavedCondition): RuleWindow {
  const windowMs = rule.windowSeconds * 1000;
  return {
    tenantId: rule.tenantId,
    ruleId: rule.id,
    revision: rule.revision,
    lastFiredAt: latest(rule.lastFiredAt?.getTime() ?? null, lastFiredAt),
    condition:
      rule.kind === 'event_count_gte'
        ? new EventCountCondition(windowMs, rule.threshold, saved?.events)
        : new FirstOccurrenceCondition(windowMs, saved?.spans),
  };
}

/**
 * Takes a matching event that is not late into account and decides (decisions §6). Changes `window`; depends on nothing but its arguments,
 * so the same events in the same order decide the same, whenever and however often they are read.
 *
 * - The rule fires when its condition becomes true with the event.
 * - In its cooldown, `event.time < lastFiredAt + cooldown`, it is suppressed instead. Events before the last fire are in the cooldown too.
 * - With a cooldown it also fires with an event from `lastFiredAt + cooldown` on while the condition is still true. A `first_occurrence`
 *   is true of one event only and has nothing that could still be true.
 * - An event that is counted already, or is older than all that count, decides nothing.
 */
export function evaluate(rule: Rule, window: RuleWindow, event: CountableEvent): Decision | null {
  const verdict = window.condition.take(event);
  if (verdict === 'unchanged' || verdict === 'not_met') return null;

  const cooldownUntil = cooldownEnd(rule, window);
  if (verdict === 'still_true' && cooldownUntil === null) return null;
  const outcome = cooldownUntil !== null && event.time < cooldownUntil ? 'suppressed' : 'fired';
  if (outcome === 'suppressed' && verdict === 'still_true') return null;
  if (outcome === 'fired') window.lastFiredAt = latest(event.time, window.lastFiredAt);
  const evidence = window.condition.evidence(event);
  return {
    outcome,
    reason: reasonOf(outcome, verdict),
    rule,
    event,
    evidence,
    metUntil: window.condition.metUntil() ?? evidence.windowEnd,
    cooldownUntil: outcome === 'fired' ? null : cooldownUntil,
  };
}

function reasonOf(outcome: Outcome, verdict: 'became_true' | 'still_true'): Reason {
  if (outcome === 'suppressed') return 'cooldown';
  return verdict === 'became_true' ? 'condition_became_true' : 'condition_still_true_after_cooldown';
}

/** Null without a cooldown, and before the first fire. */
function cooldownEnd({ cooldownSeconds }: Rule, { lastFiredAt }: RuleWindow): number | null {
  return cooldownSeconds === 0 || lastFiredAt === null ? null : lastFiredAt + cooldownSeconds * 1000;
}

function latest(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}
