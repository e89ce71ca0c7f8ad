import type { Condition, DeviationFacts, Evidence, SavedCondition, SavedDeviation, Verdict } from './condition.ts';
import type { CountableEvent } from './event.ts';
import { OTHER, type StepLayout, StepSums } from './step-sums.ts';
import { MAX_COUNTED_MICROS, type SumWindow } from './sum.condition.ts';
import { RecentSettlements } from './recent.settlements.ts';

const HOUR_MS = 3_600_000;
const HOURS_OF_WEEK = 168;
/** With how many earlier weeks an hour is compared. */
const WEEKS = 4;
/** Hours by day: a day is what a save writes. One day more than four weeks, so that the first hour is known whole. */
export const DEVIATION_LAYOUT: StepLayout = { stepMs: HOUR_MS, chunkSteps: 24, keptChunks: WEEKS * 7 + 1 };

export interface DeviationFields {
  times: number;
  minMicros: number;
}

/** The usual spend of an hour. */
interface Usual {
  /** Twice the median, which is a whole number. */
  twice: bigint;
  /** Number of weeks that it is of; 0 if nothing is known. */
  weeks: number;
}

/**
 * `deviation_gte`: the agent of the event has spent at least `minMicros` in the hour of the event, and at least `times`
 * the median of the same hour of the week in the last four weeks. Hours are those of UTC. Weeks before the agent's
 * first whole hour are unknown, and the condition is not met before one is known. An hour without spend counts as 0.
 *
 * The sum of an hour only grows, so the condition becomes true once in each hour of an agent.
 */
export class DeviationCondition implements Condition {
  readonly #fields: DeviationFields;
  readonly #recent: RecentSettlements;
  readonly #hours: StepSums;
  #metUntil: number | null;
  #last: DeviationFacts | undefined;

  constructor(fields: DeviationFields, window: SumWindow, saved?: SavedDeviation) {
    this.#fields = fields;
    this.#recent = new RecentSettlements(window, saved?.sum);
    this.#hours = new StepSums(DEVIATION_LAYOUT, saved?.steps.chunks);
    this.#metUntil = saved?.metUntil ?? null;
  }

  take(event: CountableEvent): Verdict {
    if (!this.#recent.isNew(event)) return 'unchanged';
    const micros = Math.min(event.settledMicros, MAX_COUNTED_MICROS);
    const added = this.#hours.add(event.time, event.agentId ?? OTHER, micros);
    if (added === null) return 'unchanged';
    const { series, step, before, after } = added;
    const { minMicros } = this.#fields;
    if (after < minMicros) return 'not_met';
    const usual = this.#usual(series, step);
    this.#last = {
      ...{ agentId: series === OTHER ? null : series, spentMicros: after, weeks: usual.weeks },
      ...{ medianMicros: Number(usual.twice / 2n), hour: step * HOUR_MS },
    };
    if (usual.weeks === 0) return before < minMicros ? 'unknown' : 'not_met';
    if (!this.#isMet(after, usual)) return 'not_met';
    this.#metUntil = Math.max(this.#metUntil ?? 0, (step + 1) * HOUR_MS);
    return this.#isMet(before, usual) ? 'still_true' : 'became_true';
  }

  #isMet(spent: number, { twice }: Usual): boolean {
    return spent >= this.#fields.minMicros && 2n * BigInt(spent) >= BigInt(this.#fields.times) * twice;
  }

  #usual(series: string, step: number): Usual {
    const known: number[] = [];
    for (let week = 1; week <= WEEKS; week += 1) {
      const same = step - week * HOURS_OF_WEEK;
      // Its first hour may be known in part only.
      if (same > this.#hours.firstStep(series)) known.push(this.#hours.at(series, same));
    }
    known.sort((a, b) => a - b);
    const middle = (known.length - 1) / 2;
    const twice = known.length === 0 ? 0n : BigInt(known[Math.floor(middle)]!) + BigInt(known[Math.ceil(middle)]!);
    return { twice, weeks: known.length };
  }

  evidence({ id, time }: CountableEvent): Evidence {
    const deviation = this.#last!;
    return {
      windowStart: deviation.hour,
      windowEnd: time,
      eventCount: 1,
      settledMicros: deviation.spentMicros,
      sampleEventIds: [id],
      firstEventAt: time,
      lastEventAt: time,
      deviation,
    };
  }

  metUntil(): number | null {
    return this.#metUntil;
  }

  get heldBytes(): number {
    return this.#recent.heldBytes + this.#hours.heldBytes;
  }

  get unsavedBytes(): number {
    return this.#recent.unsavedBytes + this.#hours.unsavedBytes;
  }

  save(): SavedCondition {
    const saved = { sum: this.#recent.save(), steps: this.#hours.save(), metUntil: this.#metUntil };
    return { kind: 'deviation_gte', ...saved };
  }

  saved(): void {
    this.#recent.saved();
    this.#hours.saved();
  }

  close(): void {
    this.#recent.close();
  }
}
