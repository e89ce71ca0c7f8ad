import { OTHER } from '../../domain/names.ts';
import type { Row, WorkspaceSlot } from '../../domain/rollup.ts';
import { addTally, emptyTally, MEASURES, type Tally } from '../../domain/tally.ts';
import { ByteReader, ByteWriter } from '../bytes.ts';
import { hashOfName, HASH_BYTES, type StoredModel, type StoredRow } from './row.hash.ts';

/**
 * The packed form of a roll-up. All numbers are varints (LEB128), texts are UTF-8 after their length in bytes.
 *
 *     workspace: slot*                          slot: number, tally, zigzag(runs started)
 *     rows:      row*                           row:  length of the rest, name, model, (number, tally)*
 *     model:     0 nothing was settled, 1 no model is named, 2 a hash, else the length of the name + 3, and the name
 *     tally:     mask, then each measure whose bit is set. Bit 0 is the first entry of MEASURES
 *
 * A stored row keeps the form of its model. New divided rows have the hash of the model's name, which takes 7 bytes
 * instead of up to 500; the collection `names` has the names.
 *
 * Slots and rows are in the order of their first event, whatever the batches of events were.
 * A tally without a measure has 0 of it. So new measures may be appended, but none may ever be moved.
 * Times count from the start of the roll-up.
 */
const NAMES = Object.keys(MEASURES) as (keyof Tally)[];
const IS_TIME = NAMES.map((name) => MEASURES[name].of === 'time');
const IS_SUM = NAMES.map((name) => MEASURES[name].combine === 'sum');
const NO_SETTLEMENT = 0;
const NO_MODEL = 1;
const HASHED = 2;
const NAMED = 3;

/** Adds to the packed slots of the workspace. `start` is the start of the roll-up, in epoch milliseconds. */
export function addToWorkspace(
  packed: Uint8Array | undefined,
  start: number,
  added: ReadonlyMap<number, WorkspaceSlot>,
): Uint8Array {
  const slots = new Map(readWorkspace(packed, start));
  for (const [slot, { tally, runsStarted }] of added) {
    const into = slots.get(slot);
    if (into === undefined) slots.set(slot, { tally, runsStarted });
    else {
      addTally(into.tally, tally);
      into.runsStarted += runsStarted;
    }
  }
  const writer = new ByteWriter();
  for (const [slot, { tally, runsStarted }] of slots) {
    writer.varint(slot);
    writeTally(writer, tally, start);
    writer.varint(runsStarted < 0 ? -2 * runsStarted - 1 : 2 * runsStarted);
  }
  return writer.bytes();
}

/** The slots of the workspace, by number. */
export function* readWorkspace(packed: Uint8Array | undefined, start: number): Generator<[number, WorkspaceSlot]> {
  const reader = new ByteReader(packed);
  while (reader.more()) {
    const slot = reader.varint();
    const tally = readTally(reader, start);
    const runs = reader.varint();
    yield [slot, { tally, runsStarted: runs % 2 === 0 ? runs / 2 : -(runs + 1) / 2 }];
  }
}

/**
 * Adds `rows` to those of `packed`. Most rows do not change, so they are copied unread. New rows have the hashes of
 * their models if `hashed`, else the names.
 */
export function addToRows(
  packed: Uint8Array | undefined,
  start: number,
  rows: readonly Row[],
  hashed = false,
): Uint8Array {
  const added = new Map<string, AddedRow>();
  for (const row of rows.map((one) => toAddedRow(one, hashed))) for (const head of row.heads) added.set(head, row);
  const reader = new ByteReader(packed);
  const writer = new ByteWriter();
  let copied = 0;
  while (reader.more()) {
    const before = reader.at;
    const row = reader.part(reader.varint());
    skipHead(row);
    const key = row.keySoFar();
    const more = added.get(key);
    if (more === undefined) continue;
    for (const head of more.heads) added.delete(head);
    writer.raw(reader.slice(copied, before));
    copied = reader.at;
    writeRow(writer, key, more.slots, start, row);
  }
  writer.raw(reader.slice(copied, reader.at));
  for (const { heads, slots } of new Set(added.values())) writeRow(writer, heads[0], slots, start);
  return writer.bytes();
}

/** Additions to a row. */
interface AddedRow {
  /**
   * The bytes of the row before its slots, one character each. No two rows have the same, as their texts are
   * well-formed. A new row gets the first head; a stored row may have any of them.
   */
  heads: [string, ...string[]];
  slots: ReadonlyMap<number, Tally>;
}

function toAddedRow({ name, model, slots }: Row, hashed: boolean): AddedRow {
  const head = headOf(name, model);
  // The list of names does not contain `other`.
  return { heads: hashed && model ? [headOf(name, hashOfName(model)), head] : [head], slots };
}

function headOf(name: string, model: StoredModel): string {
  const head = new ByteWriter();
  head.text(name, 0);
  if (model === undefined) head.varint(NO_SETTLEMENT);
  else if (model === null) head.varint(NO_MODEL);
  else if (typeof model === 'string') head.text(model, NAMED);
  else {
    head.varint(HASHED);
    head.whole(model, HASH_BYTES);
  }
  return head.bytes().toString('latin1');
}

function skipHead(row: ByteReader): void {
  row.skip(row.varint());
  const model = row.varint();
  if (model >= NAMED) row.skip(model - NAMED);
  else if (model === HASHED) row.skip(HASH_BYTES);
}

/** A row as it is stored. Its slots can be read once. */
export interface PackedRow extends Pick<Row, 'name' | 'model'> {
  /** The sums of slots by span. `spans` maps each slot to its span. */
  sums(start: number, spans: ReadonlyMap<number, number>): [span: number, sum: Tally][];
}

/** The rows of `packed`. `models` maps hashes to models; a hash without an entry is read as `OTHER`. */
export function* packedRows(
  packed: Uint8Array | undefined,
  models?: ReadonlyMap<number, string>,
): Generator<PackedRow> {
  const reader = new ByteReader(packed);
  while (reader.more()) {
    const row = reader.part(reader.varint());
    const { name, model: stored } = readHead(row);
    const model = typeof stored === 'number' ? (models?.get(stored) ?? OTHER) : stored;
    yield { name, model, sums: (start, spans) => sumSlots(row, start, spans) };
  }
}

function readHead(row: ByteReader): StoredRow {
  const name = row.text(row.varint());
  return { name, model: readModel(row) };
}

function readModel(row: ByteReader): StoredModel {
  const model = row.varint();
  if (model === NO_SETTLEMENT) return undefined;
  if (model === NO_MODEL) return null;
  return model === HASHED ? row.whole(HASH_BYTES) : row.text(model - NAMED);
}

/** The rows of `packed` and the bytes of each, which can be put together with others. The bytes are not copied. */
export function* rowsApart(packed: Uint8Array): Generator<{ row: StoredRow; bytes: Uint8Array }> {
  const reader = new ByteReader(packed);
  while (reader.more()) {
    const from = reader.at;
    const row = readHead(reader.part(reader.varint()));
    yield { row, bytes: reader.slice(from, reader.at) };
  }
}

/** Writes a row: the remaining slots of `held`, and the additions to them. */
function writeRow(
  writer: ByteWriter,
  head: string,
  slots: ReadonlyMap<number, Tally>,
  start: number,
  held = new ByteReader(),
): void {
  const added = new Map(slots);
  const row = new ByteWriter();
  row.raw(Buffer.from(head, 'latin1'));
  const write = (slot: number, tally: Tally): void => {
    row.varint(slot);
    writeTally(row, tally, start);
  };
  while (held.more()) {
    const before = held.at;
    const slot = held.varint();
    const more = added.get(slot);
    if (more === undefined) {
      skipTally(held);
      row.raw(held.slice(before, held.at));
      continue;
    }
    added.delete(slot);
    const tally = readTally(held, start);
    addTally(tally, more);
    write(slot, tally);
  }
  for (const [slot, tally] of added) write(slot, tally);
  const bytes = row.bytes();
  writer.varint(bytes.length);
  writer.raw(bytes);
}

/**
 * Adds in arrays: a query of all agents reads millions of slots, and making a tally for each would take most of its
 * time.
 */
function sumSlots(row: ByteReader, start: number, spans: ReadonlyMap<number, number>): [number, Tally][] {
  // A query of whole days needs one slot of each row. For that, an array would cost more than a tally.
  if (spans.size === 1) return oneSlot(row, start, spans);
  const sums: { span: number; sum: Float64Array }[] = [];
  let held: (typeof sums)[number] | undefined;
  let unread = spans.size;
  while (unread > 0 && row.more()) {
    const span = spans.get(row.varint());
    if (span === undefined) {
      skipTally(row);
      continue;
    }
    unread -= 1;
    // There are few spans, and most slots belong to the same span as the slot before.
    if (held?.span !== span) {
      held = sums.find((one) => one.span === span);
      if (held === undefined) sums.push((held = { span, sum: new Float64Array(NAMES.length) }));
    }
    addPacked(row, start, held.sum);
  }
  return sums.map(({ span, sum }) => {
    const tally = emptyTally();
    for (let index = 0; index < NAMES.length; index += 1) tally[NAMES[index]!] = sum[index]!;
    return [span, tally];
  });
}

function oneSlot(row: ByteReader, start: number, spans: ReadonlyMap<number, number>): [number, Tally][] {
  while (row.more()) {
    const span = spans.get(row.varint());
    if (span !== undefined) return [[span, readTally(row, start)]];
    skipTally(row);
  }
  return [];
}

/** Adds a packed tally to `into`, which has the measures by index. */
function addPacked(reader: ByteReader, start: number, into: Float64Array): void {
  let rest = reader.varint();
  for (let index = 0; rest !== 0; index += 1, rest >>= 1) {
    if ((rest & 1) === 0) continue;
    const value = readMeasure(reader, index, start);
    if (IS_SUM[index]!) into[index]! += value;
    else if (value > into[index]!) into[index] = value;
  }
}

function writeTally(writer: ByteWriter, tally: Tally, start: number): void {
  let mask = 0;
  for (let index = 0; index < NAMES.length; index += 1) if (tally[NAMES[index]!] !== 0) mask |= 1 << index;
  writer.varint(mask);
  for (let index = 0; index < NAMES.length; index += 1) {
    const value = tally[NAMES[index]!];
    if (value !== 0) writer.varint(IS_TIME[index]! ? value - start : value);
  }
}

function skipTally(reader: ByteReader): void {
  for (let rest = reader.varint(); rest !== 0; rest >>= 1) if ((rest & 1) !== 0) reader.varint();
}

function readTally(reader: ByteReader, start: number): Tally {
  const tally = emptyTally();
  const mask = reader.varint();
  for (let index = 0; index < NAMES.length; index += 1) {
    if ((mask & (1 << index)) === 0) continue;
    tally[NAMES[index]!] = readMeasure(reader, index, start);
  }
  return tally;
}

function readMeasure(reader: ByteReader, index: number, start: number): number {
  const value = reader.varint();
  return IS_TIME[index]! ? start + value : value;
}
