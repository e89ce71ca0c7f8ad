import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { TenantId, TimeSpan } from '@tollkeeper/kernel';
import type { DashboardEvent, EventData } from '../../domain/event.ts';
import { ByteReader, ByteWriter } from '../bytes.ts';

/**
 * The packed form of events of one workspace, in the order of their times, compressed with Zstandard. Values of one
 * field are similar, so they are stored together. All numbers are varints (LEB128), texts are UTF-8 after their length.
 *
 *     chunk:   VERSION, number of events, shapes, column*
 *     shapes:  their number, then for each the number of its fields and their names: the fields of `data`, in order.
 *              Each label is a field of its own, such as `labels.team`
 *     column:  length of the rest, values. First time, shape, source, type and event id, then each field of the shapes
 *     times:   zigzag(first), then each minus the one before
 *     values:  kind, then a value for each event that has the field
 */
const VERSION = 1;

/** The kinds of columns: non-negative integers, texts, texts as indexes into a preceding list, and JSON. */
const KIND = { numbers: 0, texts: 1, listed: 2, json: 3 } as const;

type Value = string | number;

const LABEL = 'labels.';

/** The field of a label. */
export function labelField(name: string): string {
  return LABEL + name;
}

/** Packs events of one workspace, which must be in the order of their times. */
export function packEvents(events: readonly DashboardEvent[]): Uint8Array {
  const shapes = new Map<string, { index: number; fields: string[] }>();
  const columns = new Map<string, Value[]>();
  const shapeOf = events.map(({ data, tracked }) => {
    const fields: string[] = [];
    const add = (field: string, value: Value): void => {
      fields.push(field);
      const column = columns.get(field);
      if (column === undefined) columns.set(field, [value]);
      else column.push(value);
    };
    for (const field in data) {
      const value = data[field];
      if (typeof value === 'object') for (const name in value) add(labelField(name), value[name]!);
      else if (value !== undefined) add(field, value);
    }
    if (tracked !== undefined && data.tracked === undefined) add('tracked', tracked.map(([label]) => label).join(','));
    const name = fields.join('\n');
    let shape = shapes.get(name);
    if (shape === undefined) shapes.set(name, (shape = { index: shapes.size, fields }));
    return shape.index;
  });

  const writer = new ByteWriter();
  writer.varint(VERSION);
  writer.varint(events.length);
  writer.varint(shapes.size);
  for (const { fields } of shapes.values()) {
    writer.varint(fields.length);
    for (const field of fields) writer.text(field, 0);
  }
  const add = (column: ByteWriter): void => {
    const bytes = column.bytes();
    writer.varint(bytes.length);
    writer.raw(bytes);
  };
  add(timesColumn(events));
  add(valuesColumn(shapeOf));
  add(valuesColumn(events.map(({ source }) => source)));
  add(valuesColumn(events.map(({ type }) => type)));
  add(valuesColumn(events.map(({ eventId }) => eventId)));
  // The order in which a reader meets the names.
  for (const field of fieldsOf([...shapes.values()].map(({ fields }) => fields)))
    add(valuesColumn(columns.get(field)!));
  return compressed(writer);
}

export interface WhichEvents {
  /** Returns only the events in this span. */
  span?: TimeSpan;
  /** The fields to return in `data`; a label by its {@link labelField}. */
  fields?: readonly string[];
  /** If false, source and id are left empty. */
  ids?: boolean;
}

/** Packed events. Columns are unpacked on demand. */
export interface PackedEvents {
  readonly count: number;
  /** In the order of their times. */
  events(which?: WhichEvents): Generator<DashboardEvent>;
}

export function openEvents(tenantId: TenantId, packed: Uint8Array): PackedEvents {
  const reader = new ByteReader(zstdDecompressSync(packed));
  const version = reader.varint();
  if (version !== VERSION) throw new Error(`A chunk has version ${version}; this release reads version ${VERSION}`);
  const count = reader.varint();
  const shapes = times(reader.varint(), () => times(reader.varint(), () => reader.text(reader.varint())));
  const nextColumn = (): ByteReader => reader.part(reader.varint());
  const [time, shape, source, type, id] = [nextColumn(), nextColumn(), nextColumn(), nextColumn(), nextColumn()];
  const names = fieldsOf(shapes);
  const columns = new Map(names.map((name) => [name, nextColumn()]));

  return {
    count,
    *events({ span, fields = names, ids = true } = {}) {
      const at = readTimes(time, count);
      const first = span === undefined ? 0 : firstFrom(at, span.start);
      const end = span === undefined ? count : firstFrom(at, span.end);
      if (first >= end) return;
      const shapeAt = readValues(shape, 0, end) as number[];
      const types = readValues(type, first, end) as string[];
      const sources = ids ? (readValues(source, first, end) as string[]) : undefined;
      const eventIds = ids ? (readValues(id, first, end) as string[]) : undefined;
      const chosen = new Set(fields);
      const wanted = shapes.map((of) => of.filter((name) => chosen.has(name)));
      const values = new Map<string, Iterator<Value>>();
      for (const [name, [before, upTo]] of holdersOf(wanted, shapeAt, first)) {
        values.set(name, readValues(columns.get(name)!, before, upTo).values());
      }
      for (let index = first; index < end; index += 1) {
        const data: EventData = {};
        const labels: Record<string, string> = {};
        for (const name of wanted[shapeAt[index]!]!) {
          const value = values.get(name)!.next().value as Value;
          if (name.startsWith(LABEL)) (data.labels = labels)[name.slice(LABEL.length)] = value as string;
          else data[name] = value;
        }
        yield {
          tenantId,
          source: sources?.[index - first] ?? '',
          eventId: eventIds?.[index - first] ?? '',
          type: types[index - first]!,
          time: at[index]!,
          data,
        };
      }
    },
  };
}

/** The index of the first of the ascending `times` that is `start` or later. */
function firstFrom(times: readonly number[], start: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! < start) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * How many events have each field: among those before `first`, and among all. Takes time by events and by fields of
 * shapes, not by their product: senders choose the names of labels, so a chunk may have thousands of fields and shapes.
 */
function holdersOf(
  shapes: readonly string[][],
  shapeAt: readonly number[],
  first: number,
): Map<string, [before: number, all: number]> {
  const ofShapes = shapes.map(() => [0, 0] as [number, number]);
  for (const [index, shape] of shapeAt.entries()) {
    const counts = ofShapes[shape]!;
    if (index < first) counts[0] += 1;
    counts[1] += 1;
  }
  const holders = new Map<string, [number, number]>();
  for (const [shape, fields] of shapes.entries()) {
    const [before, all] = ofShapes[shape]!;
    for (const field of fields) {
      const [others, ofAll] = holders.get(field) ?? [0, 0];
      holders.set(field, [others + before, ofAll + all]);
    }
  }
  return holders;
}

/** The names of all fields, in the order of their first mention. */
function fieldsOf(shapes: readonly string[][]): string[] {
  return [...new Set(shapes.flat())];
}

/** A run starts at a time, or no longer does because an earlier event of the run arrived late. */
export interface RunMark {
  runId: string;
  /** Epoch milliseconds. */
  time: number;
  starts: 1 | -1;
}

/** Packed marks: their number, then columns of run ids and of zigzag(time), and which marks are starts. */
export function packMarks(marks: readonly RunMark[]): Uint8Array {
  const writer = new ByteWriter();
  writer.varint(marks.length);
  for (const { runId } of marks) writer.text(runId, 0);
  for (const { time } of marks) writer.varint(zigzag(time));
  for (const { starts } of marks) writer.varint(starts === 1 ? 1 : 0);
  return compressed(writer);
}

export function readMarks(packed: Uint8Array): RunMark[] {
  const reader = new ByteReader(zstdDecompressSync(packed));
  const count = reader.varint();
  const runIds = times(count, () => reader.text(reader.varint()));
  const at = times(count, () => unzigzag(reader.varint()));
  return times(count, (index) => ({ runId: runIds[index]!, time: at[index]!, starts: reader.varint() === 1 ? 1 : -1 }));
}

function compressed(writer: ByteWriter): Uint8Array {
  // With the checksum, damaged bytes cause an error and never decode to another event.
  const params = { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 };
  return zstdCompressSync(writer.bytes(), { params });
}

function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

function unzigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

function timesColumn(events: readonly DashboardEvent[]): ByteWriter {
  const writer = new ByteWriter();
  writer.varint(zigzag(events[0]?.time ?? 0));
  for (let index = 1; index < events.length; index += 1) writer.varint(events[index]!.time - events[index - 1]!.time);
  return writer;
}

function readTimes(column: ByteReader, count: number): number[] {
  column.rewind();
  let time = unzigzag(column.varint());
  return times(count, (index) => (index === 0 ? time : (time += column.varint())));
}

function valuesColumn(values: readonly Value[]): ByteWriter {
  const writer = new ByteWriter();
  if (values.every((value) => Number.isSafeInteger(value) && (value as number) >= 0 && !Object.is(value, -0))) {
    writer.varint(KIND.numbers);
    for (const value of values) writer.varint(value as number);
  } else if (values.every((value) => typeof value === 'string')) {
    const list = new Map<string, number>();
    for (const value of values) if (!list.has(value)) list.set(value, list.size);
    const listed = list.size * 2 <= values.length;
    writer.varint(listed ? KIND.listed : KIND.texts);
    if (listed) writer.varint(list.size);
    for (const text of listed ? list.keys() : values) writer.text(text, 0);
    if (listed && list.size > 1) for (const value of values) writer.varint(list.get(value)!);
  } else {
    writer.varint(KIND.json);
    for (const value of values) writer.text(Object.is(value, -0) ? '-0' : JSON.stringify(value), 0);
  }
  return writer;
}

/** The values from index `first` up to but not including `end`. */
function readValues(column: ByteReader, first: number, end: number): Value[] {
  column.rewind();
  const kind = column.varint();
  const list = kind === KIND.listed ? times(column.varint(), () => column.text(column.varint())) : [];
  const isText = kind === KIND.texts || kind === KIND.json;
  if (list.length !== 1) for (let index = 0; index < first; index += 1) skipValue(column, isText);
  return times(end - first, () => {
    if (kind === KIND.numbers) return column.varint();
    if (kind === KIND.listed) return list[list.length > 1 ? column.varint() : 0]!;
    const text = column.text(column.varint());
    return kind === KIND.texts ? text : (JSON.parse(text) as Value);
  });
}

function skipValue(column: ByteReader, isText: boolean): void {
  const number = column.varint();
  if (isText) column.skip(number);
}

function times<T>(count: number, each: (index: number) => T): T[] {
  // Array.from would take several times as long.
  const made = new Array<T>(count);
  for (let index = 0; index < count; index += 1) made[index] = each(index);
  return made;
}
