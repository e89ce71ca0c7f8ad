import { type BudgetPeriod, budgetSpanAt, countedSince, rollingStepMs, type TimeSpan } from '@tollkeeper/kernel';
import { budgetFactsOf } from './budget.facts.ts';
import { type BudgetTerms, countSameCalls, haveSamePeriods, valueFor } from './budget.terms.ts';
import type {
  Condition,
  Evidence,
  ForecastFacts,
  SavedCondition,
  SavedForecast,
  SavedSeries,
  Verdict,
} from './condition.ts';
import type { CountableEvent } from './event.ts';
import { ExpectedSpend, HOUR_MS, type Weights, WEIGHTS_BYTES, weightsAt } from './expected-spend.ts';
import { RecentSettlements } from './recent.settlements.ts';
import { MAX_SERIES, mostBytes, OTHER, type StepLayout, StepSums } from './step-sums.ts';
import { MAX_COUNTED_MICROS, type SumWindow } from './sum.condition.ts';

/** The pace is that of an eighth of the period, in whole hours, and at most of a day. */
const PARTS_OF_PERIOD = 8;
export const MAX_PACE_HOURS = 24;
/** Hours by day: the two weeks of the weights, the hours of the pace, and the parts of days on both sides. */
const LAYOUT: StepLayout = { stepMs: HOUR_MS, chunkSteps: 24, keptChunks: 16 };
/** Parts of a rolling period. */
const MOST_PARTS = 60;
/** Approximate memory of a series besides its hours, in bytes. */
const SERIES_BYTES = 300;
const PART_BYTES = 50;
/** Approximate upper bound of the memory of the sums, in bytes. */
export const FORECAST_BYTES =
  mostBytes(LAYOUT) + (MAX_SERIES + 1) * (SERIES_BYTES + WEIGHTS_BYTES + MOST_PARTS * PART_BYTES);

export interface ForecastFields {
  /** Null for the daily budget of the scope of the rule. */
  budgetId: string | null;
  percent: number;
}

interface Series extends Omit<SavedSeries, 'name' | 'parts'> {
  /** Spend by the start of the part. */
  parts: Map<number, number>;
  /** Null if the amounts that they are of have changed. */
  weights: Weights | null;
}

/** A part of the time that is left, with what the period has now and will still have at the end of that part. */
interface Stretch extends TimeSpan {
  kept: number;
}

/** What is known of a series at the time of its newest settlement. */
interface Outlook {
  name: string;
  series: Series;
  terms: BudgetTerms;
  /** The period, or the step of a rolling one. */
  span: TimeSpan;
  spentMicros: number;
  paceMicros: number;
  weights: Weights;
  expected: ExpectedSpend;
}

/**
 * `forecast_gte`: what the period has spent, plus the rest of it at the pace of the last hours, is at least `percent`
 * of the budget. The pace is that of an eighth of the period and the hour that has begun. The hours that are left weigh
 * as they did in the last two weeks: see {@link Weights}. A rolling period has no end, so its forecast is the most that
 * it will have within its own length.
 *
 * Each value of a budget with `each` is judged alone, at the time of its newest settlement and in the period of that.
 * The condition becomes true once in a period, and again after it was not met for as long as the pace is of. If the
 * budget gets another limit, it may become true again. If it gets another period or counts other calls, or if spend of
 * it was missed, the sums start anew.
 */
export class ForecastCondition implements Condition {
  readonly #fields: ForecastFields;
  readonly #window: SumWindow;
  readonly #recent: RecentSettlements;
  #hours: StepSums;
  #terms: BudgetTerms | null;
  #targetMicros: number | undefined;
  #since: number;
  readonly #series = new Map<string, Series>();
  #last: Outlook | undefined;

  constructor(fields: ForecastFields, window: SumWindow, saved?: SavedForecast) {
    this.#fields = fields;
    this.#window = window;
    this.#recent = new RecentSettlements(window, saved?.sum);
    this.#hours = new StepSums(LAYOUT, saved?.steps.chunks);
    this.#terms = saved?.terms ?? null;
    this.#since = saved?.since ?? window.from;
    for (const { name, parts, ...series } of saved?.series ?? []) {
      const pairs = Array.from({ length: parts.length / 2 }, (_, at) => [parts[2 * at]!, parts[2 * at + 1]!] as const);
      this.#series.set(name, { ...series, parts: new Map(pairs), weights: null });
    }
  }

  take(event: CountableEvent): Verdict {
    if (event.call === undefined) return 'unchanged';
    const terms = this.#currentTerms(event.time);
    if (terms === null) return 'unchanged';
    const span = budgetSpanAt(terms.period, terms.timezone, event.time);
    // A budget that is once counts nothing before and after.
    if (span === null) return 'unchanged';
    const value = valueFor(terms, event.call);
    if (value === null || !this.#recent.isNew(event)) return 'unchanged';
    const name = this.#nameOf(value, terms, event.time);
    const micros = Math.min(event.settledMicros, MAX_COUNTED_MICROS);
    const added = this.#hours.add(event.time, name, micros);
    if (added === null) return 'unchanged';
    const series = this.#seriesOf(name, event.time);
    if (series.weights !== null && added.step < series.weights.hour) series.weights = null;
    series.newest = Math.max(series.newest, event.time);
    const outlook = this.#outlookOf(name, series, terms, { start: span.start, micros });
    if (!this.#isMet(outlook)) {
      series.metUntil = null;
      return 'not_met';
    }
    this.#last = outlook;
    const { metAt, newest } = series;
    series.metAt = newest;
    series.metUntil = this.#metUntil(outlook);
    const isNewPeriod = terms.period.kind !== 'rolling' && metAt !== null && metAt < outlook.span.start;
    const wasMet = metAt !== null && newest - metAt <= outlook.weights.paceHours * HOUR_MS;
    return wasMet && !isNewPeriod ? 'still_true' : 'became_true';
  }

  /** Null if the budget counts nothing. What is spent of it meanwhile is missed. */
  #currentTerms(at: number): BudgetTerms | null {
    const known = this.#window.budget(this.#fields.budgetId);
    const [before, now] = [this.#terms, known === undefined ? this.#terms : known];
    if (now === before && now !== null) return now;
    this.#targetMicros = undefined;
    this.#terms = now;
    const fits = before === null || (now !== null && countSameCalls(before, now) && haveSamePeriods(before, now));
    if (now === null || !fits) this.#forget(at);
    else if (before?.limitMicros !== now.limitMicros) for (const series of this.#series.values()) series.metAt = null;
    return now;
  }

  #forget(at: number): void {
    if (this.#series.size > 0) {
      this.#hours = new StepSums(LAYOUT);
      this.#series.clear();
    }
    this.#since = Math.max(this.#since, at);
  }

  /** Values keep their sums while something of them may still count. */
  #nameOf(value: string, { period, timezone }: BudgetTerms, at: number): string {
    const isFull = () => this.#series.size - (this.#series.has(OTHER) ? 1 : 0) >= MAX_SERIES;
    if (this.#series.has(value) || !isFull()) return value;
    for (const [name, { newest }] of this.#series) {
      const counts = at < leavesAt(period, budgetSpanAt(period, timezone, newest)!);
      if (name !== OTHER && !counts && !this.#hours.isKept(name, at)) this.#series.delete(name);
    }
    return isFull() ? OTHER : value;
  }

  #seriesOf(name: string, at: number): Series {
    const known = this.#series.get(name);
    if (known !== undefined) return known;
    // The spend of a value may have been among that of others before it had sums of its own.
    const since = this.#series.has(OTHER) ? at : this.#since;
    const fresh: Series = { since, newest: at, parts: new Map(), metAt: null, metUntil: null, weights: null };
    this.#series.set(name, fresh);
    return fresh;
  }

  /** Adds the amount to its part of the period if that still counts. */
  #outlookOf(name: string, series: Series, terms: BudgetTerms, added: { start: number; micros: number }): Outlook {
    const { newest, parts } = series;
    const { period, timezone } = terms;
    const span = budgetSpanAt(period, timezone, newest)!;
    const from = countedSince(period, span);
    if (added.start >= from) {
      parts.set(added.start, Math.min((parts.get(added.start) ?? 0) + added.micros, MAX_COUNTED_MICROS));
    }
    let spentMicros = 0;
    for (const [start, micros] of parts) {
      if (start < from) parts.delete(start);
      else spentMicros += micros;
    }
    const hour = Math.floor(newest / HOUR_MS);
    const paceHours = paceHoursOf(period, span);
    const paceMicros = this.#hours.sum(name, hour - paceHours, hour);
    const { weights: kept } = series;
    const fits = kept?.hour === hour && kept.paceHours === paceHours && kept.first === this.#hours.firstStep(name);
    const weights = fits ? kept : weightsAt(this.#hours, name, hour, paceHours);
    series.weights = weights;
    const expected = new ExpectedSpend(weights, paceMicros, newest);
    return { name, series, terms, span, spentMicros, paceMicros, weights, expected };
  }

  #isMet(outlook: Outlook): boolean {
    this.#targetMicros ??= targetOf(this.#fields, outlook.terms);
    const target = this.#targetMicros;
    const { spentMicros, expected } = outlook;
    if (target === Infinity || spentMicros >= target) return target !== Infinity;
    // At most this, whatever leaves a rolling period meanwhile.
    if (!expected.reaches(target - spentMicros, endOf(outlook))) return false;
    return stretchesOf(outlook).some(({ kept, end }) => expected.reaches(target - kept, end));
  }

  /** Without further spend, the pace ends with the hours that it is of, and the period with its end. */
  #metUntil({ series, spentMicros, terms: { period }, span, weights }: Outlook): number {
    let left = spentMicros;
    for (const [start, micros] of [...series.parts].sort(([a], [b]) => a - b)) {
      if (left < this.#targetMicros!) break;
      left -= micros;
      if (left < this.#targetMicros!) return leavesAt(period, { start, end: span.end });
    }
    const paceEnd = (weights.hour + weights.paceHours + 1) * HOUR_MS;
    return period.kind === 'rolling' ? paceEnd : Math.min(paceEnd, span.end);
  }

  #describe(outlook: Outlook): ForecastFacts {
    const { name, series, terms, spentMicros, paceMicros, weights, expected } = outlook;
    const about = budgetFactsOf(terms, name, series.newest);
    const stretches = stretchesOf(outlook);
    const forecasts = stretches.map(({ kept, end }) => BigInt(kept) + expected.until(end));
    const most = forecasts.reduce((a, b) => (a > b ? a : b), BigInt(spentMicros));
    return {
      ...about,
      ...{ spentMicros, spentSince: Math.max(about.period!.start, series.since) },
      ...{ paceMicros, paceSince: (weights.hour - weights.paceHours) * HOUR_MS, weeks: weights.weeks },
      forecastMicros: Math.min(Number(most), Number.MAX_SAFE_INTEGER),
      usedUpAt: usedUpAt(outlook, stretches),
    };
  }

  evidence({ id, time }: CountableEvent): Evidence {
    const forecast = this.#describe(this.#last!);
    return {
      windowStart: forecast.spentSince,
      windowEnd: time,
      eventCount: 1,
      settledMicros: forecast.spentMicros,
      sampleEventIds: [id],
      firstEventAt: time,
      lastEventAt: time,
      forecast,
    };
  }

  metUntil(): number | null {
    const until = [...this.#series.values()].flatMap((series) => series.metUntil ?? []);
    return until.length === 0 ? null : Math.max(...until);
  }

  get heldBytes(): number {
    let bytes = this.#recent.heldBytes + this.#hours.heldBytes;
    for (const { parts } of this.#series.values()) bytes += SERIES_BYTES + WEIGHTS_BYTES + PART_BYTES * parts.size;
    return bytes;
  }

  get unsavedBytes(): number {
    let bytes = this.#recent.unsavedBytes + this.#hours.unsavedBytes;
    for (const { parts } of this.#series.values()) bytes += SERIES_BYTES + 16 * parts.size;
    return bytes;
  }

  save(): SavedCondition {
    const series = Array.from(this.#series, ([name, { parts, weights: _weights, ...fields }]) => ({
      ...{ ...fields, name, parts: Float64Array.from([...parts].flat()) },
    }));
    const sums = { sum: this.#recent.save(), steps: this.#hours.save(), terms: this.#terms };
    return { kind: 'forecast_gte', ...sums, since: this.#since, series };
  }

  saved(): void {
    this.#recent.saved();
    this.#hours.saved();
  }

  close(): void {
    this.#recent.close();
  }
}

/** Rounded up to whole micros. Infinite for a limit of 0, which is a decision and not a risk. */
function targetOf({ percent }: ForecastFields, { limitMicros }: BudgetTerms): number {
  if (limitMicros === 0) return Infinity;
  return Number((BigInt(percent) * BigInt(limitMicros) + 99n) / 100n);
}

function paceHoursOf(period: BudgetPeriod, { start, end }: TimeSpan): number {
  const lengthMs = period.kind === 'rolling' ? period.seconds * 1000 : end - start;
  return Math.min(Math.max(1, Math.round(lengthMs / PARTS_OF_PERIOD / HOUR_MS)), MAX_PACE_HOURS);
}

/** When the spend of the span counts no more. */
function leavesAt(period: BudgetPeriod, { start, end }: TimeSpan): number {
  return period.kind === 'rolling' ? start + period.seconds * 1000 : end;
}

/** The end of what is foreseen: of the period, or a whole length of a rolling one with the step that has begun. */
function endOf({ terms: { period }, span }: Outlook): number {
  return period.kind === 'rolling' ? span.end + (MOST_PARTS - 1) * rollingStepMs(period) : span.end;
}

/** The time that is foreseen, in stretches in which nothing leaves the period. */
function stretchesOf({ series, terms: { period }, span, spentMicros }: Outlook): Stretch[] {
  const first = { start: series.newest, end: span.end, kept: spentMicros };
  if (period.kind !== 'rolling') return [first];
  const stretches = [first];
  const stepMs = rollingStepMs(period);
  for (let step = 1, { kept } = first; step < MOST_PARTS; step += 1) {
    const start = span.start + step * stepMs;
    kept -= series.parts.get(start - period.seconds * 1000) ?? 0;
    stretches.push({ start, end: start + stepMs, kept });
  }
  return stretches;
}

function usedUpAt({ series, terms: { limitMicros }, spentMicros, expected }: Outlook, stretches: Stretch[]) {
  if (spentMicros >= limitMicros) return series.newest;
  const stretch = stretches.find(({ kept, end }) => expected.reaches(limitMicros - kept, end));
  return stretch === undefined ? null : expected.timeOf(limitMicros - stretch.kept, stretch.start, stretch.end);
}
