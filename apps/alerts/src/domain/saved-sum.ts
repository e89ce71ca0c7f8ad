/** What a store keeps of a `SlidingSum`, or what has changed of it. */
export interface SavedSum {
  form: EntryForm;
  /** The numbers of each entry, oldest first: see {@link EntryForm}. Maybe not all of them: see {@link isWhole}. */
  entries: Float64Array;
  /** How many entries the sum has. */
  size: number;
  /** Newest first. */
  sampleIds: string[];
  /**
   * How many entries a store has already that these are added to, left ones and repeated ones too. 0: it has none, or
   * has to take the sum whole.
   */
  stored: number;
  /** Whether the store has these entries apart from what else there is of the window, since they are many. */
  apart: boolean;
}

/**
 * Which numbers an entry has. `unit`: time and identity, as each counts 1. `count`: also a count, which is its amount.
 * `amount`: also an amount.
 */
export type EntryForm = 'unit' | 'count' | 'amount';

/** Numbers of an entry. */
export const FIELDS = { unit: 2, count: 3, amount: 4 };
export const BYTES_PER_ENTRY = {
  unit: FIELDS.unit * Float64Array.BYTES_PER_ELEMENT,
  count: FIELDS.count * Float64Array.BYTES_PER_ELEMENT,
  amount: FIELDS.amount * Float64Array.BYTES_PER_ELEMENT,
};

/** Whether what was saved are all entries of the sum. Else they are a part, for {@link joinParts}. */
export function isWhole({ stored }: SavedSum): boolean {
  return stored === 0;
}

/**
 * All entries of a sum that was saved whole and then in parts: the newest `size` of them, each once. Parts may repeat
 * entries.
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
  // They are nearly in order, which this takes little time for.
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
