import type { Api } from '@tollkeeper/client';
import { exactMoney } from '../format/money.ts';
import { percent } from '../format/numbers.ts';
import { clock, date, longDay } from '../format/time.ts';
import { inWords } from './lengths.ts';

type Period = Api.Budget['period'];
export type PeriodKind = Period['kind'];
export type PeriodOf<Kind extends PeriodKind> = Period & { kind: Kind };
export type Dimension = Exclude<keyof Api.Budget['selector'], 'labels'>;

/** A budget whose amount or period may still be missing, as in a form. */
export interface SaidBudget extends Pick<Api.Budget, 'selector' | 'each' | 'action' | 'grace_percent'> {
  period: Period | null;
  limit_micros: number | null;
}

interface Around {
  /** The zone of the workspace. */
  zone: string;
  /** The name of the budget that this one overrides. */
  overridden?: string | undefined;
}

/** Stands for what is not known yet. */
const MISSING = '…';

const PERIODS: { [Kind in PeriodKind]: (period: PeriodOf<Kind>, zone: string) => string } = {
  hour: () => 'an hour',
  day: () => 'a day',
  week: () => 'a week',
  month: ({ start_day: day }) => (day === 1 ? 'a month' : `a month (from day ${day})`),
  quarter: (period) => `a quarter${fiscal(period, 'the first from ')}`,
  year: (period) => `a year${fiscal(period, 'from ')}`,
  once: ({ start, end }, zone) => `from ${minute(start, zone)} to ${minute(end, zone)}`,
  rolling: ({ seconds }) => `in any ${inWords(seconds).replace(/^1 /, '')}`,
};

function fiscal({ start_month: month, start_day: day }: PeriodOf<'quarter' | 'year'>, from: string): string {
  return month === 1 && day === 1 ? '' : ` (${from}${longDay(Date.UTC(2026, month - 1, day), 'UTC')})`;
}

function minute(instant: string, zone: string): string {
  return `${date(instant, zone)}, ${clock(instant, zone)}`;
}

/** "a month", "a year (from 1 April)", "in any 24 hours": after an amount. */
export function periodWords(period: Period, zone: string): string {
  return (PERIODS[period.kind] as (period: Period, zone: string) => string)(period, zone);
}

const ACTIONS: Record<Api.Budget['action'], (gracePercent: number) => string> = {
  deny: (grace) => (grace === 0 ? '' : `; calls beyond ${percent(1 + grace / 100)} of it are blocked`),
  warn: () => '; calls beyond it are only reported',
};

interface DimensionWords {
  noun: string;
  /** Before it if it narrows another one: "agent reader under plan pro". */
  link: string;
  /** Whether it spends; else it is what the money is spent on. */
  spends: boolean;
}

const DIMENSIONS: Record<Dimension, DimensionWords> = {
  agent: { noun: 'agent', link: 'of', spends: true },
  plan: { noun: 'plan', link: 'under', spends: true },
  key: { noun: 'workspace key', link: 'with', spends: true },
  model: { noun: 'model', link: 'of', spends: false },
  provider: { noun: 'provider', link: 'of', spends: false },
};

export function dimensionNoun(dimension: Dimension): string {
  return DIMENSIONS[dimension].noun;
}

const LABEL = 'label:';

/** "Each user may spend $5.00 a day on claude-*": the whole budget. */
export function budgetSentence(budget: SaidBudget, { zone, overridden }: Around): string {
  const amount = budget.limit_micros === null ? MISSING : exactMoney(budget.limit_micros);
  const period = budget.period === null ? MISSING : periodWords(budget.period, zone);
  const who = capital(spender(budget));
  const instead = overridden === undefined ? '' : `, instead of the limit of “${overridden}”`;
  const beyond = ACTIONS[budget.action](budget.grace_percent);
  return `${who} may spend ${amount} ${period}${purpose(budget)}${instead}${beyond}`;
}

/** "each user of team growth", "agents research-*", "the workspace". */
function spender({ selector, each }: SaidBudget): string {
  const labels = Object.entries(selector.labels ?? {})
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, pattern]) => ({ key: `${LABEL}${name}`, noun: labelNoun(name), link: 'of', pattern }));
  const spends = SPENDERS.flatMap((key) => {
    const pattern = selector[key];
    return pattern === undefined ? [] : [{ key, ...DIMENSIONS[key], pattern }];
  });
  const parts = [...labels, ...spends];
  const noun = each === null ? undefined : eachSpender(each);
  const split = noun && eachOf(noun, parts.find(({ key }) => key === each)?.pattern);
  const [first, ...rest] = parts.filter(({ key }) => key !== each);
  const narrowed = (split === undefined ? rest : [first, ...rest])
    .filter((part) => part !== undefined)
    .map(({ noun: of, link, pattern }) => ` ${link} ${named(of, pattern)}`);
  const head = split ?? (first === undefined ? 'the workspace' : named(first.noun, first.pattern));
  return `${head}${narrowed.join('')}`;
}

const SPENDERS = (Object.keys(DIMENSIONS) as Dimension[]).filter((key) => DIMENSIONS[key].spends);

function eachSpender(each: string): string | undefined {
  if (each.startsWith(LABEL)) return labelNoun(each.slice(LABEL.length));
  const { noun, spends } = DIMENSIONS[each as Dimension];
  return spends ? noun : undefined;
}

/** " on claude-* of anthropic", " on each model"; nothing if the budget is for all models. */
function purpose({ selector, each }: SaidBudget): string {
  const [model, provider] = (['model', 'provider'] as const).map((key) => {
    const pattern = selector[key];
    if (each === key) return eachOf(DIMENSIONS[key].noun, pattern);
    return pattern === '*' ? named(DIMENSIONS[key].noun, pattern) : pattern;
  });
  if (model !== undefined) return ` on ${model}${provider === undefined ? '' : ` of ${provider}`}`;
  if (provider === undefined) return '';
  return ` on ${each === 'provider' ? '' : 'models of '}${provider}`;
}

function eachOf(noun: string, pattern = '*'): string {
  return pattern === '*' ? `each ${noun}` : `each ${noun} matching ${pattern}`;
}

function named(noun: string, pattern: string): string {
  if (pattern === '*') return `any ${noun}`;
  return `${noun} ${pattern}`;
}

/** "cost center" for `cost_center`. */
function labelNoun(name: string): string {
  return name.replaceAll(/[_.-]+/g, ' ');
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
