/** A matching event as a window keeps it. */
export interface Occurrence {
  /** Event time, epoch milliseconds. */
  time: number;
  /** See `CountableEvent.identity`. */
  identity: number;
  id: string;
}

/** What a store keeps of {@link NewestEvents}: times and identities oldest first, ids newest first. */
export interface SavedEvents {
  times: Float64Array;
  identities: Float64Array;
  sampleIds: string[];
}

/** The newest events of a rule, ordered by time and, where times are equal, by identity. */
export interface NewestEvents {
  readonly size: number;
  /** False when the event is kept already, or is older than all of `limit` kept ones: then nothing changes. */
  add(event: Occurrence): boolean;
  /** Time of an event, the oldest one having index 0. */
  timeAt(index: number): number;
  /** Ids of the newest events, at most {@link MAX_SAMPLES}, newest first. */
  sampleIds(): string[];
  save(): SavedEvents;
}

export const MAX_SAMPLES = 10;
const FIRST_CAPACITY = 16;

/**
 * Keeps the newest `limit` events in a ring that grows as they come: 16 bytes for each. Events that arrive in their order
 * cost O(1), an event that is k places late O(k).
 */
export function createNewestEvents(limit: number, saved?: SavedEvents): NewestEvents {
  /** Of the newest events, the oldest of them first. */
  const samples = saved?.sampleIds.toReversed() ?? [];
  let capacity = Math.min(limit, Math.max(FIRST_CAPACITY, saved?.times.length ?? 0));
  let times = new Float64Array(capacity);
  let identities = new Float64Array(capacity);
  let start = 0;
  let size = saved?.times.length ?? 0;
  if (saved !== undefined) {
    times.set(saved.times);
    identities.set(saved.identities);
  }

  /** Where in the ring the event with this index is. */
  function slot(index: number): number {
    const at = start + index;
    return at < capacity ? at : at - capacity;
  }

  function inOrder(ring: Float64Array, length: number): Float64Array<ArrayBuffer> {
    const ordered = new Float64Array(length);
    const untilEnd = Math.min(size, capacity - start);
    ordered.set(ring.subarray(start, start + untilEnd));
    ordered.set(ring.subarray(0, size - untilEnd), untilEnd);
    return ordered;
  }

  function grow(): void {
    const larger = Math.min(limit, capacity * 2);
    times = inOrder(times, larger);
    identities = inOrder(identities, larger);
    capacity = larger;
    start = 0;
  }

  /** How many of the events are not newer than this one. */
  function countUpTo({ time, identity }: Occurrence): number {
    let index = size;
    while (index > 0) {
      const at = slot(index - 1);
      if (times[at]! < time || (times[at] === time && identities[at]! <= identity)) break;
      index -= 1;
    }
    return index;
  }

  function add(event: Occurrence): boolean {
    let index = countUpTo(event);
    if (index > 0) {
      const before = slot(index - 1);
      if (times[before] === event.time && identities[before] === event.identity) return false;
    }
    if (size === limit) {
      if (index === 0) return false;
      start = slot(1);
      size -= 1;
      index -= 1;
    } else if (size === capacity) {
      grow();
    }
    for (let newer = size; newer > index; newer -= 1) {
      times[slot(newer)] = times[slot(newer - 1)]!;
      identities[slot(newer)] = identities[slot(newer - 1)]!;
    }
    times[slot(index)] = event.time;
    identities[slot(index)] = event.identity;
    const newerOnes = size - index;
    size += 1;
    if (newerOnes === 0) samples.push(event.id);
    else if (newerOnes < MAX_SAMPLES) samples.splice(-newerOnes, 0, event.id);
    if (samples.length > Math.min(MAX_SAMPLES, size)) samples.shift();
    return true;
  }

  return {
    get size() {
      return size;
    },
    add,
    timeAt: (index) => times[slot(index)]!,
    sampleIds: () => samples.toReversed(),
    save: () => ({
      times: inOrder(times, size),
      identities: inOrder(identities, size),
      sampleIds: samples.toReversed(),
    }),
  };
}
