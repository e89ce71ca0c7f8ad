import { type Entry, hashOf, type Place, RETENTION_MS } from './entry.ts';

/** The first fault of a chain. */
export interface Fault {
  kind: 'altered' | 'missing';
  /** Sequence of the altered record, or of the first missing one. */
  sequence: number;
  /** Only for an altered record. */
  recordId?: string;
  reason: string;
}

export interface ChainFacts {
  /** In the order of their sequence. */
  entries: AsyncIterable<Entry & { isListed: boolean }>;
  /** The stored end of the chain before the entries are read; null if none is stored. */
  head: Place | null;
  /** The stored end after the entries were read, as records may have been added. */
  headBehind: () => Promise<Place | null>;
  /** The end of the chain at an earlier verification. */
  anchor?: Place | undefined;
  /** Epoch milliseconds. */
  now: () => number;
}

/**
 * The first fault of a chain; null if it is intact. Only records older than their retention may be missing: each entry
 * says when the one before it was recorded.
 */
export async function verifyChain({ entries, head, headBehind, anchor, now }: ChainFacts): Promise<Fault | null> {
  const isExpired = ({ recordedAt }: Pick<Place, 'recordedAt'>): boolean =>
    recordedAt.getTime() + RETENTION_MS <= now();
  let last: Entry | null = null;
  for await (const entry of entries) {
    const fault = alterationOf(entry) ?? gapBefore(entry, last, isExpired) ?? offAnchor(entry, anchor);
    if (fault !== null) return fault;
    last = entry;
  }
  return truncation(last, { head, anchor, isExpired }) ?? wrongEnd(last, await headBehind());
}

function alterationOf(entry: Entry & { isListed: boolean }): Fault | null {
  const { id: recordId, sequence } = entry;
  if (hashOf(entry) !== entry.hash) {
    return { kind: 'altered', sequence, recordId, reason: 'its content does not match its hash' };
  }
  if (!entry.isListed) return { kind: 'altered', sequence, recordId, reason: 'it is hidden from lists (facets)' };
  return null;
}

function gapBefore(
  entry: Entry,
  last: Entry | null,
  isExpired: (place: Omit<Place, 'sequence'>) => boolean,
): Fault | null {
  const { sequence, previous } = entry;
  const expected = (last?.sequence ?? 0) + 1;
  if (sequence !== expected) {
    // The oldest records expire, even during the read.
    if (sequence > expected && previous !== null && isExpired(previous)) return null;
    return { kind: 'missing', sequence: expected, reason: `the next stored record is ${sequence}` };
  }
  if ((last?.hash ?? null) === (previous?.hash ?? null)) return null;
  return {
    kind: 'altered',
    sequence: last?.sequence ?? sequence,
    recordId: (last ?? entry).id,
    reason: `record ${sequence} has a different hash of the record before it`,
  };
}

function offAnchor({ id, sequence, hash }: Entry, anchor: Place | undefined): Fault | null {
  if (sequence !== anchor?.sequence || hash === anchor.hash) return null;
  return { kind: 'altered', sequence, recordId: id, reason: 'its hash was different at the earlier verification' };
}

/** Entries missing at the end, although the head or an earlier verification knows them. */
function truncation(
  last: Entry | null,
  { head, anchor, isExpired }: { isExpired: (place: Place) => boolean } & Pick<ChainFacts, 'head' | 'anchor'>,
): Fault | null {
  const lastSequence = last?.sequence ?? 0;
  for (const [place, known] of [
    [head, 'the chain ended'],
    [anchor, 'the earlier verification ended'],
  ] as const) {
    if (!place || place.sequence <= lastSequence || isExpired(place)) continue;
    return { kind: 'missing', sequence: lastSequence + 1, reason: `${known} at record ${place.sequence}` };
  }
  return null;
}

/** Checks the end, unless records were added after the last entry. */
function wrongEnd(last: Entry | null, head: Place | null): Fault | null {
  if (last === null) return null;
  if (head !== null && head.sequence > last.sequence) return null;
  if (head?.sequence === last.sequence && head.hash === last.hash) return null;
  const reason = head === null ? 'the end of the chain is not stored' : 'the stored end of the chain is different';
  return { kind: 'altered', sequence: last.sequence, recordId: last.id, reason };
}
