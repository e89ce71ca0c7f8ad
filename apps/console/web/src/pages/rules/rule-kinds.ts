import type { Api } from '@tollkeeper/client';
import { parseMoney } from '../../format/money.ts';
import { RAISE_REQUESTED } from '../../text/events.ts';
import { rules } from '../../text/rules.ts';

const MAX_EVENTS = 100_000;
const MAX_TIMES = 1000;
const MAX_PERCENT = 200;
const words = rules.form;

type RuleKind = Api.AlertRule['rule_kind'];
/** The kinds of rules, and what else has fields of its own in the form. */
export type FormKind = RuleKind | 'raise_requested';

/** The fields as typed. */
export interface RuleForm {
  name: string;
  description: string;
  kind: FormKind;
  eventTypes: readonly string[];
  percents: readonly number[];
  /** As typed, one per line. */
  labels: string;
  threshold: string;
  amount: string;
  times: string;
  budget: string;
  share: string;
  forecast: string;
  long: string;
  short: string;
  windowMinutes: string;
  scopeType: Api.AlertRule['scope_type'];
  /** Empty for any agent. */
  agentId: string;
  severity: Api.AlertRule['severity'];
  pauseMinutes: string;
  groupMinutes: string;
  channelIds: readonly string[];
  routes: readonly RouteForm[];
}

export interface RouteForm {
  label: string;
  value: string;
  channelIds: readonly string[];
}

type Problems = Partial<Record<keyof RuleForm, string>>;

/** A field with a threshold. */
interface ThresholdField {
  field: 'threshold' | 'amount' | 'times' | 'budget' | 'share' | 'forecast' | 'long' | 'short';
  label: string;
  hint?: string;
  inputMode: 'numeric' | 'decimal' | 'text';
}

type FixedFields = Pick<RuleForm, 'scopeType' | 'agentId' | 'labels' | 'pauseMinutes' | 'groupMinutes'>;

/** The form of a kind of rule. */
interface FormOfKind {
  ruleKind: RuleKind;
  thresholds: readonly ThresholdField[];
  /** A length in seconds if the kind has only this window. */
  window: { label: string } | { seconds(form: RuleForm): number };
  /** The only events that such a rule counts; null if the form asks for them. */
  eventTypes: readonly string[] | null;
  /** Fields that the form does not ask for, because such a rule can have only these values. */
  fixed?: FixedFields;
  problems(form: RuleForm): Problems;
  /** The thresholds of a form without problems. */
  config(form: RuleForm): Omit<Api.AlertRuleInput['rule_config'], 'window_seconds' | 'filters'>;
}

export const RULE_KINDS: Record<FormKind, FormOfKind> = {
  event_count_gte: {
    ruleKind: 'event_count_gte',
    thresholds: [{ field: 'threshold', label: words.threshold, inputMode: 'numeric' }],
    window: { label: words.window },
    eventTypes: null,
    problems: ({ threshold }) => (isWhole(threshold, MAX_EVENTS) ? {} : { threshold: words.thresholdBad }),
    config: ({ threshold }) => ({ threshold: Number(threshold) }),
  },
  first_occurrence: {
    ruleKind: 'first_occurrence',
    thresholds: [],
    window: { label: words.windowFirst },
    eventTypes: null,
    problems: () => ({}),
    config: () => ({}),
  },
  spend_gte: {
    ruleKind: 'spend_gte',
    thresholds: [{ field: 'amount', label: words.amount, inputMode: 'decimal' }],
    window: { label: words.window },
    eventTypes: ['spend.settled'],
    problems: amountProblems,
    config: ({ amount }) => ({ threshold_micros: parseMoney(amount) ?? 0 }),
  },
  deviation_gte: {
    ruleKind: 'deviation_gte',
    thresholds: [
      { field: 'times', label: words.times, hint: words.timesHint, inputMode: 'numeric' },
      { field: 'amount', label: words.leastAmount, inputMode: 'decimal' },
    ],
    window: { seconds: () => 3600 },
    eventTypes: ['spend.settled'],
    problems: (form) => ({
      ...amountProblems(form),
      ...(isWhole(form.times, MAX_TIMES) ? {} : { times: words.timesBad }),
    }),
    config: ({ amount, times }) => ({ times: Number(times), min_micros: parseMoney(amount) ?? 0 }),
  },
  burn_rate_gte: {
    ruleKind: 'burn_rate_gte',
    thresholds: [
      { field: 'budget', label: words.budget, hint: words.budgetHint, inputMode: 'text' },
      { field: 'share', label: words.share, hint: words.shareHint, inputMode: 'decimal' },
      { field: 'long', label: words.long, inputMode: 'numeric' },
      { field: 'short', label: words.short, hint: words.shortHint, inputMode: 'decimal' },
    ],
    window: { seconds: ({ long }) => Number(long) * 60 },
    eventTypes: ['spend.settled'],
    problems: burnProblems,
    config: ({ budget, share, long, short }) => ({
      ...{ budget_id: budget === '' ? null : budget, fraction: Math.round(Number(share) * 10) / 1000 },
      ...{ long_seconds: Number(long) * 60, short_seconds: Math.round(Number(short) * 60) },
    }),
  },
  forecast_gte: {
    ruleKind: 'forecast_gte',
    thresholds: [
      { field: 'budget', label: words.budget, hint: words.budgetHint, inputMode: 'text' },
      { field: 'forecast', label: words.forecast, hint: words.forecastHint, inputMode: 'numeric' },
    ],
    window: { seconds: () => 86_400 },
    eventTypes: ['spend.settled'],
    problems: (form) => ({
      ...budgetProblems(form),
      ...(isWhole(form.forecast, MAX_PERCENT) ? {} : { forecast: words.forecastBad }),
    }),
    config: ({ budget, forecast }) => ({ budget_id: budget === '' ? null : budget, percent: Number(forecast) }),
  },
  raise_requested: {
    ruleKind: 'event_count_gte',
    thresholds: [],
    // The link of a request is good for an hour.
    window: { seconds: () => 3600 },
    eventTypes: [RAISE_REQUESTED],
    // A request is of no agent and no call, and waits for a decision.
    fixed: { scopeType: 'workspace', agentId: '', labels: '', pauseMinutes: '0', groupMinutes: '0' },
    problems: () => ({}),
    config: () => ({ threshold: 1 }),
  },
};

const MAX_MINUTES = 43_200;

function budgetProblems({ budget, agentId }: RuleForm): Problems {
  return budget === '' || (budget.startsWith('bud_') && agentId === '') ? {} : { budget: words.budgetBad };
}

function burnProblems(form: RuleForm): Problems {
  const { share, long, short } = form;
  const permille = Number(share) * 10;
  const isShare = permille >= 1 && permille <= 1000 && Math.abs(permille - Math.round(permille)) < 1e-9;
  // Steps of a 60th of the long window, in seconds, are as many as it has minutes.
  const isShort = Number(short) > 0 && (Number(short) * 60) % Number(long) === 0 && Number(short) < Number(long);
  return {
    ...budgetProblems(form),
    ...(isShare ? {} : { share: words.shareBad }),
    ...(isWhole(long, MAX_MINUTES) ? {} : { long: words.longBad }),
    ...(isShort ? {} : { short: words.shortBad }),
  };
}

function amountProblems({ amount }: RuleForm): Problems {
  return (parseMoney(amount) ?? 0) > 0 ? {} : { amount: words.amountBad };
}

/** Whether a whole number from 1 to `max` is typed. */
function isWhole(typed: string, max: number): boolean {
  const value = Number(typed);
  return Number.isInteger(value) && value >= 1 && value <= max;
}

/** In the order of the form. */
export const KINDS = Object.keys(RULE_KINDS) as FormKind[];
