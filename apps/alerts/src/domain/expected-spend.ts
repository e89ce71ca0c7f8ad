import type { StepSums } from './step-sums.ts';

export const HOUR_MS = 3_600_000;
const HOURS_OF_WEEK = 168;
/** How many earlier weeks give an hour its weight. */
const WEEKS = 2;
/** If the past hours had less than this part of the usual spend of as many hours, their weights say too little. */
const LEAST_SHARE = 10;

/**
 * Weights of time for a series: in which proportion it usually spends. The weight of an hour is its spend in the same
 * hour of the last two weeks, as far as they are known. If they are not, or if the hours of the pace are usually nearly
 * idle, all hours weigh the same.
 */
export interface Weights {
  /** The current hour, counted from the epoch. */
  hour: number;
  /** How many hours before it the pace is of. */
  paceHours: number;
  /** The oldest hour of the series that was kept. */
  first: number;
  /** The number of weeks that the weights are of; 0 if all hours weigh the same. */
  weeks: number;
  /** Weight of the hours of the pace before the current one. */
  before: number;
  /** Weight of the hours of a week before each: first those before the current one, which are none. */
  ahead: Float64Array;
}

/** Approximate memory in bytes of weights that are not {@link EVEN}. */
export const WEIGHTS_BYTES = 8 * (HOURS_OF_WEEK + 1) + 250;

const EVEN = Float64Array.from({ length: HOURS_OF_WEEK + 1 }, (_, hours) => hours);

/** `sums` are by hour. Exact while the spend of a week is a safe integer. */
export function weightsAt(sums: StepSums, series: string, hour: number, paceHours: number): Weights {
  const first = sums.firstStep(series);
  const even = { hour, paceHours, first, weeks: 0, before: paceHours, ahead: EVEN };
  // The first hour of a series may be known in part only.
  const weeksBefore = Array.from({ length: WEEKS }, (_, week) => HOURS_OF_WEEK * (week + 1));
  const known = weeksBefore.filter((hours) => hour - paceHours - hours > first);
  if (known.length === 0) return even;
  const usual = (step: number) => known.reduce((total, hours) => total + sums.at(series, step - hours), 0);
  let before = 0;
  for (let step = hour - paceHours; step < hour; step += 1) before += usual(step);
  const ahead = new Float64Array(HOURS_OF_WEEK + 1);
  for (let hours = 0; hours < HOURS_OF_WEEK; hours += 1) ahead[hours + 1] = ahead[hours]! + usual(hour + hours);
  const ofWeek = BigInt(ahead[HOURS_OF_WEEK]!);
  const isIdle = BigInt(before) * BigInt(HOURS_OF_WEEK * LEAST_SHARE) < ofWeek * BigInt(paceHours);
  return ofWeek === 0n || isIdle ? even : { hour, paceHours, first, weeks: known.length, before, ahead };
}

/** Weight from the beginning of the current hour until `time`, multiplied by the milliseconds of an hour. */
function weightUntil({ hour, ahead }: Weights, time: number): bigint {
  const passed = time - hour * HOUR_MS;
  const hours = Math.floor(passed / HOUR_MS);
  const place = hours % HOURS_OF_WEEK;
  const weeks = BigInt((hours - place) / HOURS_OF_WEEK) * BigInt(ahead[HOURS_OF_WEEK]!);
  const begun = BigInt(ahead[place + 1]! - ahead[place]!) * BigInt(passed - hours * HOUR_MS);
  return (weeks + BigInt(ahead[place]!)) * BigInt(HOUR_MS) + begun;
}

/** The spend to expect after `now` if it goes on as within the hours of the pace. Exact, as a fraction. */
export class ExpectedSpend {
  readonly #weights: Weights;
  readonly #paceMicros: bigint;
  readonly #passed: bigint;
  readonly #ofPace: bigint;

  /** `paceMicros`: spend from `paceHours` before the current hour until `now`. */
  constructor(weights: Weights, paceMicros: number, now: number) {
    this.#weights = weights;
    this.#paceMicros = BigInt(paceMicros);
    this.#passed = weightUntil(weights, now);
    this.#ofPace = BigInt(weights.before) * BigInt(HOUR_MS) + this.#passed;
  }

  /** Whether at least this much is to be expected until `time`, which is not before now. */
  reaches(micros: number, time: number): boolean {
    return BigInt(micros) * this.#ofPace <= this.#paceMicros * this.#ahead(time);
  }

  /** Rounded down to whole micros. */
  until(time: number): bigint {
    return (this.#paceMicros * this.#ahead(time)) / this.#ofPace;
  }

  /** The first time, not before `from`, until which this much is to be expected; `to` is such a time. */
  timeOf(micros: number, from: number, to: number): number {
    let [low, high] = [from, to];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.reaches(micros, middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #ahead(time: number): bigint {
    return weightUntil(this.#weights, time) - this.#passed;
  }
}
