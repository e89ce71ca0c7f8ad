import { randomUUID } from 'node:crypto';
import type { EntryRing } from './entry.ring.ts';
import { BYTES_PER_ENTRY, type SavedSum } from './saved-sum.ts';

/** A sum with fewer entries is always saved whole. */
export const MIN_SAVED_IN_PARTS = 128;
/** A save is whole if the store would otherwise have over this (up to half more) times the sum's entries. */
const MAX_STORED = 1.5;
/** A larger sum is stored apart: a store rewrites a whole document when a part of it changes. */
const MAX_BYTES_TOGETHER = 16 * 1024;
const FIRST_NEWS_CAPACITY = 16;

type SavedEntries = Pick<SavedSum, 'entries' | 'stored' | 'apart' | 'sharedAs'>;

/** Which entries of a ring a store lacks, and so whether the next save has all of them or only the new ones. */
export class SumSaves {
  readonly #ring: EntryRing;
  readonly #stagger: number;
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

  constructor(ring: EntryRing, stagger: number, saved?: SavedEntries) {
    this.#ring = ring;
    this.#stagger = stagger;
    this.#stored = saved?.stored ?? 0;
    this.#apart = saved?.apart ?? false;
    this.#sharedAs = saved?.sharedAs ?? null;
    this.#unsaved = this.#stored === 0 ? Infinity : 0;
  }

  get heldBytes(): number {
    return this.#news.byteLength;
  }

  /** Approximate number of bytes of entries that the next save writes. */
  get unsavedBytes(): number {
    return BYTES_PER_ENTRY[this.#ring.form] * (this.#isPart() ? this.#unsaved : this.#ring.size);
  }

  /** Notes that the store lacks the entry with this index. */
  markUnsaved(index: number): void {
    // The oldest entry needs no special case: the dropped entries that a store still has are older.
    if (this.#unsaved >= this.#ring.size) {
      this.#unsaved = Infinity;
      return;
    }
    const end = this.#ring.fields * this.#unsaved;
    if (end === this.#news.length) {
      const larger = new Float64Array(Math.max(this.#ring.fields * FIRST_NEWS_CAPACITY, 2 * end));
      larger.set(this.#news);
      this.#news = larger;
    }
    this.#ring.copyTo(this.#news, end, index);
    this.#unsaved += 1;
  }

  /** Notes that the store lacks all entries, or that its copies are outdated. */
  markAllUnsaved(): void {
    this.#unsaved = Infinity;
    this.#news = new Float64Array();
  }

  /**
   * What a store needs to be up to date. `isLeader`: whether the view that is saved writes the entries. The other views
   * of the sum only refer to them.
   */
  save(hasSeveralViews: boolean, isLeader: boolean): SavedEntries {
    if (hasSeveralViews) this.#sharedAs ??= randomUUID();
    const sharedAs = this.#sharedAs;
    const isPart = this.#isPart();
    if (!isLeader) {
      const stored = isPart ? this.#stored + this.#unsaved : this.#ring.size;
      return { entries: new Float64Array(), stored, apart: true, sharedAs };
    }
    if (!isPart) return { entries: this.#ring.inOrder(), stored: 0, apart: this.#goesApart, sharedAs };
    const entries = this.#news.slice(0, this.#ring.fields * this.#unsaved);
    return { entries, stored: this.#stored, apart: this.#apart, sharedAs };
  }

  /** Call when the results of {@link save} are stored. */
  saved(): void {
    if (this.#isPart()) this.#stored += this.#unsaved;
    else [this.#stored, this.#apart] = [this.#ring.size, this.#goesApart];
    this.#unsaved = 0;
    // Frees a large buffer: most saves have few entries, and there are thousands of sums.
    if (this.#news.byteLength > this.#ring.heldBytes / 8) this.#news = new Float64Array();
  }

  /** Whether the next save has only the new entries. */
  #isPart(): boolean {
    const all = this.#ring.size;
    if (all < MIN_SAVED_IN_PARTS || this.#unsaved >= all) return false;
    const most = this.#apart ? all : Math.min(all, this.#mostTogether);
    return this.#stored + this.#unsaved <= most * (MAX_STORED + this.#stagger / 2);
  }

  /** Whether the entries are stored apart from the window when all are saved. */
  get #goesApart(): boolean {
    return this.#ring.size > this.#mostTogether;
  }

  /** The largest number of entries that are not stored apart. */
  get #mostTogether(): number {
    return this.#sharedAs === null ? MAX_BYTES_TOGETHER / BYTES_PER_ENTRY[this.#ring.form] : -1;
  }
}
