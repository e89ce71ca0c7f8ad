import { OTHER } from '../../domain/names.ts';
import type { Row, WorkspaceSlot } from '../../domain/rollup.ts';
import type { Tally } from '../../domain/tally.ts';
import { ByteReader, ByteWriter } from '../bytes.ts';
import { hashOfName, HASH_BYTES, type StoredModel, type StoredRow } from './row.hash.ts';
import { IN_ROW, IN_WORKSPACE, readSlots, sumSlots, writeSlots } from './slot.codec.ts';

/**
 * The packed form of a roll-up. All numbers are varints (LEB128), texts are UTF-8 after their length in bytes.
 *
 *     workspace: slot*                          as in `slot.codec.ts`
 *     rows:      row*                           row:  length of the rest, name, model, slot*
 *     model:     0 nothing was settled, 1 no model is named, 2 a hash, else the length of the name + 3, and the name
 *
 * A stored row keeps the form of its model. New divided rows have the hash of the model's name, which takes 7 bytes
 * instead of up to 500; the collection `names` has the names.
 *
 * Slots and rows are in the order of their first event, whatever the batches of events were.
 * Times count from the start of the roll-up.
 */
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
  const writer = new ByteWriter();
  writeSlots(writer, start, added, IN_WORKSPACE, new ByteReader(packed));
  return writer.bytes();
}

/** The slots of the workspace, by number. */
export function readWorkspace(
  packed: Uint8Array | undefined,
  start: number,
): Generator<[number: number, slot: WorkspaceSlot]> {
  return readSlots(new ByteReader(packed), start, IN_WORKSPACE);
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
  const row = new ByteWriter();
  row.raw(Buffer.from(head, 'latin1'));
  writeSlots(row, start, slots, IN_ROW, held);
  const bytes = row.bytes();
  writer.varint(bytes.length);
  writer.raw(bytes);
}
