import { isDeepStrictEqual } from 'node:util';
import { budgetSpanAt, countedSince, rollingStepMs } from '@tollkeeper/kernel';
import { ALL_CALLS, type BudgetTerms, countSameCalls } from '../src/domain/budget.terms.ts';
import { type CountableEvent, MAX_LATENESS_MS } from '../src/domain/event.ts';
import type { Decision } from '../src/domain/evaluator.ts';
import type { Rule } from '../src/domain/rule.ts';
import { MAX_SERIES, OTHER } from '../src/domain/step-sums.ts';
import { afterCooldowns } from './brute-force.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WEEK_HOURS = 168;
const KEPT_DAYS = 16;

export interface Forecasted {
  rule: string;
  event: string;
  reason: Decision['reason'];
  series: string;
  limit: number;
  spent: number;
  since: number;
  pace: number;
  weeks: number;
  forecast: number;
  usedUpAt: number | null;
}

interface Counted {
  event: CountableEvent;
  series: string;
}

const hourOf = (time: number) => Math.floor(time / HOUR);
const dayOf = (time: number) => Math.floor(time / DAY);
const sum = (amounts: readonly number[]) => amounts.reduce((a, b) => a + b, 0);

/** The slow and obvious evaluator: it keeps every settlement that counts, and adds up what it needs for each. */
export function forecastByBruteForce(
  rules: readonly Rule[],
  arrivals: readonly CountableEvent[],
  budgets: readonly (BudgetTerms | null | undefined)[],
): Forecasted[] {
  return rules.flatMap((rule) => {
    const decide = afterCooldowns<Forecasted>(rule);
    const seen: CountableEvent[] = [];
    let terms: BudgetTerms | null = null;
    let sums = new Sums(rule, rule.effectiveAt.getTime());
    return arrivals.flatMap((event, index) => {
      if (event.receivedAt - event.time > MAX_LATENESS_MS) return [];
      const before = terms;
      const known = budgets[index];
      terms = known === undefined ? before : known;
      if (terms === null || (before !== null && !areAlike(before, terms))) sums = sums.anew(event.time);
      if (terms === null) return [];
      if (before !== null && before.limitMicros !== terms.limitMicros) sums.metAt.clear();
      if (budgetSpanAt(terms.period, terms.timezone, event.time) === null || event.settledMicros === 0) return [];
      if (terms.selector.model === 'la*' && event.call!.model === 'small') return [];
      if (terms.each !== null && terms.excluded.includes(event.agentId!)) return [];
      if (seen.some(({ time, identity }) => time === event.time && identity === event.identity)) return [];
      seen.push(event);
      const judged = sums.judge(event, terms);
      return judged === null ? [] : decide(event.time, judged);
    });
  });
}

function areAlike(a: BudgetTerms, b: BudgetTerms): boolean {
  return countSameCalls(a, b) && isDeepStrictEqual([a.period, a.timezone], [b.period, b.timezone]);
}

class Sums {
  readonly #rule: Rule;
  readonly #since: number;
  #counted: Counted[] = [];
  /** By series: since when all its spend is counted. */
  readonly #places = new Map<string, number>();
  readonly metAt = new Map<string, number>();

  constructor(rule: Rule, since: number) {
    this.#rule = rule;
    this.#since = since;
  }

  anew(at: number): Sums {
    return new Sums(this.#rule, Math.max(this.#since, at));
  }

  judge(event: CountableEvent, terms: BudgetTerms): Forecasted | null {
    const { id, condition } = this.#rule;
    if (condition.kind !== 'forecast_gte') throw new Error('a rule of another kind');
    const series = this.#placeFor(terms.each === null ? ALL_CALLS : event.agentId!, terms, event.time);
    this.#counted.push({ event, series });
    const newestDay = Math.max(...this.#counted.map((each) => dayOf(each.event.time)));
    const own = this.#counted.filter((each) => each.series === series).map((each) => each.event);
    const kept = own.filter(({ time }) => dayOf(time) >= newestDay - KEPT_DAYS);
    const now = Math.max(...own.map(({ time }) => time));
    const outlook = foresee(own, kept, terms, now);
    const since = Math.max(outlook.from, this.#places.get(series)!);
    const { limitMicros: limit } = terms;
    if (limit === 0 || !outlook.reaches(BigInt(Math.ceil((condition.percent * limit) / 100)))) return null;
    const metAt = this.metAt.get(series);
    this.metAt.set(series, now);
    const isFirst = metAt === undefined || now - metAt > outlook.paceHours * HOUR;
    const isNewPeriod = metAt !== undefined && terms.period.kind !== 'rolling' && metAt < outlook.from;
    const reason = isFirst || isNewPeriod ? 'condition_became_true' : 'condition_still_true_after_cooldown';
    const { spent, pace, weeks, forecast, usedUpAt } = outlook;
    return { ...{ rule: id, event: event.id, reason, series, limit, spent, since, pace, weeks, forecast, usedUpAt } };
  }

  #placeFor(name: string, { period, timezone }: BudgetTerms, at: number): string {
    const taken = () => [...this.#places.keys()].filter((each) => each !== OTHER);
    const timesOf = (series: string) =>
      this.#counted.filter((each) => each.series === series).map((each) => each.event.time);
    if (!this.#places.has(name) && taken().length === MAX_SERIES) {
      const newestDay = Math.max(dayOf(at), ...this.#counted.map((each) => dayOf(each.event.time)));
      for (const series of taken()) {
        const newest = Math.max(...timesOf(series));
        const span = budgetSpanAt(period, timezone, newest)!;
        const until = period.kind === 'rolling' ? span.start + period.seconds * 1000 : span.end;
        if (until > at || dayOf(newest) >= newestDay - KEPT_DAYS) continue;
        this.#places.delete(series);
        this.metAt.delete(series);
        this.#counted = this.#counted.filter((each) => each.series !== series);
      }
    }
    const series = this.#places.has(name) || taken().length < MAX_SERIES ? name : OTHER;
    if (!this.#places.has(series)) this.#places.set(series, this.#places.has(OTHER) ? at : this.#since);
    return series;
  }
}

/** What the period has and will have. `own`: all settlements of the series; `kept`: those of the last days. */
function foresee(own: readonly CountableEvent[], kept: readonly CountableEvent[], terms: BudgetTerms, now: number) {
  const { period, timezone, limitMicros } = terms;
  const span = budgetSpanAt(period, timezone, now)!;
  const from = countedSince(period, span);
  const lengthMs = period.kind === 'rolling' ? period.seconds * 1000 : span.end - span.start;
  const paceHours = Math.min(24, Math.max(1, Math.round(lengthMs / 8 / HOUR)));
  const spentFrom = (start: number) =>
    sum(own.filter(({ time }) => partOf(terms, time) >= start).map(({ settledMicros }) => settledMicros));
  const { weeks, weightOf } = weigh(kept, hourOf(now), paceHours);
  const pace = sum(
    kept
      .filter(({ time }) => hourOf(time) >= hourOf(now) - paceHours && hourOf(time) <= hourOf(now))
      .map(({ settledMicros }) => settledMicros),
  );
  const paceWeight = between((hourOf(now) - paceHours) * HOUR, now, weightOf);
  const spent = spentFrom(from);
  const ends = [{ start: now, end: span.end, kept: spent }];
  for (let step = 1; period.kind === 'rolling' && step < 60; step += 1) {
    const start = span.start + step * rollingStepMs(period);
    const end = start + rollingStepMs(period);
    ends.push({ start, end, kept: spentFrom(end - lengthMs) });
  }
  const ahead = ends.map(({ end }) => between(now, end, weightOf));
  const reaches = (amount: bigint) =>
    BigInt(spent) >= amount ||
    ends.some((each, index) => BigInt(each.kept) * paceWeight + BigInt(pace) * ahead[index]! >= amount * paceWeight);
  const forecasts = ends.map((each, index) => BigInt(each.kept) + (BigInt(pace) * ahead[index]!) / paceWeight);
  const most = forecasts.reduce((a, b) => (a > b ? a : b), BigInt(spent));
  let usedUpAt: number | null = spent >= limitMicros ? now : null;
  for (const [index, each] of ends.entries()) {
    if (usedUpAt !== null) break;
    const needed = BigInt(limitMicros - each.kept) * paceWeight;
    if (BigInt(pace) * ahead[index]! < needed) continue;
    // Rounded up, as the weight is a whole number.
    usedUpAt = Math.max(each.start, timeOfWeight((needed + BigInt(pace) - 1n) / BigInt(pace), now, weightOf));
  }
  return { from, spent, pace, paceHours, weeks, reaches, forecast: Number(most), usedUpAt };
}

/** The start of the part of a rolling period, or of the whole of another, in which the time is. */
function partOf({ period, timezone }: BudgetTerms, time: number): number {
  return budgetSpanAt(period, timezone, time)?.start ?? -Infinity;
}

/** The weights of hours: `paceHours` before the current one, that, and all after it. */
function weigh(kept: readonly CountableEvent[], current: number, paceHours: number) {
  const byHour = new Map<number, number>();
  for (const { time, settledMicros } of kept) {
    byHour.set(hourOf(time), (byHour.get(hourOf(time)) ?? 0) + settledMicros);
  }
  const first = Math.min(...byHour.keys());
  const known = [1, 2].filter((week) => current - paceHours - week * WEEK_HOURS > first);
  const usualIn = (hour: number) => sum(known.map((week) => byHour.get(hour - week * WEEK_HOURS) ?? 0));
  const ahead = Array.from({ length: WEEK_HOURS }, (_, index) => usualIn(current + index));
  // Further ahead than a week, an hour weighs as the same hour of the first week.
  const usual = (hour: number) => (hour < current ? usualIn(hour) : ahead[(hour - current) % WEEK_HOURS]!);
  const ofPace = sum(Array.from({ length: paceHours }, (_, index) => usual(current - 1 - index)));
  const ofWeek = sum(ahead);
  const isWeighted = ofWeek > 0 && ofPace / paceHours >= ofWeek / WEEK_HOURS / 10;
  return isWeighted ? { weeks: known.length, weightOf: usual } : { weeks: 0, weightOf: () => 1 };
}

function between(start: number, end: number, weightOf: (hour: number) => number): bigint {
  let weight = 0n;
  for (let at = start; at < end; at = (hourOf(at) + 1) * HOUR) {
    weight += BigInt(weightOf(hourOf(at))) * BigInt(Math.min(end, (hourOf(at) + 1) * HOUR) - at);
  }
  return weight;
}

function timeOfWeight(weight: bigint, now: number, weightOf: (hour: number) => number): number {
  let left = weight;
  for (let at = now; ; at = (hourOf(at) + 1) * HOUR) {
    if (left <= 0n) return at;
    const ofHour = BigInt(weightOf(hourOf(at)));
    const end = (hourOf(at) + 1) * HOUR;
    if (left > ofHour * BigInt(end - at)) left -= ofHour * BigInt(end - at);
    else return at + Number((left + ofHour - 1n) / ofHour);
  }
}
