import { BYTES_PER_ENTRY, type EntryForm, FIELDS } from './saved-sum.ts';

const FIRST_CAPACITY = 16;

/**
 * The entries of a sum, ordered by time, then identity, in a ring that grows as needed. Inserting at the end costs
 * O(1), and k places before it moves k entries. Thousands of rules have a ring each, and all are visited in turn, so
 * the data of an event is kept close together.
 */
export class EntryRing {
  #form: EntryForm;
  #fields: number;
  readonly #usualMax: number;
  #values: Float64Array;
  #capacity: number;
  #start = 0;
  #size: number;

  /** `entries`: oldest first, in this form. `usualMax`: seldom exceeded, so the capacity is not doubled beyond it. */
  constructor(form: EntryForm, entries: Float64Array, usualMax: number) {
    this.#form = form;
    this.#fields = FIELDS[form];
    this.#usualMax = usualMax;
    this.#size = entries.length / this.#fields;
    this.#capacity = Math.max(Math.min(usualMax, FIRST_CAPACITY), this.#size);
    this.#values = new Float64Array(this.#fields * this.#capacity);
    this.#values.set(entries);
  }

  /** Number of entries. */
  get size(): number {
    return this.#size;
  }

  get form(): EntryForm {
    return this.#form;
  }

  /** How many numbers an entry has. */
  get fields(): number {
    return this.#fields;
  }

  /** Memory in bytes, including unused capacity. */
  get heldBytes(): number {
    return this.#capacity * BYTES_PER_ENTRY[this.#form];
  }

  timeAt(index: number): number {
    return this.#values[this.#place(index)]!;
  }

  amountAt(index: number): number {
    return this.#form === 'unit' ? 1 : this.#values[this.#place(index) + 2]!;
  }

  /** Number of events; for events that count something themselves, the sum of their counts. */
  countAt(index: number): number {
    return this.#form === 'amount' ? this.#values[this.#place(index) + 3]! : this.amountAt(index);
  }

  isEvent(index: number, time: number, identity: number): boolean {
    const place = this.#place(index);
    return this.#values[place] === time && this.#values[place + 1] === identity;
  }

  /** Number of entries that are not newer than this event. */
  countUpTo(time: number, identity: number): number {
    let low = 0;
    let high = this.#size;
    // Nearly every event is newer than all before it, so the search starts at the end.
    for (let middle = high - 1; low < high; middle = (low + high) >>> 1) {
      const at = this.#place(middle);
      const notNewer = this.#values[at]! < time || (this.#values[at] === time && this.#values[at + 1]! <= identity);
      if (notNewer) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Inserts an entry of one event before the one with this index. */
  insert(index: number, time: number, identity: number, amount: number): void {
    if (this.#size === this.#capacity) this.#grow();
    for (let newer = this.#size; newer > index; newer -= 1) this.move(newer - 1, newer);
    const place = this.#place(index);
    this.#values[place] = time;
    this.#values[place + 1] = identity;
    if (this.#form !== 'unit') this.#values[place + 2] = amount;
    if (this.#form === 'amount') this.#values[place + 3] = 1;
    this.#size += 1;
  }

  dropOldest(): void {
    this.#start = this.#start + 1 === this.#capacity ? 0 : this.#start + 1;
    this.#size -= 1;
  }

  /** Keeps only the oldest entries. */
  keepOldest(size: number): void {
    this.#size = size;
  }

  /** Replaces the entry `to` with the entry `from`. */
  move(from: number, to: number): void {
    const [source, target] = [this.#place(from), this.#place(to)];
    for (let field = 0; field < this.#fields; field += 1) this.#values[target + field] = this.#values[source + field]!;
  }

  /** Adds the entry `from` to the older entry `to`, which takes over its time and identity. Only for `amount`. */
  merge(from: number, to: number): void {
    const [source, target] = [this.#place(from), this.#place(to)];
    this.#values[target] = this.#values[source]!;
    this.#values[target + 1] = this.#values[source + 1]!;
    this.#values[target + 2]! += this.#values[source + 2]!;
    this.#values[target + 3]! += this.#values[source + 3]!;
  }

  /** Switches from the form `unit` to `count`. */
  widen(): void {
    const wide = new Float64Array(FIELDS.count * this.#capacity);
    for (let index = 0; index < this.#size; index += 1) {
      const place = this.#place(index);
      wide.set([this.#values[place]!, this.#values[place + 1]!, 1], FIELDS.count * index);
    }
    [this.#form, this.#fields] = ['count', FIELDS.count];
    [this.#values, this.#start] = [wide, 0];
  }

  /** Copies the numbers of an entry to `target`, from its offset `at` on. */
  copyTo(target: Float64Array, at: number, index: number): void {
    const place = this.#place(index);
    for (let field = 0; field < this.#fields; field += 1) target[at + field] = this.#values[place + field]!;
  }

  /** A copy of all entries in order, with room for `capacity` of them. */
  inOrder(capacity = this.#size): Float64Array {
    const ordered = new Float64Array(this.#fields * capacity);
    const length = this.#fields * this.#size;
    const start = this.#place(0);
    const untilEnd = Math.min(length, this.#values.length - start);
    ordered.set(this.#values.subarray(start, start + untilEnd));
    ordered.set(this.#values.subarray(0, length - untilEnd), untilEnd);
    return ordered;
  }

  #grow(): void {
    const larger =
      this.#size < this.#usualMax ? Math.min(this.#usualMax, 2 * this.#capacity) : Math.ceil(1.25 * this.#capacity);
    this.#values = this.inOrder(larger);
    this.#capacity = larger;
    this.#start = 0;
  }

  /** Offset of the entry with this index. */
  #place(index: number): number {
    const at = this.#start + index;
    return this.#fields * (at < this.#capacity ? at : at - this.#capacity);
  }
}
