import type { RuleKind, ScopeType } from '@tollkeeper/contracts';
import { MAX_LATENESS_MS, type CountableEvent } from '../src/domain/event.ts';
import type { Reason } from '../src/domain/evaluator.ts';
import type { RuleCondition } from '../src/domain/rule-kinds.ts';
import type { Rule } from '../src/domain/rule.ts';

/** A decision of the reference in the terms of the evaluator; `cooldown` and `rate_limited` are reasons not to fire. */
export interface ReferenceDecision {
  rule: string;
  revision: number;
  event: string;
  time: number;
  reason: Reason;
  count: number;
  eventCount: number;
  settledMicros: number | null;
  firstEventAt: number;
  lastEventAt: number;
  samples: string[];
}

/**
 * The slow and obvious evaluator: it keeps every event, and checks every window by looking at all of them. `rulesAt`
 * returns the rules in force when an event arrives.
 */
export function decideByBruteForce(
  arrivals: readonly CountableEvent[],
  rulesAt: (arrival: number) => readonly Rule[],
): ReferenceDecision[] {
  const decisions: ReferenceDecision[] = [];
  const suppress = (made: ReferenceDecision): void => {
    const alike = (other: ReferenceDecision) => other.rule === made.rule && other.reason === made.reason;
    const at = decisions.findIndex((other) => alike(other) && minuteOf(other) === minuteOf(made));
    if (at === -1) decisions.push(made);
    else decisions[at] = { ...made, count: decisions[at]!.count + 1 };
  };
  const countedBy = new Map<string, CountableEvent[]>();
  const lastFires = new Map<string, number>();

  for (const [arrival, event] of arrivals.entries()) {
    if (event.receivedAt - event.time > MAX_LATENESS_MS) continue;
    for (const rule of rulesAt(arrival)) {
      if (!rule.enabled || rule.tenantId !== event.tenantId || !matches(rule, event)) continue;
      if (event.receivedAt < rule.effectiveAt.getTime()) continue;

      const key = `${rule.id}/${rule.revision}`;
      const others = countedBy.get(key) ?? [];
      if (others.some(({ time, identity }) => time === event.time && identity === event.identity)) continue;
      const all = [...others, event];
      countedBy.set(key, all);

      const became = becomesTrue(rule, others, event);
      const still = STAYS_TRUE[rule.condition.kind] && counts(rule, others, all) && counts(rule, all, all);
      const lastFire = lastFires.get(rule.id);
      const inCooldown =
        rule.cooldownSeconds > 0 && lastFire !== undefined && event.time < lastFire + rule.cooldownSeconds * 1000;
      const due = still && rule.cooldownSeconds > 0 && lastFire !== undefined;
      if (!became && !due) continue;
      if (inCooldown) {
        if (became) suppress(decision(rule, event, all, 'cooldown'));
        continue;
      }
      const firedInMinute = decisions.filter(
        (other) => other.rule === rule.id && FIRED.has(other.reason) && minuteOf(other) === minuteOf(event),
      );
      if (firedInMinute.length >= 60) {
        suppress(decision(rule, event, all, 'rate_limited'));
        continue;
      }
      lastFires.set(rule.id, Math.max(event.time, lastFire ?? event.time));
      decisions.push(
        decision(rule, event, all, became ? 'condition_became_true' : 'condition_still_true_after_cooldown'),
      );
    }
  }
  return decisions;
}

const FIRED = new Set<Reason>(['condition_became_true', 'condition_still_true_after_cooldown']);

function minuteOf({ time }: { time: number }): number {
  return Math.floor(time / 60_000);
}

/** Whether the condition can stay true with further events. */
const STAYS_TRUE: Record<RuleKind, boolean> = {
  event_count_gte: true,
  first_occurrence: false,
  spend_gte: true,
  deviation_gte: true,
  burn_rate_gte: true,
  forecast_gte: true,
};
/** Whether the kind counts settled amounts, and so ignores events that settled nothing. */
const IS_ABOUT_SPEND: Record<RuleKind, boolean> = {
  event_count_gte: false,
  first_occurrence: false,
  spend_gte: true,
  deviation_gte: true,
  burn_rate_gte: true,
  forecast_gte: true,
};

const ELSEWHERE = new Error('other property suites have the references of these kinds');

const IS_IN_SCOPE: Record<ScopeType, (rule: Rule, event: CountableEvent) => boolean> = {
  workspace: () => true,
  tenant: () => true,
  agent: ({ scopeId }, { agentId }) => scopeId === agentId,
};

function matches(rule: Rule, event: CountableEvent): boolean {
  if (!IS_IN_SCOPE[rule.scopeType](rule, event)) return false;
  if (IS_ABOUT_SPEND[rule.condition.kind] && event.settledMicros === 0) return false;
  if (rule.percents.length > 0 && !rule.percents.some((percent) => percent === event.percent)) return false;
  for (const [name, pattern] of Object.entries(rule.labels)) {
    const value = new Map(Object.entries(event.labels)).get(name);
    if (value === undefined) return false;
    if (value !== pattern && !(pattern.endsWith('*') && value.startsWith(pattern.slice(0, -1)))) return false;
  }
  return rule.eventTypes.length === 0 || rule.eventTypes.includes(event.type);
}

function becomesTrue(rule: Rule, others: CountableEvent[], event: CountableEvent): boolean {
  const all = [...others, event];
  switch (rule.condition.kind) {
    case 'event_count_gte':
    case 'spend_gte':
      return counts(rule, all, all) && !counts(rule, others, all);
    case 'first_occurrence': {
      const since = event.time - rule.windowSeconds * 1000;
      return !others.some(({ time }) => time > since && time <= event.time);
    }
    case 'deviation_gte':
    case 'burn_rate_gte':
    case 'forecast_gte':
      throw ELSEWHERE;
  }
}

/** Whether `events` meet the condition within the window that ends with the newest of `all`. */
function counts(rule: Rule, events: CountableEvent[], all: CountableEvent[]): boolean {
  const newest = Math.max(...all.map(({ time }) => time));
  const inWindow = events.filter(({ time }) => time > newest - rule.windowSeconds * 1000);
  return newestThatReach(rule.condition, inWindow) !== null;
}

/** The newest events that suffice for the condition, newest first; null if all together do not. */
function newestThatReach(condition: RuleCondition, events: CountableEvent[]): CountableEvent[] | null {
  const newestFirst = events.toSorted((a, b) => b.time - a.time || b.identity - a.identity);
  switch (condition.kind) {
    case 'event_count_gte':
      for (let count = 1; count <= newestFirst.length; count += 1) {
        const newest = newestFirst.slice(0, count);
        if (countedOf(newest, condition.threshold) >= condition.threshold) return newest;
      }
      return null;
    case 'first_occurrence':
      return newestFirst.slice(0, 1);
    case 'spend_gte':
      for (let count = 1; count <= newestFirst.length; count += 1) {
        if (settled(newestFirst.slice(0, count)) >= condition.thresholdMicros) return newestFirst.slice(0, count);
      }
      return null;
    case 'deviation_gte':
    case 'burn_rate_gte':
    case 'forecast_gte':
      throw ELSEWHERE;
  }
}

/** The events that a decision about the event may take into account. */
function eventsOf({ kind }: RuleCondition, event: CountableEvent, all: CountableEvent[]): CountableEvent[] {
  switch (kind) {
    case 'event_count_gte':
    case 'spend_gte':
      return all;
    case 'first_occurrence':
    case 'deviation_gte':
    case 'burn_rate_gte':
    case 'forecast_gte':
      return [event];
  }
}

function eventCountOf(condition: RuleCondition, counted: CountableEvent[]): number {
  switch (condition.kind) {
    case 'event_count_gte':
      return countedOf(counted, condition.threshold);
    case 'first_occurrence':
    case 'spend_gte':
    case 'deviation_gte':
    case 'burn_rate_gte':
    case 'forecast_gte':
      return counted.length;
  }
}

/** The sum of the events' counts, each up to the threshold. */
function countedOf(events: CountableEvent[], threshold: number): number {
  return events.reduce((sum, { count }) => sum + Math.min(count, threshold), 0);
}

function settled(events: CountableEvent[]): number {
  return events.reduce((sum, { settledMicros }) => sum + settledMicros, 0);
}

function decision(rule: Rule, event: CountableEvent, all: CountableEvent[], reason: Reason): ReferenceDecision {
  const counted = newestThatReach(rule.condition, eventsOf(rule.condition, event, all))!;
  return {
    rule: rule.id,
    revision: rule.revision,
    event: event.id,
    time: event.time,
    reason,
    count: 1,
    eventCount: eventCountOf(rule.condition, counted),
    settledMicros: IS_ABOUT_SPEND[rule.condition.kind] ? settled(counted) : null,
    firstEventAt: Math.min(...counted.map(({ time }) => time)),
    lastEventAt: Math.max(...counted.map(({ time }) => time)),
    samples: counted.slice(0, 10).map(({ id }) => id),
  };
}
