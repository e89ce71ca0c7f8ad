/** The stored form of a `SlidingSum`, or of its changes. */
export interface SavedSum {
  form: EntryForm;
  /** The numbers of each entry, oldest first: see {@link EntryForm}. May be only a part: see {@link isWhole}. */
  entries: Float64Array;
  /** Number of entries of the sum. */
  size: number;
  /** Newest first. */
  sampleIds: string[];
  /**
   * Number of entries in the store that these are appended to, including expired and repeated ones. 0 if the store has
   * none or must replace them all.
   */
  stored: number;
  /** Whether the entries are stored apart from the rest of the window, since they are many or shared. */
  apart: boolean;
  /** Id under which the entries are stored if several windows share them; null if they are those of one window. */
  sharedAs: string | null;
  /** See `SlidingSumOptions`. */
  stagger: number;
  /** With this many entries, events begin to share entries. */
  shareAt: number;
}

/**
 * The numbers of an entry. `unit`: time and identity, as each event counts 1. `count`: also a count, which is its
 * amount. `amount`: also an amount.
 */
export type EntryForm = 'unit' | 'count' | 'amount';

/** How many numbers an entry has. */
export const FIELDS = { unit: 2, count: 3, amount: 4 };
export const BYTES_PER_ENTRY = {
  unit: FIELDS.unit * Float64Array.BYTES_PER_ELEMENT,
  count: FIELDS.count * Float64Array.BYTES_PER_ELEMENT,
  amount: FIELDS.amount * Float64Array.BYTES_PER_ELEMENT,
};

export function emptySum(form: EntryForm): SavedSum {
  const stored = { stored: 0, apart: false, sharedAs: null, stagger: 0, shareAt: 0 };
  return { form, entries: new Float64Array(), size: 0, sampleIds: [], ...stored };
}

/** Whether all entries of the sum were saved. Otherwise they are a part, for {@link joinParts}. */
export function isWhole({ stored }: SavedSum): boolean {
  return stored === 0;
}

/**
 * All entries of a sum that was saved whole and then in parts: the newest `size` of them, without the repetitions that
 * parts may have.
 */
export function joinParts(
  form: EntryForm,
  saved: readonly Float64Array[],
  size: number,
): Pick<SavedSum, 'form' | 'entries' | 'size'> {
  const fields = FIELDS[form];
  const all = new Float64Array(saved.reduce((total, { length }) => total + length, 0));
  let end = 0;
  for (const part of saved) {
    all.set(part, end);
    end += part.length;
  }
  const places = Array.from({ length: end / fields }, (_, index) => fields * index);
  // The entries are almost sorted, which makes this fast.
  places.sort((a, b) => all[a]! - all[b]! || all[a + 1]! - all[b + 1]!);
  const joined = new Float64Array(fields * Math.min(size, places.length));
  let first = joined.length;
  for (let place = places.pop(); place !== undefined && first > 0; place = places.pop()) {
    if (all[place] === joined[first] && all[place + 1] === joined[first + 1]) continue;
    first -= fields;
    for (let field = 0; field < fields; field += 1) joined[first + field] = all[place + field]!;
  }
  return { form, entries: joined.subarray(first), size: (joined.length - first) / fields };
}
