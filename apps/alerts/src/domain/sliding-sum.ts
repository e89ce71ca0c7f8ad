import { EntryRing } from './entry.ring.ts';
import type { CountableEvent } from './event.ts';
import type { EntryForm, SavedSum } from './saved-sum.ts';
import { SumSaves } from './sum.saves.ts';
import { SumView, type ViewedSum } from './sum.view.ts';

/** The fields that identify an event. */
export type Occurrence = Pick<CountableEvent, 'id' | 'time' | 'identity'>;

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

/**
 * The newest events that reach a threshold or, if they do not, all events in a window that ends with the newest. Older
 * events are dropped: they leave the window before any of these. Rules over the same events share a sum. Each has a
 * view with its own threshold, and the sum keeps what one of them needs.
 *
 * An event in order costs O(views), an event k places late moves k entries, and a duplicate or one older than all
 * others costs O(log n).
 *
 * While there are at most `maxEntries`, an entry is one event. Beyond that, events of the same `windowMs / (maxEntries
 * / 2)` share an entry, which leaves the window with the newest of them. So they count for at most that much too long,
 * and never too short. A duplicate of an event that shares an entry is not recognized, so events that may still repeat
 * are the last to share entries.
 */
export class SlidingSum implements ViewedSum {
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
  readonly #ring: EntryRing;
  readonly #saves: SumSaves;

  constructor({ form, windowMs, maxEntries, stagger = 0, saved }: SlidingSumOptions) {
    this.#windowMs = windowMs;
    this.#maxEntries = maxEntries;
    this.#shareAt = saved?.shareAt ?? maxEntries;
    this.#stagger = stagger;
    this.#samples = saved?.sampleIds.toReversed() ?? [];
    this.#ring = new EntryRing(saved?.form ?? form, saved?.entries ?? new Float64Array(), maxEntries);
    this.#saves = new SumSaves(this.#ring, stagger, saved);
  }

  /**
   * A view of the events up to now. Further views share the sum, so they must count the same events. `countsFrom`: the
   * view counts no event received before, epoch milliseconds.
   */
  open(threshold: number, countsFrom: number): SumView {
    const view = new SumView(this, threshold, countsFrom);
    view.start = this.size;
    while (view.start > 0 && !view.reachesThreshold) {
      view.start -= 1;
      this.#addTo(view, view.start);
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
    return this.#ring.size;
  }

  /** Memory of the entries in bytes, including unused capacity and the copies of unsaved ones. */
  get heldBytes(): number {
    return this.#ring.heldBytes + this.#saves.heldBytes;
  }

  /** Approximate number of bytes that storing the result of {@link save} writes. */
  get unsavedBytes(): number {
    return this.#saves.unsavedBytes + MAX_SAMPLES * BYTES_PER_SAMPLE;
  }

  /** Time of the entry: of its newest event, if events share it. */
  timeAt(index: number): number {
    return this.#ring.timeAt(index);
  }

  /** Ids of the newest events that the view sees, at most 10, newest first. */
  sampleIds({ start, count }: SumView): string[] {
    // Entries of counts are never shared.
    const events = this.#ring.form === 'amount' ? count : this.size - start;
    return this.#samples.toReversed().slice(0, events);
  }

  /** Moves the end of the window to `time` if that is later. */
  moveTo(time: number): void {
    while (this.size > 0 && this.timeAt(0) <= time - this.#windowMs) {
      for (const view of this.#views) {
        if (view.start === 0) this.#dropFrom(view);
        view.start -= 1;
      }
      this.#ring.dropOldest();
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
    let index = this.#ring.countUpTo(time, identity);
    if (!this.#isCountedAt(index, time, identity)) return;
    for (const view of this.#views) {
      while (view.counts && index > view.start && this.#isEnoughWithoutOldest(view, amount)) this.#dropFrom(view);
    }
    index -= this.#dropUnused();
    if (this.size >= this.#shareAt) {
      this.#makeRoom(finalUntil);
      index = this.#ring.countUpTo(time, identity);
    }
    this.#insert(index, time, identity, amount);
    for (const view of this.#views) {
      if (!view.counts) {
        view.start += 1;
        continue;
      }
      this.#addTo(view, index);
      view.decide();
    }
    this.#sample(id, this.size - 1 - index);
  }

  /** What a store needs to be up to date, if it has everything that was saved before. */
  save(view: SumView): SavedSum {
    return { ...this.#about(), ...this.#saves.save(this.#views.length > 1, this.isLedBy(view)) };
  }

  /** Call when the results of {@link save} are stored. */
  saved(): void {
    this.#saves.saved();
  }

  #about(): Omit<SavedSum, 'entries' | 'stored' | 'apart' | 'sharedAs'> {
    const { form, size } = this.#ring;
    const sampleIds = this.#samples.toReversed();
    return { form, size, sampleIds, stagger: this.#stagger, shareAt: this.#shareAt };
  }

  /** Whether a view counts an event that would become the entry with this index. Prepares the views for it. */
  #isCountedAt(index: number, time: number, identity: number): boolean {
    const isKept = index > 0 && this.#ring.isEvent(index - 1, time, identity);
    const isTooOld = index === 0 && this.size > 0 && time <= this.timeAt(this.size - 1) - this.#windowMs;
    let isCounted = false;
    for (const view of this.#views) {
      view.prepare(!isKept && !isTooOld && (index > view.start || !view.reachesThreshold));
      isCounted ||= view.counts;
    }
    return isCounted;
  }

  #addTo(view: SumView, index: number): void {
    view.total += this.#ring.amountAt(index);
    view.count += this.#ring.countAt(index);
  }

  #dropFrom(view: SumView): void {
    view.total -= this.#ring.amountAt(view.start);
    view.count -= this.#ring.countAt(view.start);
    view.start += 1;
  }

  /** Whether the view's threshold is reached with `amount` added and its oldest entry removed. */
  #isEnoughWithoutOldest(view: SumView, amount: number): boolean {
    return view.total + amount - this.#ring.amountAt(view.start) >= view.threshold;
  }

  /** Drops the entries that no view sees. Returns how many these were. */
  #dropUnused(): number {
    let unused = this.size;
    for (const { start } of this.#views) unused = Math.min(unused, start);
    if (unused === 0) return 0;
    for (const view of this.#views) view.start -= unused;
    for (let n = 0; n < unused; n += 1) this.#ring.dropOldest();
    return unused;
  }

  #insert(index: number, time: number, identity: number, amount: number): void {
    if (this.#ring.form === 'unit' && amount > 1) {
      this.#ring.widen();
      // Parts of another form cannot be added to what is stored.
      this.#saves.markAllUnsaved();
    }
    this.#ring.insert(index, time, identity, amount);
    this.#saves.markUnsaved(index);
  }

  #makeRoom(finalUntil: number): void {
    this.#shareEntries(finalUntil);
    // Each further view keeps up to two entries from being shared.
    const enough = this.#maxEntries * 0.75 + 2 * (this.#views.length - 1);
    if (this.size > enough) this.#shareEntries(Infinity);
    this.#shareAt = this.size < this.#maxEntries * 0.9 ? this.#maxEntries : Math.ceil(this.size * 1.25);
  }

  /**
   * Merges entries up to `until` that lie in the same slice of time. The oldest of each view keeps its own entry. All
   * others together do not reach its threshold, so no shared entry does, however often entries are merged.
   */
  #shareEntries(until: number): void {
    const stretchMs = this.#windowMs / (this.#maxEntries / 2);
    const oldest = Map.groupBy(this.#views, ({ start }) => start);
    let last = 0;
    for (let index = 1; index < this.size; index += 1) {
      const time = this.timeAt(index);
      const isAlone = oldest.has(index) || oldest.has(index - 1);
      if (!isAlone && time <= until && Math.floor(time / stretchMs) === Math.floor(this.timeAt(last) / stretchMs)) {
        this.#ring.merge(index, last);
      } else {
        last += 1;
        this.#ring.move(index, last);
        for (const view of oldest.get(index) ?? []) view.start = last;
      }
    }
    // Those that will see only the event that is being added.
    for (const view of oldest.get(this.size) ?? []) view.start = last + 1;
    this.#ring.keepOldest(last + 1);
    this.#saves.markAllUnsaved();
  }

  /** Moves these views to a new sum of the same events. */
  #copyFor(views: readonly SumView[]): SlidingSum {
    const copy = new SlidingSum({
      ...{ form: this.#ring.form, windowMs: this.#windowMs, maxEntries: this.#maxEntries, stagger: this.#stagger },
      saved: { ...this.#about(), entries: this.#ring.inOrder(), stored: 0, apart: false, sharedAs: null },
    });
    for (const view of views) {
      this.close(view);
      view.sum = copy;
      copy.#views.push(view);
    }
    return copy;
  }

  #sample(id: string, newerOnes: number): void {
    if (newerOnes >= MAX_SAMPLES) return;
    if (newerOnes === 0) this.#samples.push(id);
    else this.#samples.splice(-newerOnes, 0, id);
    if (this.#samples.length > MAX_SAMPLES) this.#samples.shift();
  }
}
