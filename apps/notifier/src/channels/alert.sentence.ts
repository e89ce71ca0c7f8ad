import {
  type KnownEventType,
  type Labels,
  LIMIT_SCOPES,
  type LimitScope,
  PERIOD_ADJECTIVES,
  RULE_KINDS,
  type RuleKind,
  SCOPE_TYPES,
  type ScopeType,
  type ShownAlert,
} from '@tollkeeper/contracts';
import { BUDGET_PERIODS, type BudgetPeriod } from '@tollkeeper/kernel';
import type { Message } from '../domain/message.ts';
import { shown } from './message.text.ts';

const MAX_TYPES_SHOWN = 5;
/** Ten labels of usual length. Escaped, the whole sentence stays within the limits of Slack and Teams. */
const MAX_LABELS_LENGTH = 300;
/** In a list of alerts. With ten of them, the message stays within the limits of Slack and Teams. */
const MAX_LISTED_LENGTH = 250;
const MICROS_PER_USD = 1_000_000;
const MICROS_PER_CENT = 10_000;

type Noun = readonly [one: string, other: string];

const EVENTS: Record<KnownEventType, Noun> = {
  'budget.blocked': ['call blocked by a budget', 'calls blocked by a budget'],
  'guard.blocked': ['call blocked by a guard', 'calls blocked by a guard'],
  'budget.threshold_reached': ['budget threshold reached', 'budget thresholds reached'],
  'spend.settled': ['settlement', 'settlements'],
  'call.unmetered': ['call without usage', 'calls without usage'],
  'call.failed': ['failed call', 'failed calls'],
  'price.missing': ['model without a price', 'models without a price'],
};
const EVENT_NOUNS = new Map<string, Noun>(Object.entries(EVENTS));

const WHOSE_EVENTS: Record<ScopeType, (id: string) => string> = {
  workspace: () => 'any agent',
  tenant: () => 'any agent',
  agent: (id) => `agent ${id}`,
};

type ReachedBudget = NonNullable<ShownAlert['budget']>;
type FoundBudget = Pick<NonNullable<ShownAlert['burn']>, 'budget_name' | 'value' | 'is_of_others'>;

interface ScopeWords {
  who(budget: ReachedBudget): string;
  /** What has the percentage, after the word for its period. */
  limit: string;
  /** The period, if the event does not name it. */
  period?: BudgetPeriod['kind'];
}

const DAILY = { limit: 'budget', period: 'day' } as const;

const SCOPES: Record<LimitScope, ScopeWords> = {
  workspace: { ...DAILY, who: () => 'The workspace' },
  agent: { ...DAILY, who: ({ scope_id: id }) => `Agent ${shown(id)}` },
  plan: { ...DAILY, who: ({ scope_id: id }) => `Plan ${shown(id)}` },
  budget: { limit: 'limit', who: nameOf },
};
const NEWER_SCOPE: ScopeWords = { limit: 'limit', who: ({ scope, scope_id: id }) => `${shown(scope)} ${shown(id)}` };

const SENTENCES: Record<RuleKind, (alert: ShownAlert) => string> = {
  event_count_gte(alert) {
    const { threshold, budget, raise } = alert;
    if (threshold === 1 && raise !== undefined) return raiseSentence(raise);
    if (threshold > 1) return `${eventsOf(alert)} within ${windowOf(alert)}, ${whose(alert)} (threshold ${threshold})`;
    return budget ? budgetSentence(budget) : `${eventsOf(alert)}, ${whose(alert)}`;
  },
  first_occurrence(alert) {
    const { budget } = alert;
    if (budget) return `${budgetSentence(budget)}, first in ${windowOf(alert)}`;
    return `First ${nounOf(alert.event_types, 1)} in ${windowOf(alert)}, ${whose(alert)}`;
  },
  spend_gte(alert) {
    const { settled_micros: settled, threshold_micros: threshold } = alert.spend!;
    return `${usd(settled)} spent within ${windowOf(alert)}, ${whose(alert)} (threshold ${usd(threshold)})`;
  },
  deviation_gte({ deviation, labels }) {
    const { agent_id: agent, hour, spent_micros, median_micros, weeks, times, min_micros } = deviation!;
    const [who, whatToDo] = agent === null ? FURTHER_AGENTS : [`Agent ${shown(agent)} has`, ADVICE];
    const since = `since ${hour.slice(11, 16)} UTC${withLabels(labels)}`;
    const usual = `usual in this hour: ${usd(median_micros)}, median of ${weeks} ${nounFor(weeks, WEEKS)}`;
    const threshold = `${times} times that, and ${usd(min_micros)}`;
    return `${who} spent ${usd(spent_micros)} ${since} (${usual}; threshold ${threshold}). ${whatToDo}`;
  },
  burn_rate_gte({ burn, window }) {
    const { limit_micros, fraction, ...spent } = burn!;
    const amount = `${usd(spent.long_micros)} of ${usd(limit_micros)}`;
    const long = `within ${lengthOf(spent.long_seconds)}, since ${window.start.slice(11, 16)} UTC`;
    const short = `${usd(spent.short_micros)} of that within ${lengthOf(spent.short_seconds)}`;
    const threshold = `${(100 * fraction).toLocaleString('en')}% within ${lengthOf(spent.long_seconds)}`;
    return `${foundBudget(burn!)} has burned ${amount} ${long} (${short}; threshold ${threshold}). ${BUDGET_ADVICE}`;
  },
  forecast_gte({ forecast, triggered_at }) {
    const { limit_micros, percent, spent_micros, spent_since, forecast_micros, pace_since, period } = forecast!;
    const { used_up_at: usedUpAt } = forecast!;
    const soFar = `${usd(spent_micros)} of ${usd(limit_micros)} since ${minuteOf(spent_since)}`;
    const until = period === null || period.kind === 'rolling' ? '' : ` by ${minuteOf(period.end)}`;
    const pace = `at the pace since ${minuteOf(pace_since)}`;
    const gone =
      usedUpAt === null
        ? ''
        : usedUpAt <= triggered_at
          ? ' It is used up.'
          : ` Used up at about ${minuteOf(usedUpAt)}.`;
    const will = `will reach ${usd(forecast_micros)}${until} ${pace} (threshold ${percent}%).${gone}`;
    return `${foundBudget(forecast!)} has spent ${soFar}, and ${will} ${BUDGET_ADVICE}`;
  },
};

type RequestedRaise = NonNullable<ShownAlert['raise']>;

/** Most characters of a reason for a raise. */
const MAX_REASON = 200;

function raiseSentence({ budget_name, value, extra_micros, until, reason, asked_by }: RequestedRaise): string {
  const limit = foundBudget({ budget_name, value });
  const what = `asks to raise ${limit} by ${usd(extra_micros)} until ${minuteOf(until)}`;
  return `${shown(asked_by)} ${what}: "${shown(reason, MAX_REASON)}". Open the link to approve or decline it`;
}

const BUDGET_ADVICE = 'Raise the budget until midnight, pause its calls, or look at them';

function foundBudget({ budget_name, value, is_of_others: others }: FoundBudget): string {
  const whose = others === true ? ' for further values' : value === undefined ? '' : ` for ${shown(value)}`;
  return `Budget "${shown(budget_name)}"${whose}`;
}

/** "Nov 24, 17:40 UTC". */
function minuteOf(time: string): string {
  const style = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' } as const;
  return `${new Date(time).toLocaleString('en', { ...style, hourCycle: 'h23', timeZone: 'UTC' })} UTC`;
}

const WEEKS: Noun = ['week', 'weeks'];
const ADVICE = 'Pause it, or look at its calls';
const FURTHER_AGENTS = ['Further agents have', 'Pause them, or look at their calls'] as const;

/** Says who did what, how much, and compared with what. A newer alerts service may send an unknown kind. */
export function alertSentence(alert: ShownAlert): string {
  const kind = RULE_KINDS.find((each) => each === alert.rule_kind);
  return kind === undefined ? `${eventsOf(alert)}, ${whose(alert)}` : SENTENCES[kind](alert);
}

/** A line for each further alert that the message names, and one for the number of the rest. */
export function otherAlerts({ type, group }: Message): string[] {
  if (group === undefined) return [];
  const named = group.others.map((alert) => {
    const since = type === 'alert.resolved' || alert.status === 'firing' ? '' : ` (${shown(alert.status)})`;
    return `${minuteOf(alert.triggered_at)}: ${shown(alertSentence(alert), MAX_LISTED_LENGTH)}${since}`;
  });
  const rest = group.total - 1 - named.length;
  return rest > 0 ? [...named, `and ${rest.toLocaleString('en')} more`] : named;
}

function budgetSentence(budget: ReachedBudget): string {
  const known = LIMIT_SCOPES.find((each) => each === budget.scope);
  const { who, limit, period } = known === undefined ? NEWER_SCOPE : SCOPES[known];
  const kind = BUDGET_PERIODS.find((each) => each === (budget.period?.kind ?? period));
  const its = kind === undefined ? limit : `${PERIOD_ADJECTIVES[kind]} ${limit}`;
  const amounts = `${usd(budget.spent_micros)} of ${usd(budget.daily_budget_usd_micros)}`;
  return `${who(budget)} reached ${budget.reached_percent ?? budget.percent}% of its ${its} (${amounts})`;
}

/** Gateways that report budgets of their own may leave out the name. */
function nameOf({ budget_name: name, scope_id: id, value }: ReachedBudget): string {
  const budget = name === undefined ? `Budget ${shown(id)}` : `Budget "${shown(name)}"`;
  return value === undefined ? budget : `${budget} for ${shown(value)}`;
}

function whose({ scope_type, scope_id, labels }: ShownAlert): string {
  const known = SCOPE_TYPES.find((each) => each === scope_type);
  const id = shown(scope_id);
  const who = known === undefined ? `${shown(scope_type)} ${id}` : WHOSE_EVENTS[known](id);
  return `${who}${withLabels(labels)}`;
}

/** As code, since Slack may show the text between the `*` of two prefixes in bold, without either `*`. */
function withLabels(labels: Labels = {}): string {
  const list = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  if (list.length === 0) return '';
  return `, with \`${shown(list.sort().join(', '), MAX_LABELS_LENGTH).replaceAll('`', "'")}\``;
}

function eventsOf({ event_count, event_types }: ShownAlert): string {
  return `${event_count.toLocaleString('en')} ${nounOf(event_types, event_count)}`;
}

function nounOf(types: readonly string[], events: number): string {
  if (types.length === 0) return nounFor(events, ['event of any type', 'events of any type']);
  const named = types.slice(0, MAX_TYPES_SHOWN).map((type) => {
    const ofType = shown(type);
    return nounFor(events, EVENT_NOUNS.get(type) ?? [`${ofType} event`, `${ofType} events`]);
  });
  const rest = types.length - named.length;
  return [...named, ...(rest > 0 ? [`${rest} more ${nounFor(rest, ['type', 'types'])}`] : [])].join(' or ');
}

const plurals = new Intl.PluralRules('en');

function nounFor(value: number, [one, other]: Noun): string {
  return plurals.select(value) === 'one' ? one : other;
}

const UNITS = [
  { unit: 'day', seconds: 86_400, from: 2 },
  { unit: 'hour', seconds: 3_600, from: 1 },
  { unit: 'minute', seconds: 60, from: 1 },
] as const;

/** "10 minutes", "24 hours", "2 days": the largest unit that gives a whole number. */
function windowOf({ window }: ShownAlert): string {
  return lengthOf((Date.parse(window.end) - Date.parse(window.start)) / 1000);
}

function lengthOf(length: number): string {
  const whole = UNITS.find(({ seconds, from }) => length % seconds === 0 && length >= from * seconds);
  const { unit, seconds } = whole ?? { unit: 'second', seconds: 1 };
  const style = { style: 'unit', unit, unitDisplay: 'long' } as const;
  return (length / seconds).toLocaleString('en', style);
}

/** US dollars: rounded to the cent from one cent on, otherwise with all digits of the micros. */
function usd(micros: number): string {
  const digits = micros > 0 && micros < MICROS_PER_CENT ? 6 : 2;
  return (micros / MICROS_PER_USD).toLocaleString('en', {
    ...{ style: 'currency', currency: 'USD', minimumFractionDigits: 2, maximumFractionDigits: digits },
  });
}
