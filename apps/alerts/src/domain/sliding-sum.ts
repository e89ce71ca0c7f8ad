import { randomUUID } from 'node:crypto';
import type { CountableEvent } from './event.ts';
import { BYTES_PER_ENTRY, type EntryForm, FIELDS, type SavedSum } from './saved-sum.ts';
import { SumView, type ViewedSum } from './sum.view.ts';

/** The fields that identify an event. */
export type Occurrence = Pick<CountableEvent, 'id' | 'time' | 'identity'>;

/** A sum with fewer entries is always saved whole. */
export const MIN_SAVED_IN_PARTS = 128;
/** A save is whole if the store would otherwise have over this (up to half more) times the sum's entries. */
const MAX_STORED = 1.5;
/** A larger sum is stored apart: a store rewrites a whole document when a part of it changes. */
const MAX_BYTES_TOGETHER = 16 * 1024;

export interface SlidingSumOptions {
  /** A sum of the form `unit` switches to `count` with the first event that counts more than 1. */
  form: EntryForm;
  windowMs: number;
  /** If more events than this do not reach a threshold, they share entries. */
  maxEntries: number;
  /**
   * From 0 to below 1, by default 0: how much longer than others to postpone saving the sum whole. Otherwise, sums of
   * the same events would all be due in the same save, without any bound on its size.
   */
  stagger?: number;
  /** A whole sum: see {@link joinParts}. */
  saved?: SavedSum | undefined;
}

const MAX_SAMPLES = 10;
/** The longest id and its overhead. */
const BYTES_PER_SAMPLE = 140;
const FIRST_CAPACITY = 16;

/**
 * The newest events that reach a threshold or, if they do not, all events in a window that ends with the newest. Older
 * events are dropped: they leave the window before any of these. Rules over the same events share a sum. Each has a
 * view with its own threshold, and the sum keeps what one of them needs.
 *
 * The events are ordered by time, then identity, in a ring that grows as needed. An event in order costs O(views), an
 * event k places late moves k entries, and a duplicate or one older than all others costs O(log n). Thousands of rules
 * have a ring each, and all are visited in turn, so the data of an event is kept close together.
 *
 * While there are at most `maxEntries`, an entry is one event. Beyond that, events of the same `windowMs / (maxEntries
 * / 2)` share an entry, which leaves the window with the newest of them. So they count for at most that much too long,
 * and never too short. A duplicate of an event that shares an entry is not recognized, so events that may still repeat
 * are the last to share entries.
 */
export class SlidingSum implements ViewedSum {
  #form: EntryForm;
  #fields: number;
  readonly #windowMs: number;
  readonly #maxEntries: number;
  readonly #stagger: number;
  /** The first of them saves the sum. */
  #views: SumView[] = [];
  /** With this many entries, events begin to share entries. */
  #shareAt: number;
  /** The event that was taken last. */
  #taken: CountableEvent | undefined;
  /** Ids of the newest events, oldest first. */
  readonly #samples: string[];
  #ring: Float64Array;
  #capacity: number;
  #start = 0;
  #size: number;
  /** Number of entries that the store lacks; Infinity if it must get all of them. */
  #unsaved: number;
  /** Copies of the new entries in order of arrival. They can fall anywhere among entries of the same time. */
  #news = new Float64Array();
  /** Number of entries in the store. */
  #stored: number;
  /** Whether the store has them apart from the window. */
  #apart: boolean;
  /** Where the store has the entries that several windows share; null if one window has them alone. */
  #sharedAs: string | null;

  constructor({ form, windowMs, maxEntries, stagger = 0, saved }: SlidingSumOptions) {
    this.#form = saved?.form ?? form;
    this.#fields = FIELDS[this.#form];
    this.#windowMs = windowMs;
    this.#maxEntries = maxEntries;
    this.#shareAt = saved?.shareAt ?? maxEntries;
    this.#stagger = stagger;
    this.#samples = saved?.sampleIds.toReversed() ?? [];
    this.#size = (saved?.entries.length ?? 0) / this.#fields;
    this.#capacity = Math.max(Math.min(maxEntries, FIRST_CAPACITY), this.#size);
    this.#ring = new Float64Array(this.#fields * this.#capacity);
    if (saved !== undefined) this.#ring.set(saved.entries);
    this.#sharedAs = saved?.sharedAs ?? null;
    this.#stored = saved?.stored ?? 0;
    this.#apart = saved?.apart ?? false;
    this.#unsaved = this.#stored === 0 ? Infinity : 0;
  }

  /**
   * A view of the events up to now. Further views share the sum, so they must count the same events. `countsFrom`: the
   * view counts no event received before, epoch milliseconds.
   */
  open(threshold: number, countsFrom: number): SumView {
    const view = new SumView(this, threshold, countsFrom);
    view.start = this.#size;
    while (view.start > 0 && !view.reachesThreshold) {
      view.start -= 1;
      this.#addTo(view, this.#place(view.start));
    }
    this.#views.push(view);
    return view;
  }

  close(view: SumView): void {
    this.#views = this.#views.filter((other) => other !== view);
  }

  /** Whether this view saves the sum and answers for its memory. */
  isLedBy(view: SumView): boolean {
    return this.#views[0] === view;
  }

  /** Number of entries. */
  get size(): number {
    return this.#size;
  }

  /** Memory of the ring, including unused entries, in bytes. */
  get heldBytes(): number {
    return this.#ring.byteLength + this.#news.byteLength;
  }

  /** Approximate number of bytes that storing the result of {@link save} writes. */
  get unsavedBytes(): number {
    return (
      this.#fields * Float64Array.BYTES_PER_ELEMENT * (this.#isPart() ? this.#unsaved : this.#size) +
      MAX_SAMPLES * BYTES_PER_SAMPLE
    );
  }

  /** Time of the entry: of its newest event, if events share it. */
  timeAt(index: number): number {
    return this.#ring[this.#place(index)]!;
  }

  /** Ids of the newest events that the view sees, at most 10, newest first. */
  sampleIds({ start, count }: SumView): string[] {
    // Entries of counts are never shared.
    const events = this.#form === 'amount' ? count : this.#size - start;
    return this.#samples.toReversed().slice(0, events);
  }

  /** Moves the end of the window to `time` if that is later. */
  moveTo(time: number): void {
    while (this.#size > 0 && this.timeAt(0) <= time - this.#windowMs) {
      for (const view of this.#views) {
        if (view.start === 0) this.#dropFrom(view);
        view.start -= 1;
      }
      this.#dropOldest();
    }
  }

  /**
   * Adds the event, unless another view has already taken it. If some views count it and others do not, which may be
   * while rules are new, those that do get a sum of their own.
   */
  take(event: CountableEvent, amount: number, finalUntil: number): void {
    if (event === this.#taken) return;
    const counts = ({ countsFrom }: SumView) => event.receivedAt >= countsFrom;
    const sum = this.#views.every(counts) ? this : this.#copyFor(this.#views.filter(counts));
    sum.#taken = event;
    sum.add(event, amount, finalUntil);
  }

  /**
   * Adds an event with a positive integer amount, and sets the verdict of each view. A view does not count it if the
   * event is already kept, or is older than the window or than all events that reach the view's threshold. No more
   * events come with times up to `finalUntil`.
   */
  add({ time, identity, id }: Occurrence, amount: number, finalUntil: number): void {
    this.moveTo(time);
    let index = this.#countUpTo(time, identity);
    if (!this.#isCountedAt(index, time, identity)) return;
    for (const view of this.#views) {
      while (view.counts && index > view.start && this.#isEnoughWithoutOldest(view, amount)) this.#dropFrom(view);
    }
    index -= this.#dropUnused();
    if (this.#size >= this.#shareAt) {
      this.#makeRoom(finalUntil);
      index = this.#countUpTo(time, identity);
    }
    this.#insert(index, time, identity, amount);
    for (const view of this.#views) {
      if (view.counts) this.#addTo(view, this.#place(index));
      else view.start += 1;
      view.decide();
    }
    this.#sample(id, this.#size - 1 - index);
  }

  /** What a store needs to be up to date, if it has everything that was saved before. */
  save(view: SumView): SavedSum {
    const isShared = this.#views.length > 1 || this.#sharedAs !== null;
    if (isShared) this.#sharedAs ??= randomUUID();
    const about = this.#about();
    if (!this.isLedBy(view)) {
      // The first view writes the entries, and this one refers to them.
      const stored = this.#isPart() ? this.#stored + this.#unsaved : this.#size;
      return { ...about, entries: new Float64Array(), stored, apart: true };
    }
    if (this.#isPart()) {
      const entries = this.#news.slice(0, this.#fields * this.#unsaved);
      return { ...about, entries, stored: this.#stored, apart: this.#apart };
    }
    return { ...about, entries: this.#inOrder(this.#size), stored: 0, apart: this.#size > this.#mostTogether };
  }

  /** Call when the results of {@link save} are stored. */
  saved(): void {
    if (this.#isPart()) this.#stored += this.#unsaved;
    else [this.#stored, this.#apart] = [this.#size, this.#size > this.#mostTogether];
    this.#unsaved = 0;
    // Frees a large buffer: most saves have few entries, and there are thousands of sums.
    if (this.#news.length > this.#ring.length / 8) this.#news = new Float64Array();
  }

  #about(): Omit<SavedSum, 'entries' | 'stored' | 'apart'> {
    return {
      ...{ form: this.#form, size: this.#size, sampleIds: this.#samples.toReversed() },
      ...{ sharedAs: this.#sharedAs, stagger: this.#stagger, shareAt: this.#shareAt },
    };
  }

  /** Whether the next save has only the new entries. */
  #isPart(): boolean {
    const all = this.#size;
    if (all < MIN_SAVED_IN_PARTS || this.#unsaved >= all) return false;
    const most = this.#apart ? all : Math.min(all, this.#mostTogether);
    return this.#stored + this.#unsaved <= most * (MAX_STORED + this.#stagger / 2);
  }

  /** The largest number of entries that are not stored apart. */
  get #mostTogether(): number {
    return this.#sharedAs === null ? MAX_BYTES_TOGETHER / BYTES_PER_ENTRY[this.#form] : -1;
  }

  #amountAt(place: number): number {
    return this.#form === 'unit' ? 1 : this.#ring[place + 2]!;
  }

  #countAt(place: number): number {
    return this.#form === 'amount' ? this.#ring[place + 3]! : this.#amountAt(place);
  }

  /** Whether a view counts an event that would become the entry with this index. Prepares the views for it. */
  #isCountedAt(index: number, time: number, identity: number): boolean {
    const before = index > 0 ? this.#place(index - 1) : -1;
    const isKept = index > 0 && this.#ring[before] === time && this.#ring[before + 1] === identity;
    const isTooOld = index === 0 && this.#size > 0 && time <= this.timeAt(this.#size - 1) - this.#windowMs;
    let isCounted = false;
    for (const view of this.#views) {
      view.prepare(!isKept && !isTooOld && (index > view.start || !view.reachesThreshold));
      isCounted ||= view.counts;
    }
    return isCounted;
  }

  #addTo(view: SumView, place: number): void {
    view.total += this.#amountAt(place);
    view.count += this.#countAt(place);
  }

  #dropFrom(view: SumView): void {
    const place = this.#place(view.start);
    view.total -= this.#amountAt(place);
    view.count -= this.#countAt(place);
    view.start += 1;
  }

  /** Whether the view's threshold is reached with `amount` added and its oldest entry removed. */
  #isEnoughWithoutOldest(view: SumView, amount: number): boolean {
    return view.total + amount - this.#amountAt(this.#place(view.start)) >= view.threshold;
  }

  /** Drops the entries that no view sees. Returns how many these were. */
  #dropUnused(): number {
    let unused = this.#size;
    for (const { start } of this.#views) unused = Math.min(unused, start);
    if (unused === 0) return 0;
    for (const view of this.#views) view.start -= unused;
    for (let n = 0; n < unused; n += 1) this.#dropOldest();
    return unused;
  }

  /** Number of entries that are not newer than this event. */
  #countUpTo(time: number, identity: number): number {
    let low = 0;
    let high = this.#size;
    // Nearly every event is newer than all before it, so the search starts at the end.
    for (let middle = high - 1; low < high; middle = (low + high) >>> 1) {
      const place = this.#place(middle);
      const notNewer = this.#ring[place]! < time || (this.#ring[place] === time && this.#ring[place + 1]! <= identity);
      if (notNewer) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #insert(index: number, time: number, identity: number, amount: number): void {
    if (this.#form === 'unit' && amount > 1) this.#widen();
    if (this.#size === this.#capacity) this.#grow();
    for (let newer = this.#size; newer > index; newer -= 1) this.#copy(newer - 1, newer);
    const place = this.#place(index);
    this.#ring[place] = time;
    this.#ring[place + 1] = identity;
    if (this.#form !== 'unit') this.#ring[place + 2] = amount;
    if (this.#form === 'amount') this.#ring[place + 3] = 1;
    this.#size += 1;
    // The oldest entry needs no special case: the dropped entries that a store still has are older.
    if (this.#unsaved >= this.#size) this.#unsaved = Infinity;
    else this.#remember(place);
  }

  /** Notes that the store lacks the entry at `place`. */
  #remember(place: number): void {
    const end = this.#fields * this.#unsaved;
    if (end === this.#news.length) {
      const larger = new Float64Array(Math.max(this.#fields * FIRST_CAPACITY, 2 * end));
      larger.set(this.#news);
      this.#news = larger;
    }
    for (let field = 0; field < this.#fields; field += 1) this.#news[end + field] = this.#ring[place + field]!;
    this.#unsaved += 1;
  }

  #dropOldest(): void {
    this.#start = this.#start + 1 === this.#capacity ? 0 : this.#start + 1;
    this.#size -= 1;
  }

  #makeRoom(finalUntil: number): void {
    this.#shareEntries(finalUntil);
    // Each further view keeps up to two entries from being shared.
    const enough = this.#maxEntries * 0.75 + 2 * (this.#views.length - 1);
    if (this.#size > enough) this.#shareEntries(Infinity);
    this.#shareAt = this.#size < this.#maxEntries * 0.9 ? this.#maxEntries : Math.ceil(this.#size * 1.25);
  }

  /**
   * Merges entries up to `until` that lie in the same slice of time. The oldest of each view keeps its own entry. All
   * others together do not reach its threshold, so no shared entry does, however often entries are merged.
   */
  #shareEntries(until: number): void {
    const stretchMs = this.#windowMs / (this.#maxEntries / 2);
    const oldest = Map.groupBy(this.#views, ({ start }) => start);
    let last = 0;
    for (let index = 1; index < this.#size; index += 1) {
      const time = this.timeAt(index);
      const isAlone = oldest.has(index) || oldest.has(index - 1);
      if (!isAlone && time <= until && Math.floor(time / stretchMs) === Math.floor(this.timeAt(last) / stretchMs)) {
        const [from, to] = [this.#place(index), this.#place(last)];
        this.#ring[to] = time;
        this.#ring[to + 1] = this.#ring[from + 1]!;
        this.#ring[to + 2]! += this.#ring[from + 2]!;
        this.#ring[to + 3]! += this.#ring[from + 3]!;
      } else {
        last += 1;
        this.#copy(index, last);
        for (const view of oldest.get(index) ?? []) view.start = last;
      }
    }
    // Those that will see only the event that is being added.
    for (const view of oldest.get(this.#size) ?? []) view.start = last + 1;
    this.#size = last + 1;
    this.#unsaved = Infinity;
  }

  /** Moves these views to a new sum of the same events. */
  #copyFor(views: readonly SumView[]): SlidingSum {
    const copy = new SlidingSum({
      ...{ form: this.#form, windowMs: this.#windowMs, maxEntries: this.#maxEntries, stagger: this.#stagger },
      saved: {
        ...this.#about(),
        ...{ entries: this.#inOrder(this.#size), stored: 0, apart: false, sharedAs: null },
      },
    });
    for (const view of views) {
      this.close(view);
      view.sum = copy;
      copy.#views.push(view);
    }
    return copy;
  }

  /** Offset in the ring of the entry with this index. */
  #place(index: number): number {
    const at = this.#start + index;
    return this.#fields * (at < this.#capacity ? at : at - this.#capacity);
  }

  #copy(from: number, to: number): void {
    const [source, target] = [this.#place(from), this.#place(to)];
    for (let field = 0; field < this.#fields; field += 1) this.#ring[target + field] = this.#ring[source + field]!;
  }

  /** Adds room for a count to each entry. */
  #widen(): void {
    const wide = new Float64Array(FIELDS.count * this.#capacity);
    for (let index = 0; index < this.#size; index += 1) {
      const place = this.#place(index);
      wide.set([this.#ring[place]!, this.#ring[place + 1]!, 1], FIELDS.count * index);
    }
    [this.#form, this.#fields] = ['count', FIELDS.count];
    [this.#ring, this.#news, this.#start] = [wide, new Float64Array(), 0];
    // Parts of another form cannot be added to what is stored.
    this.#unsaved = Infinity;
  }

  #grow(): void {
    const larger = Math.min(this.#shareAt, this.#capacity * 2);
    this.#ring = this.#inOrder(larger);
    this.#capacity = larger;
    this.#start = 0;
  }

  /** A copy of all entries in order, with room for `capacity` of them. */
  #inOrder(capacity: number): Float64Array {
    const ordered = new Float64Array(this.#fields * capacity);
    const length = this.#fields * this.#size;
    const start = this.#place(0);
    const untilEnd = Math.min(length, this.#ring.length - start);
    ordered.set(this.#ring.subarray(start, start + untilEnd));
    ordered.set(this.#ring.subarray(0, length - untilEnd), untilEnd);
    return ordered;
  }

  #sample(id: string, newerOnes: number): void {
    if (newerOnes >= MAX_SAMPLES) return;
    if (newerOnes === 0) this.#samples.push(id);
    else this.#samples.splice(-newerOnes, 0, id);
    if (this.#samples.length > MAX_SAMPLES) this.#samples.shift();
  }
}
