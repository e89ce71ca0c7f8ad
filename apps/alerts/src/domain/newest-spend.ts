import { BYTES_PER_SAMPLE, MAX_SAMPLES, type Occurrence } from './newest-events.ts';

/** A settlement as a window keeps it. */
export interface Settlement extends Occurrence {
  /** More than 0, at most {@link MAX_COUNTED_MICROS}. */
  micros: number;
}

/** What a store keeps of {@link NewestSpend}. */
export interface SavedSpend {
  /** Time, identity, micros and count of each entry, oldest first. */
  entries: Float64Array;
  /** Newest first. */
  sampleIds: string[];
}

/** Most entries of a window; with more settlements than that they share entries. */
export const MAX_SPEND_ENTRIES = 4000;
/**
 * Most that a settlement counts for, and the largest threshold: USD 1000 million. What is kept adds up to less than
 * three times that, which is a safe integer.
 */
export const MAX_COUNTED_MICROS = 1_000_000_000_000_000;
const FIRST_CAPACITY = 16;
/** Time, identity, micros and count. */
const FIELDS = 4;
export const BYTES_PER_ENTRY = FIELDS * Float64Array.BYTES_PER_ELEMENT;

/**
 * The newest settlements of a rule that reach its threshold, or else all in its window. They are ordered by time and,
 * where times are equal, by identity. An entry is one settlement, as long as the window has no more than `maxEntries`
 * that do not reach the threshold.
 *
 * Where it has more, those of the same `windowMs / (maxEntries / 2)` share an entry, which leaves the window with the
 * newest of them. So they count for at most that much longer, and never too short. A duplicate of a settlement that
 * shares an entry is not recognised, so those that can come again share entries last.
 */
export class NewestSpend {
  readonly #windowMs: number;
  readonly #thresholdMicros: number;
  readonly #maxEntries: number;
  /** Of the newest settlements, the oldest of them first. */
  readonly #samples: string[];
  #ring: Float64Array;
  #capacity: number;
  #start = 0;
  #size: number;
  #micros = 0;
  #count = 0;

  constructor(given: {
    windowMs: number;
    thresholdMicros: number;
    saved?: SavedSpend | undefined;
    maxEntries?: number | undefined;
  }) {
    const { windowMs, thresholdMicros, saved = { entries: new Float64Array(), sampleIds: [] } } = given;
    this.#windowMs = windowMs;
    this.#thresholdMicros = thresholdMicros;
    this.#maxEntries = given.maxEntries ?? MAX_SPEND_ENTRIES;
    this.#samples = saved.sampleIds.toReversed();
    this.#size = saved.entries.length / FIELDS;
    this.#capacity = Math.min(this.#maxEntries, Math.max(FIRST_CAPACITY, this.#size));
    this.#ring = new Float64Array(FIELDS * this.#capacity);
    this.#ring.set(saved.entries);
    for (let index = 0; index < this.#size; index += 1) {
      this.#micros += this.#ring[FIELDS * index + 2]!;
      this.#count += this.#ring[FIELDS * index + 3]!;
    }
  }

  /** Entries. */
  get size(): number {
    return this.#size;
  }

  /** Settlements. */
  get count(): number {
    return this.#count;
  }

  /** What they add up to. */
  get micros(): number {
    return this.#micros;
  }

  /** About how many bytes a store takes for them. */
  get bytes(): number {
    return BYTES_PER_ENTRY * this.#size + MAX_SAMPLES * BYTES_PER_SAMPLE;
  }

  /** Lets the window end with `time`, if that is newer than what it ends with. */
  moveTo(time: number): void {
    while (this.#size > 0 && this.timeAt(0) <= time - this.#windowMs) this.#dropOldest();
  }

  /**
   * False when the settlement is kept already, or is older than the window or than all that reach the threshold: then
   * nothing changes. Settlements from `finalUntil` or earlier do not come any more.
   */
  add({ time, identity, micros, id }: Settlement, finalUntil: number): boolean {
    if (this.#size > 0 && time <= this.timeAt(this.#size - 1) - this.#windowMs) return false;
    let index = this.#countUpTo(time, identity);
    if (index === 0 && this.#micros >= this.#thresholdMicros) return false;
    if (index > 0) {
      const before = this.#place(index - 1);
      if (this.#ring[before] === time && this.#ring[before + 1] === identity) return false;
    }
    if (this.#size === this.#maxEntries) {
      this.#shareEntries(finalUntil);
      if (this.#size > this.#maxEntries * 0.75) this.#shareEntries(Infinity);
      index = this.#countUpTo(time, identity);
    }
    if (this.#size === this.#capacity) this.#grow();
    for (let newer = this.#size; newer > index; newer -= 1) this.#copy(newer - 1, newer);
    const place = this.#place(index);
    this.#ring[place] = time;
    this.#ring[place + 1] = identity;
    this.#ring[place + 2] = micros;
    this.#ring[place + 3] = 1;
    this.#size += 1;
    this.#micros += micros;
    this.#count += 1;
    this.#sample(id, this.#size - 1 - index);
    while (this.#micros - this.#ring[this.#place(0) + 2]! >= this.#thresholdMicros) this.#dropOldest();
    return true;
  }

  /** Time of an entry, which is that of its newest settlement; the oldest one has index 0. */
  timeAt(index: number): number {
    return this.#ring[this.#place(index)]!;
  }

  /** Ids of the newest settlements, at most {@link MAX_SAMPLES}, newest first. */
  sampleIds(): string[] {
    return this.#samples.toReversed();
  }

  save(): SavedSpend {
    return { entries: this.#inOrder(this.#size), sampleIds: this.sampleIds() };
  }

  /** How many of the entries are not newer than this settlement. */
  #countUpTo(time: number, identity: number): number {
    let low = 0;
    let high = this.#size;
    // Nearly every settlement is newer than all before it, so the search begins at the end.
    for (let middle = high - 1; low < high; middle = (low + high) >>> 1) {
      const place = this.#place(middle);
      const notNewer = this.#ring[place]! < time || (this.#ring[place] === time && this.#ring[place + 1]! <= identity);
      if (notNewer) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #dropOldest(): void {
    const place = this.#place(0);
    this.#micros -= this.#ring[place + 2]!;
    this.#count -= this.#ring[place + 3]!;
    this.#start = this.#start + 1 === this.#capacity ? 0 : this.#start + 1;
    this.#size -= 1;
    if (this.#samples.length > this.#count) this.#samples.splice(0, this.#samples.length - this.#count);
  }

  /**
   * Makes one entry of those up to `until` that are of the same stretch of time. The oldest stays on its own. All
   * others together do not reach the threshold, so no shared entry does, however often entries are shared.
   */
  #shareEntries(until: number): void {
    const stretchMs = this.#windowMs / (this.#maxEntries / 2);
    let last = 1;
    for (let index = 2; index < this.#size; index += 1) {
      const time = this.timeAt(index);
      if (time <= until && Math.floor(time / stretchMs) === Math.floor(this.timeAt(last) / stretchMs)) {
        const [from, to] = [this.#place(index), this.#place(last)];
        this.#ring[to] = time;
        this.#ring[to + 1] = this.#ring[from + 1]!;
        this.#ring[to + 2]! += this.#ring[from + 2]!;
        this.#ring[to + 3]! += this.#ring[from + 3]!;
      } else {
        last += 1;
        this.#copy(index, last);
      }
    }
    this.#size = last + 1;
  }

  /** Where in the ring the entry with this index begins. */
  #place(index: number): number {
    const at = this.#start + index;
    return FIELDS * (at < this.#capacity ? at : at - this.#capacity);
  }

  #copy(from: number, to: number): void {
    const place = this.#place(from);
    this.#ring.copyWithin(this.#place(to), place, place + FIELDS);
  }

  #grow(): void {
    const larger = Math.min(this.#maxEntries, this.#capacity * 2);
    this.#ring = this.#inOrder(larger);
    this.#capacity = larger;
    this.#start = 0;
  }

  /** A copy that begins with the oldest entry and has room for `capacity` of them. */
  #inOrder(capacity: number): Float64Array {
    const ordered = new Float64Array(FIELDS * capacity);
    const untilEnd = FIELDS * Math.min(this.#size, this.#capacity - this.#start);
    ordered.set(this.#ring.subarray(FIELDS * this.#start, FIELDS * this.#start + untilEnd));
    ordered.set(this.#ring.subarray(0, FIELDS * this.#size - untilEnd), untilEnd);
    return ordered;
  }

  #sample(id: string, newerOnes: number): void {
    if (newerOnes >= MAX_SAMPLES) return;
    if (newerOnes === 0) this.#samples.push(id);
    else this.#samples.splice(-newerOnes, 0, id);
    if (this.#samples.length > MAX_SAMPLES) this.#samples.shift();
  }
}
