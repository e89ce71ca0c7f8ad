import { isSpend, SPEND_SETTLED, type DashboardEvent } from './event.ts';
import type { ReadMeter } from './reads.ts';

/**
 * A place in the list of a workspace's settlements, which is ordered by time and id. Neither changes, so a place stays
 * valid however events are stored meanwhile.
 */
export interface SettlementPlace {
  /** Epoch milliseconds. */
  time: number;
  /** The id of the last settlement with this time before the place; empty if there is none. */
  after: string;
}

export interface SettlementPage {
  /** In order, each followed by its corrections in the order in which they were made. */
  settlements: DashboardEvent[];
  /** Where the next page begins; null after the last page. */
  next: SettlementPlace | null;
}

/**
 * What a page may have, unless its reader wants another number of settlements. An answer has less than 4 MiB, and a
 * settlement at most some 15 KiB.
 */
export const PAGE_LIMITS = { settlements: 400, bytes: 3 * 1024 * 1024 };

/**
 * Collects the first settlements after a place, as many as a page may have, from events in any order. Corrections count
 * as settlements, and are always on the page of theirs.
 */
export interface PageCollector {
  add(event: DashboardEvent): void;
  /** Whether the page is full without settlements of `time` or later. */
  isFullBefore(time: number): boolean;
  /** The page, if all events before `readUntil` were added. */
  page(readUntil: number): { settlements: DashboardEvent[]; next: SettlementPlace };
}

/** Keeps about twice as much as a page has, however many events are added. */
export function collectPage(from: SettlementPlace, limits: typeof PAGE_LIMITS, meter: ReadMeter): PageCollector {
  const kept: DashboardEvent[] = [];
  let bytes = 0;
  /** The last settlement that had room when others had none. Further ones have room only before it. */
  let cut: DashboardEvent | undefined;

  const isFull = (): boolean => cut !== undefined || kept.length >= limits.settlements;

  function trim(): void {
    kept.sort(byPlace);
    let count = 0;
    bytes = 0;
    while (count < Math.min(kept.length, limits.settlements)) {
      const size = bytesOf(kept[count]!);
      if (count > 0 && bytes + size > limits.bytes) break;
      bytes += size;
      count += 1;
    }
    while (count < kept.length && isSamePlace(kept[count]!, kept[count - 1]!)) {
      bytes += bytesOf(kept[count]!);
      count += 1;
    }
    if (count === kept.length) return;
    kept.length = count;
    cut = kept.at(-1);
  }

  return {
    add(event) {
      if (!isSpend(event) || comparePlaces(placeAfter(event), from) <= 0) return;
      if (cut !== undefined && comparePlaces(placeAfter(event), placeAfter(cut)) > 0) return;
      const size = bytesOf(event);
      meter.take(size);
      kept.push(event);
      bytes += size;
      if (kept.length >= 2 * limits.settlements || bytes >= 2 * limits.bytes) trim();
    },
    isFullBefore(time) {
      if (cut === undefined && kept.length < limits.settlements && bytes < limits.bytes) return false;
      trim();
      return isFull() && kept.at(-1)!.time < time;
    },
    page(readUntil) {
      trim();
      const settlements = kept.filter(({ time }) => time < readUntil);
      const isCut = isFull() && settlements.length === kept.length;
      return { settlements, next: isCut ? placeAfter(kept.at(-1)!) : { time: readUntil, after: '' } };
    },
  };
}

function placeAfter({ time, data }: DashboardEvent): SettlementPlace {
  return { time, after: data.settlement_id ?? '' };
}

function byPlace(a: DashboardEvent, b: DashboardEvent): number {
  return comparePlaces(placeAfter(a), placeAfter(b)) || correctedMs(a) - correctedMs(b);
}

function isSamePlace(a: DashboardEvent, b: DashboardEvent): boolean {
  return comparePlaces(placeAfter(a), placeAfter(b)) === 0;
}

function correctedMs({ type, data }: DashboardEvent): number {
  return type === SPEND_SETTLED ? 0 : (data.corrected_ms ?? 0);
}

function comparePlaces(a: SettlementPlace, b: SettlementPlace): number {
  if (a.time !== b.time) return a.time - b.time;
  if (a.after === b.after) return 0;
  return a.after < b.after ? -1 : 1;
}

/** Most bytes that Protocol Buffers add to a text or a number: tags and lengths, also of an entry of a map. */
const FIELD_BYTES = 12;
/** Most bytes of a UTF-16 unit in UTF-8. To measure each text would take most of the time of a page. */
const UNIT_BYTES = 3;
/** The texts of a settlement in an answer, besides labels. Its numbers are times and the amount. */
const TEXTS = [
  ...(['settlement_id', 'agent_id', 'plan_key', 'model', 'provider', 'key_id', 'reservation_id'] as const),
  'lease_id',
] as const;
const FIXED_BYTES = (1 + TEXTS.length + 3) * FIELD_BYTES;

/** At least the size of the settlement in an answer. */
function bytesOf({ data }: DashboardEvent): number {
  let bytes = FIXED_BYTES;
  for (const field of TEXTS) bytes += UNIT_BYTES * (data[field]?.length ?? 0);
  for (const name in data.labels) bytes += FIELD_BYTES + name.length + UNIT_BYTES * data.labels[name]!.length;
  return bytes;
}
