import type { SavedChunk, SavedSteps } from './saved-steps.ts';
import { MAX_COUNTED_MICROS } from './sum.condition.ts';

/** Sums of up to this many names of a rule have a series each. All further names share the series {@link OTHER}. */
export const MAX_SERIES = 20;
/** Never an agent, nor a value that a budget has a limit for. */
export const OTHER = '';

export interface StepLayout {
  /** Length of a step in milliseconds. */
  stepMs: number;
  /** Steps are stored in chunks of this many. */
  chunkSteps: number;
  /** How many chunks before the newest one are kept. */
  keptChunks: number;
}

const NONE_SAVED: SavedSteps = { chunks: [], kept: [], heldBytes: 0 };

/** What an amount was added to. */
interface Added {
  series: string;
  /** Number of the step, counted from the epoch. */
  step: number;
  /** Sum of the step, without and with the amount. */
  before: number;
  after: number;
}

/** Approximate memory of a series in a chunk besides its sums, in bytes: the name, the array, the entry of the map. */
const SERIES_BYTES = 250;

/** Approximate upper bound of the memory of all series, in bytes. */
export function mostBytes({ chunkSteps, keptChunks }: StepLayout): number {
  return (MAX_SERIES + 1) * (keptChunks + 1) * bytesOfSeries(chunkSteps);
}

/** Approximate size of the chunks in a store, in bytes. */
export function bytesOfSteps({ chunks }: SavedSteps): number {
  return chunks.reduce((total, { names, micros }) => total + micros.byteLength + SERIES_BYTES * names.length, 0);
}

function bytesOfSeries(chunkSteps: number): number {
  return SERIES_BYTES + chunkSteps * Float64Array.BYTES_PER_ELEMENT;
}

/**
 * Spend by series and step of time, of the newest chunks. Every amount is a whole number of micros, and so is every
 * sum: it stops at {@link MAX_COUNTED_MICROS}. The series are those of the first names that come. When nothing is kept
 * of a name any more, another one may take its place.
 */
export class StepSums {
  readonly #layout: StepLayout;
  readonly #chunks = new Map<number, Map<string, Float64Array>>();
  /** By series, its oldest kept step with spend, and its newest. */
  readonly #first = new Map<string, number>();
  readonly #last = new Map<string, number>();
  #newest = -Infinity;
  #arrays = 0;
  readonly #unsaved = new Set<number>();

  constructor(layout: StepLayout, saved: readonly SavedChunk[] = []) {
    this.#layout = layout;
    for (const { chunk, names, micros } of saved.toSorted((a, b) => a.chunk - b.chunk)) {
      const { chunkSteps } = layout;
      for (const [index, name] of names.entries()) {
        this.#arrayOf(chunk, name).set(micros.subarray(chunkSteps * index, chunkSteps * (index + 1)));
        if (!this.#first.has(name)) this.#first.set(name, this.#firstIn(name)!);
        const last = this.#chunks
          .get(chunk)!
          .get(name)!
          .findLastIndex((sum) => sum > 0);
        this.#last.set(name, chunk * chunkSteps + last);
      }
      this.#newest = Math.max(this.#newest, chunk);
    }
    this.#unsaved.clear();
  }

  /** Null if the time is before everything that is kept. */
  add(time: number, name: string, micros: number): Added | null {
    const step = Math.floor(time / this.#layout.stepMs);
    const chunk = Math.floor(step / this.#layout.chunkSteps);
    this.#moveTo(chunk);
    if (chunk < this.#newest - this.#layout.keptChunks) return null;
    const series = this.#seriesOf(name);
    const sums = this.#arrayOf(chunk, series);
    const place = step - chunk * this.#layout.chunkSteps;
    const before = sums[place]!;
    const after = Math.min(before + micros, MAX_COUNTED_MICROS);
    sums[place] = after;
    this.#first.set(series, Math.min(step, this.#first.get(series) ?? step));
    this.#last.set(series, Math.max(step, this.#last.get(series) ?? step));
    return { series, step, before, after };
  }

  /** Sum of a step; 0 if nothing is known of it. */
  at(series: string, step: number): number {
    const chunk = Math.floor(step / this.#layout.chunkSteps);
    return this.#chunks.get(chunk)?.get(series)?.[step - chunk * this.#layout.chunkSteps] ?? 0;
  }

  /** Sum of the steps from `from` to `to`, which are of at most two chunks. Exact up to the greatest safe integer. */
  sum(series: string, from: number, to: number): number {
    const { chunkSteps } = this.#layout;
    let total = 0;
    for (let chunk = Math.floor(from / chunkSteps); chunk * chunkSteps <= to; chunk += 1) {
      const sums = this.#chunks.get(chunk)?.get(series);
      if (sums === undefined) continue;
      const end = Math.min(to - chunk * chunkSteps, chunkSteps - 1);
      for (let place = Math.max(0, from - chunk * chunkSteps); place <= end; place += 1) total += sums[place]!;
    }
    return total;
  }

  /** Whether anything of the series is still kept when an amount of the time is added. */
  isKept(series: string, time: number): boolean {
    const last = this.#last.get(series);
    if (last === undefined) return false;
    const { stepMs, chunkSteps, keptChunks } = this.#layout;
    const newest = Math.max(this.#newest, Math.floor(Math.floor(time / stepMs) / chunkSteps));
    return Math.floor(last / chunkSteps) >= newest - keptChunks;
  }

  /** The newest step of the series with spend. */
  lastStep(series: string): number {
    return this.#last.get(series)!;
  }

  /** The oldest step of the series that is kept and has spend. It may have begun before the first event came. */
  firstStep(series: string): number {
    return this.#first.get(series)!;
  }

  /** Approximate memory in bytes. */
  get heldBytes(): number {
    return this.#arrays * bytesOfSeries(this.#layout.chunkSteps);
  }

  /** Approximate number of bytes that storing the result of {@link save} writes. */
  get unsavedBytes(): number {
    let series = 0;
    for (const chunk of this.#unsaved) series += this.#chunks.get(chunk)!.size;
    return series * bytesOfSeries(this.#layout.chunkSteps);
  }

  /** The chunks that the store lacks, and which are kept. */
  save(): SavedSteps {
    if (this.#chunks.size === 0) return NONE_SAVED;
    const chunks = [...this.#unsaved].map((chunk) => this.#copyOf(chunk));
    return { chunks, kept: [...this.#chunks.keys()], heldBytes: this.heldBytes };
  }

  /** Call when the result of {@link save} is stored. */
  saved(): void {
    this.#unsaved.clear();
  }

  #copyOf(chunk: number): SavedChunk {
    const { chunkSteps } = this.#layout;
    const series = this.#chunks.get(chunk)!;
    const micros = new Float64Array(chunkSteps * series.size);
    for (const [index, sums] of [...series.values()].entries()) micros.set(sums, chunkSteps * index);
    return { chunk, names: [...series.keys()], micros };
  }

  #seriesOf(name: string): string {
    if (this.#first.has(name)) return name;
    return this.#first.size - (this.#first.has(OTHER) ? 1 : 0) < MAX_SERIES ? name : OTHER;
  }

  #arrayOf(chunk: number, series: string): Float64Array {
    this.#unsaved.add(chunk);
    const known = this.#chunks.get(chunk) ?? new Map<string, Float64Array>();
    this.#chunks.set(chunk, known);
    const present = known.get(series);
    if (present !== undefined) return present;
    const fresh = new Float64Array(this.#layout.chunkSteps);
    known.set(series, fresh);
    this.#arrays += 1;
    return fresh;
  }

  /** Forgets what is too old once the chunk is the newest. */
  #moveTo(chunk: number): void {
    if (chunk <= this.#newest) return;
    this.#newest = chunk;
    const gone = [...this.#chunks].filter(([each]) => each < chunk - this.#layout.keptChunks);
    for (const [each, series] of gone) {
      this.#chunks.delete(each);
      this.#unsaved.delete(each);
      this.#arrays -= series.size;
    }
    for (const name of new Set(gone.flatMap(([, series]) => [...series.keys()]))) {
      const first = this.#firstIn(name);
      if (first !== undefined) this.#first.set(name, first);
      else for (const known of [this.#first, this.#last]) known.delete(name);
    }
  }

  #firstIn(series: string): number | undefined {
    for (const chunk of [...this.#chunks.keys()].sort((a, b) => a - b)) {
      const place =
        this.#chunks
          .get(chunk)!
          .get(series)
          ?.findIndex((sum) => sum > 0) ?? -1;
      if (place >= 0) return chunk * this.#layout.chunkSteps + place;
    }
    return undefined;
  }
}
