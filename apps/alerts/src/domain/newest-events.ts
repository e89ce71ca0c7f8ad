/** A matching event as a window keeps it. */
export interface Occurrence {
  /** Event time, epoch milliseconds. */
  time: number;
  /** See `CountableEvent.identity`. */
  identity: number;
  id: string;
}

/** What a store keeps of {@link NewestEvents}. */
export interface SavedEvents {
  /** The time and then the identity of each event, oldest first. */
  occurrences: Float64Array;
  /** Newest first. */
  sampleIds: string[];
}

export const MAX_SAMPLES = 10;
const FIRST_CAPACITY = 16;
/** Time and identity. */
const FIELDS = 2;
export const BYTES_PER_EVENT = FIELDS * Float64Array.BYTES_PER_ELEMENT;
/** The longest id, and what frames it. */
export const BYTES_PER_SAMPLE = 140;

/**
 * The newest `limit` events of a rule, ordered by time and, where times are equal, by identity. It keeps them in a ring
 * that grows as they come: 16 bytes for each. Events that arrive in their order cost O(1), one that is k places late
 * the moving of k, and one that is older than all of them or a duplicate O(log limit).
 *
 * There is one for each of thousands of rules and they are all visited in turn, so what an event needs lies close
 * together.
 */
export class NewestEvents {
  readonly #limit: number;
  /** Of the newest events, the oldest of them first. */
  readonly #samples: string[];
  #ring: Float64Array;
  #capacity: number;
  #start = 0;
  #size: number;

  constructor(limit: number, saved: SavedEvents = { occurrences: new Float64Array(), sampleIds: [] }) {
    this.#limit = limit;
    this.#samples = saved.sampleIds.toReversed();
    this.#size = saved.occurrences.length / FIELDS;
    this.#capacity = Math.min(limit, Math.max(FIRST_CAPACITY, this.#size));
    this.#ring = new Float64Array(FIELDS * this.#capacity);
    this.#ring.set(saved.occurrences);
  }

  get size(): number {
    return this.#size;
  }

  /** About how many bytes a store takes for them. */
  get bytes(): number {
    return BYTES_PER_EVENT * this.#size + MAX_SAMPLES * BYTES_PER_SAMPLE;
  }

  /** False when the event is kept already, or is older than all of `limit` kept ones: then nothing changes. */
  add({ time, identity, id }: Occurrence): boolean {
    let index = this.#countUpTo(time, identity);
    if (index > 0) {
      const before = this.#place(index - 1);
      if (this.#ring[before] === time && this.#ring[before + 1] === identity) return false;
    }
    if (this.#size === this.#limit) {
      if (index === 0) return false;
      this.#start = this.#start + 1 === this.#capacity ? 0 : this.#start + 1;
      this.#size -= 1;
      index -= 1;
    } else if (this.#size === this.#capacity) {
      this.#grow();
    }
    for (let newer = this.#size; newer > index; newer -= 1) {
      const [from, to] = [this.#place(newer - 1), this.#place(newer)];
      this.#ring[to] = this.#ring[from]!;
      this.#ring[to + 1] = this.#ring[from + 1]!;
    }
    const place = this.#place(index);
    this.#ring[place] = time;
    this.#ring[place + 1] = identity;
    this.#size += 1;
    this.#sample(id, this.#size - 1 - index);
    return true;
  }

  /** Time of an event, the oldest one having index 0. */
  timeAt(index: number): number {
    return this.#ring[this.#place(index)]!;
  }

  /** Ids of the newest events, at most {@link MAX_SAMPLES}, newest first. */
  sampleIds(): string[] {
    return this.#samples.toReversed();
  }

  save(): SavedEvents {
    return { occurrences: this.#inOrder(this.#size), sampleIds: this.sampleIds() };
  }

  /** How many of the events are not newer than this one. */
  #countUpTo(time: number, identity: number): number {
    let low = 0;
    let high = this.#size;
    // Nearly every event is newer than all before it, so the search begins at the end.
    for (let middle = high - 1; low < high; middle = (low + high) >>> 1) {
      const place = this.#place(middle);
      const notNewer = this.#ring[place]! < time || (this.#ring[place] === time && this.#ring[place + 1]! <= identity);
      if (notNewer) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Where in the ring the event with this index begins. */
  #place(index: number): number {
    const at = this.#start + index;
    return FIELDS * (at < this.#capacity ? at : at - this.#capacity);
  }

  #grow(): void {
    const larger = Math.min(this.#limit, this.#capacity * 2);
    this.#ring = this.#inOrder(larger);
    this.#capacity = larger;
    this.#start = 0;
  }

  /** A copy that begins with the oldest event and has room for `capacity` of them. */
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
    if (this.#samples.length > Math.min(MAX_SAMPLES, this.#size)) this.#samples.shift();
  }
}
