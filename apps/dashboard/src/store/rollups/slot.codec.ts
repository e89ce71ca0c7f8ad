import type { WorkspaceSlot } from '../../domain/rollup.ts';
import { addTally, emptyTally, MEASURES, type Tally } from '../../domain/tally.ts';
import type { ByteReader, ByteWriter } from '../bytes.ts';

/**
 * The packed form of the slots of a roll-up. All numbers are varints.
 *
 *     slot:   number, tally, and in the workspace zigzag(runs started)
 *     tally:  mask, then each measure whose bit is set. Bit 0 is the first measure of the page
 *
 * The measures are divided into pages. What a slot has of page n, from 0, follows it as a slot with its number + 64n,
 * unless it is nothing. A release that does not know the page takes it for a slot of no time: it skips it, and copies
 * it when it adds to others.
 *
 * A tally without a measure has 0 of it. A sum is never less: a correction that finds no settlement adds nothing. So a
 * new measure may be appended, on a new page, but none may ever be moved.
 */
const NAMES = Object.keys(MEASURES) as (keyof Tally)[];
const IS_TIME = NAMES.map((name) => MEASURES[name].of === 'time');
const IS_SUM = NAMES.map((name) => MEASURES[name].combine === 'sum');
/** The measures of each page, by index. Bit 6 of any slot is a time to release 0.1.0, which knows the first page. */
const PAGES = [
  { from: 0, until: 7 },
  { from: 7, until: 13 },
];
/** All slots have lower numbers. */
const PAGE_SLOTS = 64;

/** What slots have beside their number. */
interface SlotForm<Slot> {
  read(reader: ByteReader, start: number): Slot;
  add(into: Slot, more: Slot): void;
  tallyOf(slot: Slot): Tally;
  /** What follows the tally; `slot` is undefined on further pages. */
  writeRest(writer: ByteWriter, slot?: Slot): void;
  skipRest(reader: ByteReader): void;
}

export const IN_ROW: SlotForm<Tally> = {
  read: readTally,
  add: addTally,
  tallyOf: (tally) => tally,
  writeRest: () => undefined,
  skipRest: () => undefined,
};

export const IN_WORKSPACE: SlotForm<WorkspaceSlot> = {
  read(reader, start) {
    const tally = readTally(reader, start);
    const runs = reader.varint();
    return { tally, runsStarted: runs % 2 === 0 ? runs / 2 : -(runs + 1) / 2 };
  },
  add(into, more) {
    addTally(into.tally, more.tally);
    into.runsStarted += more.runsStarted;
  },
  tallyOf: ({ tally }) => tally,
  writeRest(writer, slot) {
    const runs = slot?.runsStarted ?? 0;
    writer.varint(runs < 0 ? -2 * runs - 1 : 2 * runs);
  },
  skipRest: (reader) => void reader.varint(),
};

/** The slots, by number. */
export function* readSlots<Slot>(
  reader: ByteReader,
  start: number,
  form: SlotForm<Slot>,
): Generator<[number: number, slot: Slot]> {
  let held: [number, Slot] | undefined;
  while (reader.more()) {
    const number = reader.varint();
    if (held !== undefined && isFurtherPage(number)) {
      addPage(reader, number, start, form.tallyOf(held[1]));
      form.skipRest(reader);
      continue;
    }
    if (held !== undefined) yield held;
    held = [number, form.read(reader, start)];
  }
  if (held !== undefined) yield held;
}

/** Writes the slots of `held` with the additions to them, then the other additions. Other slots are copied unread. */
export function writeSlots<Slot>(
  writer: ByteWriter,
  start: number,
  added: ReadonlyMap<number, Slot>,
  form: SlotForm<Slot>,
  held: ByteReader,
): void {
  const left = new Map(added);
  /** Its further pages may follow. */
  let open: { number: number; slot: Slot; more: Slot } | undefined;
  const close = (): void => {
    if (open === undefined) return;
    form.add(open.slot, open.more);
    writeSlot(writer, start, open.number, open.slot, form);
    open = undefined;
  };
  while (held.more()) {
    const before = held.at;
    const number = held.varint();
    if (open !== undefined && isFurtherPage(number) && isKnownPage(number)) {
      addPage(held, number, start, form.tallyOf(open.slot));
      form.skipRest(held);
      continue;
    }
    close();
    const more = left.get(number);
    if (more === undefined) {
      skipTally(held);
      form.skipRest(held);
      writer.raw(held.slice(before, held.at));
      continue;
    }
    left.delete(number);
    open = { number, slot: form.read(held, start), more };
  }
  close();
  for (const [number, slot] of left) writeSlot(writer, start, number, slot, form);
}

function writeSlot<Slot>(writer: ByteWriter, start: number, number: number, slot: Slot, form: SlotForm<Slot>): void {
  const tally = form.tallyOf(slot);
  for (let page = 0; page < PAGES.length; page += 1) {
    const { from, until } = PAGES[page]!;
    let mask = 0;
    for (let index = from; index < until; index += 1) if (tally[NAMES[index]!] > 0) mask |= 1 << (index - from);
    if (page > 0 && mask === 0) continue;
    writer.varint(number + page * PAGE_SLOTS);
    writer.varint(mask);
    for (let index = from; index < until; index += 1) {
      const value = tally[NAMES[index]!];
      if (value > 0) writer.varint(IS_TIME[index]! ? value - start : value);
    }
    form.writeRest(writer, page === 0 ? slot : undefined);
  }
}

/**
 * The sums of the slots of a row by span. `spans` maps each slot to its span.
 *
 * Adds in arrays: a query of all agents reads millions of slots, and making a tally for each would take most of its
 * time.
 */
export function sumSlots(row: ByteReader, start: number, spans: ReadonlyMap<number, number>): [number, Tally][] {
  // A query of whole days needs one slot of each row. For that, an array would cost more than a tally.
  if (spans.size === 1) return oneSlot(row, start, spans);
  const sums: { span: number; sum: Float64Array }[] = [];
  let held: (typeof sums)[number] | undefined;
  let unread = spans.size;
  while (row.more()) {
    const number = row.varint();
    if (unread === 0 && !isFurtherPage(number)) break;
    const span = spans.get(number % PAGE_SLOTS);
    if (span === undefined) {
      skipTally(row);
      continue;
    }
    if (!isFurtherPage(number)) unread -= 1;
    // There are few spans, and most slots belong to the same span as the slot before.
    if (held?.span !== span) {
      held = sums.find((one) => one.span === span);
      if (held === undefined) sums.push((held = { span, sum: new Float64Array(NAMES.length) }));
    }
    addPacked(row, number, start, held.sum);
  }
  return sums.map(({ span, sum }) => {
    const tally = emptyTally();
    for (let index = 0; index < NAMES.length; index += 1) tally[NAMES[index]!] = sum[index]!;
    return [span, tally];
  });
}

function oneSlot(row: ByteReader, start: number, spans: ReadonlyMap<number, number>): [number, Tally][] {
  let found: [number, Tally] | undefined;
  while (row.more()) {
    const number = row.varint();
    if (found !== undefined) {
      if (!isFurtherPage(number)) break;
      addPage(row, number, start, found[1]);
      continue;
    }
    const span = spans.get(number);
    if (span === undefined) skipTally(row);
    else found = [span, readTally(row, start)];
  }
  return found === undefined ? [] : [found];
}

function isFurtherPage(number: number): boolean {
  return number >= PAGE_SLOTS;
}

function isKnownPage(number: number): boolean {
  return number < PAGE_SLOTS * PAGES.length;
}

function measuresOf(number: number): (typeof PAGES)[number] | undefined {
  return PAGES[Math.floor(number / PAGE_SLOTS)];
}

/** Adds a packed tally to `into`, which has the measures by index. `number` is that of its slot. */
function addPacked(reader: ByteReader, number: number, start: number, into: Float64Array): void {
  const page = measuresOf(number);
  if (page === undefined) return skipTally(reader);
  let rest = reader.varint();
  for (let index = page.from; rest !== 0; index += 1, rest >>= 1) {
    if ((rest & 1) === 0) continue;
    const value = readMeasure(reader, index, start);
    if (IS_SUM[index]!) into[index]! += value;
    else if (value > into[index]!) into[index] = value;
  }
}

function skipTally(reader: ByteReader): void {
  for (let rest = reader.varint(); rest !== 0; rest >>= 1) if ((rest & 1) !== 0) reader.varint();
}

/** The tally of a slot of the first page. */
function readTally(reader: ByteReader, start: number): Tally {
  const tally = emptyTally();
  addPage(reader, 0, start, tally);
  return tally;
}

/** Adds the packed tally of the slot with this number to `into`, which has nothing of its page. */
function addPage(reader: ByteReader, number: number, start: number, into: Tally): void {
  const page = measuresOf(number);
  if (page === undefined) return skipTally(reader);
  let rest = reader.varint();
  for (let index = page.from; rest !== 0; index += 1, rest >>= 1) {
    if ((rest & 1) !== 0) into[NAMES[index]!] += readMeasure(reader, index, start);
  }
}

function readMeasure(reader: ByteReader, index: number, start: number): number {
  const value = reader.varint();
  return IS_TIME[index]! ? start + value : value;
}
