import { addToSlot, rowKey, type AgentRow, type WorkspaceSlot } from '../domain/rollup.ts';
import { addTally, emptyTally, MEASURES, type Tally } from '../domain/tally.ts';
import { ByteReader, ByteWriter } from './bytes.ts';

/**
 * The packed form of a roll-up. All numbers are varints (LEB128), texts are UTF-8 behind their length in bytes.
 *
 *     workspace: slot*                          slot: number, tally, zigzag(runs started)
 *     agents:    row*                           row:  length of the rest, agent, model, (number, tally)*
 *     model:     0 nothing was settled, 1 no model is named, else the length of its name + 2, and the name
 *     plans:     row*                           row:  length of the rest, plan, (number, tally)*
 *     tally:     mask, then each measure whose bit is set. Bit 0 is the first entry of MEASURES
 *
 * Slots and rows are in the order of their first event, however the events came in batches.
 * A tally without a measure holds 0 of it. So a measure may be added behind the others, and none may ever be moved.
 * The time of the newest event counts from the start of the roll-up.
 */
const NAMES = Object.keys(MEASURES) as (keyof Tally)[];
const LAST_AT = NAMES.indexOf('lastAt');
const NO_SETTLEMENT = 0;
const NO_MODEL = 1;
const NAMED = 2;

/**
 * Models of an agent from which on no further ones are told apart: their settlements count as those that name no model.
 * The rows of an agent stay together, so nothing else bounds what a sender that makes up models has rewritten for each
 * event. It is a number of rows and no number of bytes, because rows grow: each may get all slots of a day.
 */
const MAX_MODELS = 1_000;
/** No row of a model is smaller. */
const MIN_ROW_BYTES = 8;

/** Adds to what `packed` holds of the workspace. `start` is that of the roll-up, in epoch milliseconds. */
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

/** Adds `rows` to what `packed` holds of agents. Rows that nothing is added to are copied as they are. */
export function addToAgents(packed: Uint8Array | undefined, start: number, rows: readonly AgentRow[]): Uint8Array {
  const mayBeFull = (packed?.length ?? 0) >= MAX_MODELS * MIN_ROW_BYTES;
  const added = new Map((mayBeFull ? withinMaxModels(packed, rows) : rows).map((row) => [rowKey(row), row]));
  const writer = new ByteWriter();
  for (const row of packedRows(packed)) {
    const key = rowKey(row);
    const more = added.get(key);
    if (more === undefined) {
      writer.varint(row.bytes.length);
      writer.raw(row.bytes);
      continue;
    }
    added.delete(key);
    const slots = new Map(row.slots(start));
    for (const [slot, tally] of more.slots) addToSlot(slots, slot, tally);
    writeRow(writer, { ...more, slots }, start);
  }
  for (const row of added.values()) writeRow(writer, row, start);
  return writer.bytes();
}

/** The rows. Those of further models of an agent that has {@link MAX_MODELS} are in its row that names no model. */
function withinMaxModels(packed: Uint8Array | undefined, rows: readonly AgentRow[]): AgentRow[] {
  const known = new Map(rows.map(({ agentId }) => [agentId, new Set<string>()]));
  for (const { agentId, model } of packedRows(packed)) if (typeof model === 'string') known.get(agentId)?.add(model);
  const joined = new Map<string, AgentRow>();
  for (const row of rows) {
    const models = known.get(row.agentId)!;
    const isFurther = typeof row.model === 'string' && models.size >= MAX_MODELS && !models.has(row.model);
    const model = isFurther ? null : row.model;
    const key = rowKey({ ...row, model });
    const into = joined.get(key) ?? { agentId: row.agentId, model, slots: new Map<number, Tally>() };
    for (const [slot, tally] of row.slots) addToSlot(into.slots, slot, tally);
    joined.set(key, into);
  }
  return [...joined.values()];
}

/** The slots of a row. They are unpacked when they are asked for, and once. */
export interface PackedSlots {
  bytes: Uint8Array;
  slots(start: number): Generator<[number, Tally]>;
  /** The sums of the slots in `spans`, which says for each to which span it belongs, by span. */
  sums(start: number, spans: ReadonlyMap<number, number>): [span: number, sum: Tally][];
}

/** A row as it is stored. */
export interface PackedRow extends PackedSlots, Pick<AgentRow, 'agentId' | 'model'> {}

export function* packedRows(packed: Uint8Array | undefined): Generator<PackedRow> {
  const reader = new ByteReader(packed);
  while (reader.more()) {
    const bytes = reader.raw(reader.varint());
    const row = new ByteReader(bytes);
    const agentId = row.text(row.varint());
    const model = row.varint();
    const named = model === NO_SETTLEMENT ? undefined : model === NO_MODEL ? null : row.text(model - NAMED);
    yield { agentId, model: named, ...packedSlots(bytes, row) };
  }
}

/**
 * Plans of a roll-up from which on no further ones are told apart: their settlements count as those of no plan. It is
 * the most that a workspace can have at once, but events may name any.
 */
const MAX_PLANS = 500;

/** Adds to what `packed` holds of plans: by plan, the slots. Rows that nothing is added to are copied as they are. */
export function addToPlans(
  packed: Uint8Array | undefined,
  start: number,
  added: ReadonlyMap<string, ReadonlyMap<number, Tally>>,
): Uint8Array {
  const writer = new ByteWriter();
  const known = new Set<string>();
  for (const row of packedPlans(packed)) {
    known.add(row.plan);
    const more = added.get(row.plan);
    if (more === undefined) {
      writer.varint(row.bytes.length);
      writer.raw(row.bytes);
      continue;
    }
    const slots = new Map(row.slots(start));
    for (const [slot, tally] of more) addToSlot(slots, slot, tally);
    writePlan(writer, row.plan, slots, start);
  }
  for (const [plan, slots] of added) {
    if (known.has(plan) || known.size >= MAX_PLANS) continue;
    known.add(plan);
    writePlan(writer, plan, slots, start);
  }
  return writer.bytes();
}

export interface PackedPlan extends PackedSlots {
  plan: string;
}

export function* packedPlans(packed: Uint8Array | undefined): Generator<PackedPlan> {
  const reader = new ByteReader(packed);
  while (reader.more()) {
    const bytes = reader.raw(reader.varint());
    const row = new ByteReader(bytes);
    yield { plan: row.text(row.varint()), ...packedSlots(bytes, row) };
  }
}

/** Divides the rows of `packed`: `groupOf` says where those of an agent go. */
export function divideAgents(
  packed: Uint8Array | undefined,
  groupOf: (agentId: string) => number,
): Map<number, Uint8Array> {
  const writers = new Map<number, ByteWriter>();
  for (const { agentId, bytes } of packedRows(packed)) {
    const group = groupOf(agentId);
    let writer = writers.get(group);
    if (writer === undefined) writers.set(group, (writer = new ByteWriter()));
    writer.varint(bytes.length);
    writer.raw(bytes);
  }
  return new Map([...writers].map(([group, writer]) => [group, writer.bytes()]));
}

/** The slots of the row of `bytes`, which `row` has been read up to. */
function packedSlots(bytes: Uint8Array, row: ByteReader): PackedSlots {
  return {
    bytes,
    slots: (start) => readSlots(row, start),
    sums: (start, spans) => sumSlots(row, start, spans),
  };
}

/** Adds in arrays: a query of all agents reads millions of slots, and a tally for each would cost most of it. */
function sumSlots(row: ByteReader, start: number, spans: ReadonlyMap<number, number>): [number, Tally][] {
  const sums: { span: number; sum: Float64Array }[] = [];
  let held: (typeof sums)[number] | undefined;
  let unread = spans.size;
  while (unread > 0 && row.more()) {
    const span = spans.get(row.varint());
    if (span === undefined) {
      addPacked(row, start, unwanted);
      continue;
    }
    unread -= 1;
    // There are few, and most slots are of the one before.
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

const unwanted = new Float64Array(NAMES.length);

/** Adds a packed tally to `into`, which has the measures by their number. */
function addPacked(reader: ByteReader, start: number, into: Float64Array): void {
  let rest = reader.varint();
  for (let index = 0; rest !== 0; index += 1, rest >>= 1) {
    if ((rest & 1) === 0) continue;
    const value = reader.varint();
    if (index !== LAST_AT) into[index]! += value;
    else if (start + value > into[index]!) into[index] = start + value;
  }
}

function* readSlots(row: ByteReader, start: number): Generator<[number, Tally]> {
  while (row.more()) yield [row.varint(), readTally(row, start)];
}

function writeRow(writer: ByteWriter, { agentId, model, slots }: AgentRow, start: number): void {
  const row = new ByteWriter();
  row.text(agentId, 0);
  if (model === undefined) row.varint(NO_SETTLEMENT);
  else if (model === null) row.varint(NO_MODEL);
  else row.text(model, NAMED);
  finishRow(writer, row, slots, start);
}

function writePlan(writer: ByteWriter, plan: string, slots: ReadonlyMap<number, Tally>, start: number): void {
  const row = new ByteWriter();
  row.text(plan, 0);
  finishRow(writer, row, slots, start);
}

/** Writes `row`, which says whose `slots` they are, with these. */
function finishRow(writer: ByteWriter, row: ByteWriter, slots: ReadonlyMap<number, Tally>, start: number): void {
  for (const [slot, tally] of slots) {
    row.varint(slot);
    writeTally(row, tally, start);
  }
  const bytes = row.bytes();
  writer.varint(bytes.length);
  writer.raw(bytes);
}

function writeTally(writer: ByteWriter, tally: Tally, start: number): void {
  let mask = 0;
  for (let index = 0; index < NAMES.length; index += 1) if (tally[NAMES[index]!] !== 0) mask |= 1 << index;
  writer.varint(mask);
  for (const name of NAMES) {
    if (tally[name] !== 0) writer.varint(name === 'lastAt' ? tally.lastAt - start : tally[name]);
  }
}

function readTally(reader: ByteReader, start: number): Tally {
  const tally = emptyTally();
  const mask = reader.varint();
  for (let index = 0; index < NAMES.length; index += 1) {
    if ((mask & (1 << index)) === 0) continue;
    const name = NAMES[index]!;
    tally[name] = name === 'lastAt' ? start + reader.varint() : reader.varint();
  }
  return tally;
}
