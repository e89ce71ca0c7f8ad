import type { TenantId } from '@tollkeeper/kernel';
import type { BudgetTermsBook } from './budget.terms.ts';
import type { Condition, Evidence, SavedCondition } from './condition.ts';
import type { CountableEvent } from './event.ts';
import type { DecisionPlace, RuleHistory, SuppressionReason } from './rule.history.ts';
import type { Rule } from './rule.ts';
import { dailyBudgetOf, selectionOf } from './rule-book.ts';
import { openCondition, thresholdsOf } from './rule-kinds.ts';
import type { SharedSums } from './shared-sums.ts';

/** The evaluator's state for one revision of a rule. */
export interface RuleWindow {
  tenantId: TenantId;
  ruleId: string;
  revision: number;
  condition: Condition;
  /** The history across all revisions. */
  history: RuleHistory;
}

export type Outcome = 'fired' | 'suppressed';

/** Why a rule fired or was suppressed. */
export type Reason = 'condition_became_true' | 'condition_still_true_after_cooldown' | SuppressionReason;

/** The decision of a rule about an event. */
export interface Decision extends DecisionPlace {
  outcome: Outcome;
  reason: Reason;
  rule: Rule;
  event: CountableEvent;
  evidence: Evidence;
  /** Until when the condition stays met without further events, epoch milliseconds. */
  metUntil: number;
  /** End of the cooldown that suppressed the rule, epoch milliseconds; null if it fired or was suppressed otherwise. */
  cooldownUntil: number | null;
}

/** What windows of a workspace share. */
interface Shared {
  sums: SharedSums;
  budgets: BudgetTermsBook;
}

/** Opens the window of a rule: empty, or with the condition that was saved for the same revision. */
export function openWindow(rule: Rule, history: RuleHistory, shared: Shared, saved?: SavedCondition): RuleWindow {
  const { sums, budgets } = shared;
  const budget = (id: string | null) => budgets.of(rule.tenantId, id ?? dailyBudgetOf(rule));
  const source = { selection: selectionOf(rule), from: rule.effectiveAt.getTime(), sums, budget };
  return {
    tenantId: rule.tenantId,
    ruleId: rule.id,
    revision: rule.revision,
    history,
    condition: openCondition(rule, source, saved),
  };
}

/**
 * Adds a matching event that is not late to the window, and decides. The decision depends on the arguments alone: the
 * same events in the same order lead to the same decisions, whenever and however often they are read.
 *
 * - The rule fires when the event makes its condition true, and with a threshold of 1 for each request for a raise.
 * - During the cooldown, `event.time < lastFiredAt + cooldown`, the rule is suppressed instead. Events before the last
 *   fire are in the cooldown too.
 * - A rule with a cooldown also fires if its condition is still true with the next event after the cooldown. A
 *   `first_occurrence` condition is true for one event only, so it is never still true.
 * - A rule makes at most 60 alerts in a minute of event time. Further ones are suppressed.
 * - Within a minute of event time, all suppressions for the same reason are one decision. Each further event repeats
 *   the decision with a higher count, and the decision then names that event.
 * - A condition that knows too little of the past suppresses the rule as `learning`.
 * - An event that was already counted, or is too old to count, decides nothing.
 */
export function evaluate(rule: Rule, window: RuleWindow, event: CountableEvent): Decision | null {
  const taken = window.condition.take(event);
  // Each request needs a decision of its own, so a rule for single ones fires for every one.
  const isRequest = event.raise !== undefined && thresholdsOf(rule.condition).threshold === 1;
  const verdict = taken === 'still_true' && isRequest ? 'became_true' : taken;
  if (verdict === 'unchanged' || verdict === 'not_met') return null;

  const { history } = window;
  if (verdict === 'unknown') {
    const evidence = window.condition.evidence(event);
    const suppression = { outcome: 'suppressed', reason: 'learning', ...history.suppress(event, 'learning') } as const;
    return { ...suppression, rule, event, evidence, metUntil: evidence.windowEnd, cooldownUntil: null };
  }
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
