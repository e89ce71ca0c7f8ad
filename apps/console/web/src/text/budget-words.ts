import type { Api } from '@tollkeeper/client';

/** A budget as limits, alerts and blocked calls name it. Older producers name only the scope. */
export interface NamedBudget {
  /** A newer service may have other scopes, and other kinds of periods. */
  scope: string;
  scope_id?: string;
  budget_id?: string;
  budget_name?: string;
  value?: string;
  period?: { kind: string };
  /** `paused` if no budget blocked the call, and why. */
  code?: string;
  pause_reason?: string;
}

type PeriodKind = Api.Budget['period']['kind'];

interface PeriodWords {
  /** Before the noun of the limit. */
  each: string;
  /** How a limit that is used up has room again, after "or". */
  wait: string;
}

const repeating = (each: string): PeriodWords => ({ each: `${each} `, wait: `wait for the ${each} reset` });

const PERIODS: Record<PeriodKind, PeriodWords> = {
  hour: repeating('hourly'),
  day: repeating('daily'),
  week: repeating('weekly'),
  month: repeating('monthly'),
  quarter: repeating('quarterly'),
  year: repeating('yearly'),
  once: { each: 'one-time ', wait: 'wait until its period ends' },
  rolling: { each: 'rolling ', wait: 'wait until earlier spend leaves its period' },
};
const PERIOD_WORDS = new Map<string, PeriodWords>(Object.entries(PERIODS));
const UNKNOWN_PERIOD: PeriodWords = { each: '', wait: 'wait until its period ends' };

interface ScopeWords {
  /** Whose limit it is, within a sentence. */
  whose(budget: NamedBudget): string;
  limit: string;
  /** The period, if the producer does not name it. */
  period?: PeriodKind;
  /** What blocked a call, if not the scope and "budget". */
  blocker?: string;
  /** The name where the scope does not say it all. */
  name(budget: NamedBudget): string | undefined;
}

const UNKNOWN_SCOPE: ScopeWords = { whose: ({ scope }) => `the ${scope}`, limit: 'limit', name: () => undefined };
const DAILY: ScopeWords = { ...UNKNOWN_SCOPE, limit: 'budget', period: 'day' };

const SCOPES: Record<Api.Limit['scope'], ScopeWords> = {
  workspace: DAILY,
  agent: DAILY,
  plan: DAILY,
  budget: {
    whose: quotedName,
    limit: 'limit',
    blocker: 'budget',
    name(budget) {
      const name = budget.budget_name ?? idOf(budget);
      return name === undefined ? undefined : `${name}${forValue(budget)}`;
    },
  },
};
const SCOPE_WORDS = new Map<string, ScopeWords>(Object.entries(SCOPES));

function wordsOf({ scope }: NamedBudget): ScopeWords {
  return SCOPE_WORDS.get(scope) ?? UNKNOWN_SCOPE;
}

function periodOf(budget: NamedBudget): PeriodWords {
  const kind = budget.period?.kind ?? wordsOf(budget).period;
  return (kind === undefined ? undefined : PERIOD_WORDS.get(kind)) ?? UNKNOWN_PERIOD;
}

function quotedName(budget: NamedBudget): string {
  if (budget.budget_name !== undefined) return `budget "${budget.budget_name}"`;
  const id = idOf(budget);
  return id === undefined ? 'a budget' : `budget ${id}`;
}

function idOf({ budget_id, scope_id }: NamedBudget): string | undefined {
  return budget_id ?? scope_id;
}

function forValue({ value }: NamedBudget): string {
  return value === undefined ? '' : ` for ${value}`;
}

/** "Growth team for zoe"; undefined for daily budgets, which have the name of their scope. */
export function budgetName(budget: NamedBudget): string | undefined {
  return wordsOf(budget).name(budget);
}

/** Whether a pause blocked the call, and not a budget. */
export function isPause({ code }: NamedBudget): boolean {
  return code === 'paused';
}

/** "agent budget", "budget", "pause": what blocked a call, without its name. */
export function budgetBlocker(budget: NamedBudget): string {
  if (isPause(budget)) return 'pause';
  return wordsOf(budget).blocker ?? `${budget.scope} budget`;
}

/** The name of what blocked a call, or why it was paused, after {@link budgetBlocker}. */
export function blockerName(budget: NamedBudget): string | undefined {
  return isPause(budget) ? budget.pause_reason : budgetName(budget);
}

/** "The agent", "Budget "Growth team" for zoe": at the beginning of a sentence. */
export function whoseBudget(budget: NamedBudget): string {
  const whose = wordsOf(budget).whose(budget);
  return `${whose.charAt(0).toUpperCase()}${whose.slice(1)}${forValue(budget)}`;
}

/** "daily budget", "monthly limit". */
export function limitNoun(budget: NamedBudget): string {
  return `${periodOf(budget).each}${wordsOf(budget).limit}`;
}

/** "daily budget of the agent", "monthly limit of budget "Growth team"": what an owner can raise. */
export function limitOfBudget(budget: NamedBudget): string {
  return `${limitNoun(budget)} of ${wordsOf(budget).whose(budget)}`;
}

/** "wait for the monthly reset". */
export function waitForRoom(budget: NamedBudget): string {
  return periodOf(budget).wait;
}
