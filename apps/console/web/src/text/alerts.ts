import type { Api } from '@tollkeeper/client';
import { withLabels } from '../format/labels.ts';
import { money } from '../format/money.ts';
import { count, percent } from '../format/numbers.ts';
import { duration } from '../format/time.ts';
import { limitNoun, whoseBudget } from './budget-words.ts';
import { eventsOf, firstEventOf } from './events.ts';
import { inWords } from './lengths.ts';
import { counted } from './plurals.ts';

/** The name of an agent by its id. */
type NameOf = (agentId: string) => string;

/** Whose events they were: the words before a count, and after a first event. */
const WHOSE: Record<Api.Alert['scope_type'], (id: string, nameOf: NameOf) => { before: string; behind: string }> = {
  workspace: () => ({ before: '', behind: 'any agent' }),
  tenant: () => ({ before: '', behind: 'any agent' }),
  agent: (id, nameOf) => ({ before: `${nameOf(id)}: `, behind: nameOf(id) }),
};

type ReachedBudget = NonNullable<Api.Alert['budget']>;
const WHOSE_BUDGET: Record<ReachedBudget['scope'], (budget: ReachedBudget, nameOf: NameOf) => string> = {
  workspace: whoseBudget,
  agent: ({ scope_id }, nameOf) => nameOf(scope_id),
  plan: ({ scope_id }) => `Plan ${scope_id}`,
  budget: whoseBudget,
};

/** A newer service may have scopes that this page does not know. */
function whoseOf(scope: ReachedBudget['scope']): (typeof WHOSE_BUDGET)[ReachedBudget['scope']] | undefined {
  return WHOSE_BUDGET[scope];
}

function budgetLine(budget: ReachedBudget, nameOf: NameOf): string {
  const whose = whoseOf(budget.scope)?.(budget, nameOf) ?? `${whoseBudget(budget)} ${budget.scope_id}`;
  const amounts = `${money(budget.spent_micros)} of ${money(budget.daily_budget_usd_micros)}`;
  return `${whose} reached ${budget.reached_percent ?? budget.percent}% of its ${limitNoun(budget)} (${amounts})`;
}

function eventsLine({ event_count, event_types, scope_type, scope_id }: Api.Alert, nameOf: NameOf): string {
  return `${WHOSE[scope_type](scope_id, nameOf).before}${count(event_count)} ${eventsOf(event_types, event_count)}`;
}

function windowMsOf({ window }: Api.Alert): number {
  return Date.parse(window.end) - Date.parse(window.start);
}

interface KindLines {
  alert(alert: Api.Alert, nameOf: NameOf): string;
  evaluation(evaluation: Api.AlertRuleEvaluation): string;
}

const LINES: Record<Api.Alert['rule_kind'], KindLines> = {
  event_count_gte: {
    alert(alert, nameOf) {
      const { threshold, budget } = alert;
      const events = eventsLine(alert, nameOf);
      const labels = withLabels(alert.labels);
      // The window of a rule for a single event says nothing.
      if (threshold === 1) return budget === null ? `${events}${labels}` : budgetLine(budget, nameOf);
      return `${events} within ${duration(windowMsOf(alert))}${labels} (threshold ${count(threshold)})`;
    },
    evaluation: ({ event_count, threshold }) => `${count(event_count)} of ${counted(threshold, EVENTS)}`,
  },
  first_occurrence: {
    alert(alert, nameOf) {
      const { scope_type, scope_id, event_types, labels, budget } = alert;
      const quiet = inWords(windowMsOf(alert) / 1_000);
      if (budget !== null) return `${budgetLine(budget, nameOf)}, first in ${quiet}`;
      const { behind } = WHOSE[scope_type](scope_id, nameOf);
      return `First ${firstEventOf(event_types)} in ${quiet}, ${behind}${withLabels(labels)}`;
    },
    evaluation: ({ event_count }) => counted(event_count, EVENTS),
  },
  spend_gte: {
    alert(alert, nameOf) {
      const { settled_micros, threshold_micros } = alert.spend!;
      const { before } = WHOSE[alert.scope_type](alert.scope_id, nameOf);
      const within = `${duration(windowMsOf(alert))}${withLabels(alert.labels)}`;
      return `${before}${money(settled_micros)} spent within ${within} (threshold ${money(threshold_micros)})`;
    },
    evaluation: ({ spend }) => `${money(spend!.settled_micros)} of ${money(spend!.threshold_micros)}`,
  },
  deviation_gte: {
    alert({ deviation, labels }, nameOf) {
      const { agent_id, spent_micros, median_micros, weeks, times } = deviation!;
      const who = agent_id === null ? 'Further agents' : nameOf(agent_id);
      const usual = `usually ${money(median_micros)}, median of ${counted(weeks, WEEKS)}`;
      return `${who} spent ${money(spent_micros)} within the hour${withLabels(labels)} (${usual}; threshold ${count(times)}×)`;
    },
    evaluation({ deviation }) {
      const { spent_micros, median_micros, weeks, times, min_micros } = deviation!;
      const least = weeks === 0 ? min_micros : Math.max(min_micros, times * median_micros);
      return `${money(spent_micros)} of ${money(least)}`;
    },
  },
  burn_rate_gte: {
    alert({ burn }) {
      const { limit_micros, fraction, ...spent } = burn!;
      const amount = `${money(spent.long_micros)} of ${money(limit_micros)}`;
      const long = `within ${inWords(spent.long_seconds)}`;
      const short = `${money(spent.short_micros)} within ${inWords(spent.short_seconds)}`;
      return `${foundBudget(burn!)}: ${amount} spent ${long} (${short}; threshold ${percent(fraction)})`;
    },
    evaluation({ burn }) {
      const { long_micros, limit_micros, fraction } = burn!;
      return `${money(long_micros)} of ${money(Math.ceil(fraction * limit_micros))}`;
    },
  },
  forecast_gte: {
    alert({ forecast, triggered_at }) {
      const { spent_micros, limit_micros, forecast_micros, percent: share, used_up_at } = forecast!;
      const soFar = `${money(spent_micros)} of ${money(limit_micros)} spent, ${money(forecast_micros)} forecast`;
      const left = used_up_at === null ? 0 : Date.parse(used_up_at) - Date.parse(triggered_at);
      const gone = used_up_at === null ? '' : left <= 0 ? ', used up' : `, used up in ${duration(left)}`;
      return `${foundBudget(forecast!)}: ${soFar}${gone} (threshold ${share}%)`;
    },
    evaluation({ forecast }) {
      const { forecast_micros, limit_micros, percent: share } = forecast!;
      return `${money(forecast_micros)} of ${money(Math.ceil((share * limit_micros) / 100))}`;
    },
  },
};

type FoundBudget = Pick<NonNullable<Api.Alert['burn']>, 'budget_name' | 'value' | 'is_of_others'>;

function foundBudget({ budget_name, value, is_of_others: others }: FoundBudget): string {
  const whose = others === true ? ' for further values' : value === undefined ? '' : ` for ${value}`;
  return `${budget_name}${whose}`;
}

/** A newer service may have kinds that this page does not know. */
function linesOf(kind: Api.Alert['rule_kind']): KindLines | undefined {
  return LINES[kind];
}

/** What happened, in one sentence. */
export function alertLine(alert: Api.Alert, nameOf: NameOf): string {
  return linesOf(alert.rule_kind)?.alert(alert, nameOf) ?? `${eventsLine(alert, nameOf)}${withLabels(alert.labels)}`;
}

/** The measured value when the rule was evaluated, and its threshold. */
export function evaluationLine(evaluation: Api.AlertRuleEvaluation): string {
  return linesOf(evaluation.rule_kind)?.evaluation(evaluation) ?? counted(evaluation.event_count, EVENTS);
}

const DELIVERY_STATUS: Record<string, string> = {
  queued: 'queued',
  retrying: 'retrying',
  delivered: 'delivered',
  failed: 'failed',
  held: 'held back',
  dropped: 'not sent',
  collected: 'grouping',
};

/** The notifier may have other statuses. */
export function deliveryStatus(status: string): string {
  return DELIVERY_STATUS[status] ?? status;
}

const ATTEMPTS = { one: 'attempt', other: 'attempts' };
const ALERTS = { one: 'alert', other: 'alerts' };
const EVENTS = { one: 'event', other: 'events' };
const WEEKS = { one: 'week', other: 'weeks' };

export const alerts = {
  title: 'Alerts',
  line: 'Alerts fired by rules, newest first',
  severity: { critical: 'critical', high: 'high', medium: 'medium', low: 'low', info: 'info' },
  status: { firing: 'firing', acknowledged: 'acknowledged', resolved: 'resolved' },
  filter: {
    severity: 'Severity',
    status: 'Status',
    rule: 'Rule',
    any: 'Any',
    from: 'From',
    to: 'To',
    clear: 'Clear filters',
  },
  column: { alert: 'Alert', severity: 'Severity', status: 'Status', when: 'Fired', delivery: 'Delivery' },
  none: {
    title: 'No matching alerts',
    text: 'Alerts appear here when a rule fires. Change or clear the filters to see more.',
    pastEnd: 'The list ends before this page.',
  },
  page: (from: number, to: number, total: string) => `${from}–${to} of ${total}`,
  newer: 'Newer',
  older: 'Older',
  newest: 'Go to newest',
  detail: 'Alert',
  seeCalls: 'See the calls',
  raiseLimit: 'Raise a limit',
  seeRequest: 'See the request',
  acknowledge: 'Acknowledge',
  resolve: 'Resolve',
  acknowledged: 'Alert acknowledged',
  resolved: 'Alert resolved',
  fact: {
    rule: 'Rule',
    scope: 'Scope',
    window: 'Time window',
    triggered: 'Fired',
    acknowledged: 'Acknowledged',
    resolved: 'Resolved',
    usedUp: 'Budget used up',
    by: (who: string) => `by ${who}`,
    samples: 'Sample events',
    workspace: 'Workspace',
  },
  deliveries: 'Notified',
  noDeliveries: 'No one was notified: the rule has no channel.',
  delivery: {
    'alert.fired': 'alert fired',
    'alert.acknowledged': 'alert acknowledged',
    'alert.resolved': 'alert resolved',
    attempts: (attempts: number) => counted(attempts, ATTEMPTS),
    answered: (status: number) => `returned ${status}`,
    next: 'next attempt',
    goesOut: 'message goes out',
    group: (alerts: number) => `one message for ${counted(alerts, ALERTS)}`,
  },
  evaluations: 'Rule evaluations',
  evaluation: {
    condition_became_true: 'Fired: the condition became true.',
    condition_still_true_after_cooldown: 'Fired again: still true after the cooldown.',
    cooldown: 'Not fired: true, but within the cooldown of the last alert.',
    rate_limited: 'Not fired: true, but too many alerts in a short time.',
    learning: 'Not fired: the agent has no earlier week to compare this hour with yet.',
  },
  noEvaluations: 'The condition of the rule has not been true in the retention period.',
};
