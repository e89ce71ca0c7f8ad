import type { TenantId } from '@tollkeeper/kernel';
import type { Condition, Evidence, SavedCondition } from './condition.ts';
import type { CountableEvent } from './event.ts';
import type { DecisionPlace, RuleHistory, SuppressionReason } from './rule.history.ts';
import type { Rule } from './rule.ts';
import { openCondition } from './rule-kinds.ts';

/** What the evaluator remembers of one revision of a rule. */
export interface RuleWindow {
  tenantId: TenantId;
  ruleId: string;
  revision: number;
  condition: Condition;
  /** Of all revisions. */
  history: RuleHistory;
}

export type Outcome = 'fired' | 'suppressed';

/** Why a rule did what it did. */
export type Reason = 'condition_became_true' | 'condition_still_true_after_cooldown' | SuppressionReason;

/** What a rule decided with an event. Without a decision nothing about the rule is to be told. */
export interface Decision extends DecisionPlace {
  outcome: Outcome;
  reason: Reason;
  rule: Rule;
  event: CountableEvent;
  evidence: Evidence;
  /** Up to when the condition is met without any further event, epoch milliseconds. */
  metUntil: number;
  /** End of the cooldown that suppressed it, epoch milliseconds; null when something else did, or nothing. */
  cooldownUntil: number | null;
}

/** The window of a rule: empty, or with the condition as it was saved for the same revision. */
export function openWindow(rule: Rule, history: RuleHistory, saved?: SavedCondition): RuleWindow {
  return {
    tenantId: rule.tenantId,
    ruleId: rule.id,
    revision: rule.revision,
    history,
    condition: openCondition(rule, saved),
  };
}

/**
 * Takes a matching event that is not late into account and decides (decisions §6). Changes `window`; depends on nothing
 * but its arguments, so the same events in the same order decide the same, whenever and however often they are read.
 *
 * - The rule fires when its condition becomes true with the event.
 * - In its cooldown, `event.time < lastFiredAt + cooldown`, it is suppressed instead. Events before the last fire are
 *   in the cooldown too.
 * - With a cooldown it also fires with an event from `lastFiredAt + cooldown` on while the condition is still true. A
 *   `first_occurrence` is true of one event only and has nothing that could still be true.
 * - What would be its 61st alert in the minute of the event's time is suppressed.
 * - All that is suppressed in a minute of event time for one reason is one decision, told again with each event, which
 *   it then is about.
 * - An event that is counted already, or is older than all that count, decides nothing.
 */
export function evaluate(rule: Rule, window: RuleWindow, event: CountableEvent): Decision | null {
  const verdict = window.condition.take(event);
  if (verdict === 'unchanged' || verdict === 'not_met') return null;

  const { history } = window;
  const cooldownUntil = cooldownEnd(rule, history);
  if (verdict === 'still_true' && cooldownUntil === null) return null;
  const inCooldown = cooldownUntil !== null && event.time < cooldownUntil;
  if (inCooldown && verdict === 'still_true') return null;

  const evidence = window.condition.evidence(event);
  const metUntil = window.condition.metUntil() ?? evidence.windowEnd;
  const suppressed = inCooldown ? 'cooldown' : history.hasFiredEnough(event) ? 'rate_limited' : null;
  if (suppressed === null) {
    const reason = verdict === 'became_true' ? 'condition_became_true' : 'condition_still_true_after_cooldown';
    const fire = { outcome: 'fired', reason, ...history.fire(event) } as const;
    return { ...fire, rule, event, evidence, metUntil, cooldownUntil: null };
  }
  const suppression = { outcome: 'suppressed', reason: suppressed, ...history.suppress(event, suppressed) } as const;
  return { ...suppression, rule, event, evidence, metUntil, cooldownUntil: inCooldown ? cooldownUntil : null };
}

/** Null without a cooldown, and before the first fire. */
function cooldownEnd({ cooldownSeconds }: Rule, { lastFiredAt }: RuleHistory): number | null {
  return cooldownSeconds === 0 || lastFiredAt === null ? null : lastFiredAt + cooldownSeconds * 1000;
}
