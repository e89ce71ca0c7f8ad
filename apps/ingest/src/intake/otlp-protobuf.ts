import protobuf from 'protobufjs/minimal.js';
import {
  type AskedAttribute,
  type AskedAttributes,
  type AttributeValue,
  countRecords,
  createPauses,
  emptyRecord,
  type IntakeRecord,
  MalformedBody,
  MAX_TEXT_BYTES,
  MAX_TEXTS,
  millisecondsOf,
  spanIdOf,
  traceIdOf,
} from '@tollkeeper/call-facts';

/**
 * OTLP as protobuf, read without making messages of it: of attributes, only the asked ones become values, and all
 * others are skipped by their length, however deep they are. Field numbers are those of opentelemetry-proto 1.x.
 */

/** Traces have spans, logs have log records. */
export type Signal = 'span' | 'log';
type Reader = protobuf.Reader;

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const START_GROUP = 3;

/** Numbers of fields. Requests, resources and scopes of traces and logs have the same. */
const REQUEST = { resources: 1 };
const OF_RESOURCE = { resource: 1, scopes: 2 };
const OF_SCOPE = { scope: 1, records: 2 };
const RESOURCE = { attributes: 1 };
const SCOPE = { name: 1 };
const STATUS = { code: 3 };
const STATUS_ERROR = 2;
const KEY_VALUE = { key: 1, value: 2 };
const ANY_VALUE = { text: 1, boolean: 2, integer: 3, double: 4, list: 5 };
const LIST = { values: 1 };

type RecordField =
  'traceId' | 'spanId' | 'parentSpanId' | 'traceState' | 'time' | 'observed' | 'eventName' | 'attributes' | 'status';

const RECORD_FIELDS: Record<Signal, ReadonlyMap<number, RecordField>> = {
  span: new Map([
    [1, 'traceId'],
    [2, 'spanId'],
    [3, 'traceState'],
    [4, 'parentSpanId'],
    [8, 'time'],
    [9, 'attributes'],
    [15, 'status'],
  ]),
  log: new Map([
    [1, 'time'],
    [6, 'attributes'],
    [9, 'traceId'],
    [10, 'spanId'],
    [11, 'observed'],
    [12, 'eventName'],
  ]),
};

/** Most fields of a message that has a few. They are read without a pause. */
const MAX_FIELDS = 1_000;

/** A body, as far as it has been read. */
interface Walk {
  reader: Reader;
  signal: Signal;
  asked: AskedAttributes;
  records: ReturnType<typeof countRecords>;
  pauses: { isDue(at: number): boolean };
}

/**
 * The records of an `ExportTraceServiceRequest` or `ExportLogsServiceRequest`, in order; `undefined` where the caller
 * may pause. Throws `MalformedBody`, and `payload_too_large` over 100,000 records. Resources and scopes are complete
 * only at the end, as their fields may come in any order.
 */
export function* decodeProtobuf(
  bytes: Buffer,
  signal: Signal,
  asked: AskedAttributes,
): Generator<IntakeRecord | undefined> {
  const reader = protobuf.Reader.create(bytes);
  const walk: Walk = { reader, signal, asked, records: countRecords(), pauses: createPauses() };
  try {
    for (const field of fields(walk, bytes.length)) {
      if (field === undefined) yield undefined;
      else if (field.number === REQUEST.resources) yield* readResource(walk, enter(reader, field, bytes.length));
    }
  } catch (error) {
    // Of the reader: an index out of range, an invalid varint or wire type.
    if (error instanceof RangeError || (error instanceof Error && error.constructor === Error)) {
      throw new MalformedBody('is not a message of OTLP', { cause: error });
    }
    throw error;
  }
}

function* readResource(walk: Walk, end: number): Generator<IntakeRecord | undefined> {
  const resource = new Map<string, AttributeValue>();
  for (const field of fields(walk, end)) {
    if (field === undefined) yield undefined;
    else if (field.number === OF_RESOURCE.resource) {
      yield* readAttributes(walk, enter(walk.reader, field, end), resource);
    } else if (field.number === OF_RESOURCE.scopes) {
      yield* readScope(walk, enter(walk.reader, field, end), resource);
    }
  }
}

function* readAttributes(
  walk: Walk,
  end: number,
  into: Map<string, AttributeValue>,
): Generator<IntakeRecord | undefined> {
  for (const field of fields(walk, end)) {
    if (field === undefined) yield undefined;
    else if (field.number === RESOURCE.attributes) readAttribute(walk, enter(walk.reader, field, end), into);
  }
}

function* readScope(
  walk: Walk,
  end: number,
  resource: ReadonlyMap<string, AttributeValue>,
): Generator<IntakeRecord | undefined> {
  const scope = { name: '' };
  for (const field of fields(walk, end)) {
    if (field === undefined) yield undefined;
    else if (field.number === OF_SCOPE.scope) {
      scope.name = readName(walk.reader, enter(walk.reader, field, end));
    } else if (field.number === OF_SCOPE.records) {
      walk.records.add(walk.signal);
      const record = yield* readRecord(walk, enter(walk.reader, field, end), { scope, resource });
      yield record;
    }
  }
}

interface Field {
  number: number;
  wireType: number;
}

/** The fields of a message; `undefined` where the caller may pause. What it does not read of a field is skipped. */
function* fields({ reader, pauses }: Walk, end: number): Generator<Field | undefined> {
  while (reader.pos < end) {
    const field = nextField(reader);
    const start = reader.pos;
    yield field;
    if (reader.pos === start) reader.skipType(field.wireType);
    if (pauses.isDue(reader.pos)) yield undefined;
  }
  checkEnd(reader, end);
}

/** The same for a message that has a few fields, without an iterator and without pauses. */
function eachField(reader: Reader, end: number, read: (field: Field) => void): void {
  for (let left = MAX_FIELDS; reader.pos < end; left -= 1) {
    if (left === 0) throw tooManyFields();
    const field = nextField(reader);
    const start = reader.pos;
    read(field);
    if (reader.pos === start) reader.skipType(field.wireType);
  }
  checkEnd(reader, end);
}

function tooManyFields(): MalformedBody {
  return new MalformedBody(`has a message of more than ${MAX_FIELDS} fields where OTLP has a few`);
}

function nextField(reader: Reader): Field {
  const tag = reader.uint32();
  const field = { number: tag >>> 3, wireType: tag & 7 };
  // OTLP has no groups, and skipping one has no bound.
  if (field.number === 0 || field.wireType === START_GROUP) throw new RangeError('no field of OTLP');
  return field;
}

/** Begins a message inside another one, and returns its end. */
function enter(reader: Reader, { wireType }: Field, outerEnd: number): number {
  if (wireType !== BYTES) throw new RangeError('a message is expected');
  const length = reader.uint32();
  const end = reader.pos + length;
  if (end > outerEnd) throw new RangeError('a message is longer than the one around it');
  return end;
}

function checkEnd(reader: Reader, end: number): void {
  if (reader.pos !== end) throw new RangeError('a field is longer than its message');
}

function readName(reader: Reader, end: number): string {
  let name = '';
  eachField(reader, end, (field) => {
    if (field.number === SCOPE.name) name = readText(reader, field, end, MAX_TEXT_BYTES) ?? '';
  });
  return name;
}

function* readRecord(
  { reader, signal, asked, pauses }: Walk,
  end: number,
  of: Pick<IntakeRecord, 'scope' | 'resource'>,
): Generator<undefined, IntakeRecord> {
  const attributes = new Map<string, AttributeValue>();
  const record = emptyRecord(signal, { ...of, attributes });
  while (reader.pos < end) {
    const field = nextField(reader);
    const name = RECORD_FIELDS[signal].get(field.number);
    if (name === undefined) reader.skipType(field.wireType);
    else if (name === 'attributes') readAttribute({ reader, asked }, enter(reader, field, end), attributes);
    else readField(reader, { ...field, name, end }, record);
    if (pauses.isDue(reader.pos)) yield undefined;
  }
  checkEnd(reader, end);
  return record;
}

function readField(
  reader: Reader,
  { name, end, ...field }: Field & { name: Exclude<RecordField, 'attributes'>; end: number },
  record: IntakeRecord,
): void {
  switch (name) {
    case 'traceId':
      record.traceId = traceIdOf(readHex(reader, field, end));
      break;
    case 'spanId':
      record.spanId = spanIdOf(readHex(reader, field, end));
      break;
    case 'parentSpanId':
      record.parentSpanId = spanIdOf(readHex(reader, field, end));
      break;
    case 'traceState':
      record.traceState = readText(reader, field, end, MAX_TEXT_BYTES) ?? '';
      break;
    case 'eventName':
      record.eventName = readText(reader, field, end, MAX_TEXT_BYTES) ?? '';
      break;
    case 'time':
      record.timeMs = readTime(reader, field);
      break;
    case 'observed':
      record.observedMs = readTime(reader, field);
      break;
    case 'status':
      record.failed = readStatus(reader, enter(reader, field, end)) === STATUS_ERROR;
      break;
  }
}

/** The key may follow the value, so the value is read last, and only if it is asked for. */
function readAttribute(
  { reader, asked }: Pick<Walk, 'reader' | 'asked'>,
  end: number,
  into: Map<string, AttributeValue>,
): void {
  let attribute: AskedAttribute | undefined;
  let value = -1;
  for (let left = MAX_FIELDS; reader.pos < end; left -= 1) {
    if (left === 0) throw tooManyFields();
    const field = nextField(reader);
    if (field.number === KEY_VALUE.key) {
      attribute = asked.of(readText(reader, field, end, MAX_TEXT_BYTES) ?? '');
    } else {
      if (field.number === KEY_VALUE.value && field.wireType === BYTES) value = reader.pos;
      reader.skipType(field.wireType);
    }
  }
  checkEnd(reader, end);
  if (attribute === undefined || value === -1) return;
  reader.pos = value;
  const read = readValue(reader, end, attribute.maxBytes);
  if (read !== undefined) attribute.keep(into, read);
  reader.pos = end;
}

/** An AnyValue from its length on: a text of at most `maxBytes`, a number, a boolean or a list of texts. */
function readValue(reader: Reader, outerEnd: number, maxBytes: number): AttributeValue | undefined {
  const end = enter(reader, { number: 0, wireType: BYTES }, outerEnd);
  let value: AttributeValue | undefined;
  eachField(reader, end, (field) => {
    const { number, wireType } = field;
    if (number === ANY_VALUE.text) value = readText(reader, field, end, maxBytes);
    else if (number === ANY_VALUE.boolean && wireType === VARINT) value = reader.bool();
    else if (number === ANY_VALUE.integer && wireType === VARINT) value = Number(reader.int64());
    else if (number === ANY_VALUE.double && wireType === FIXED64) value = reader.double();
    else if (number === ANY_VALUE.list) value = readTexts(reader, enter(reader, field, end), maxBytes);
  });
  return value;
}

function readTexts(reader: Reader, end: number, maxBytes: number): readonly string[] {
  const texts: string[] = [];
  for (let count = 0; reader.pos < end && count < MAX_TEXTS; count += 1) {
    const value = nextField(reader);
    if (value.number !== LIST.values) {
      reader.skipType(value.wireType);
      continue;
    }
    const valueEnd = enter(reader, value, end);
    eachField(reader, valueEnd, (field) => {
      const text = field.number === ANY_VALUE.text ? readText(reader, field, valueEnd, maxBytes) : undefined;
      if (text !== undefined) texts.push(text);
    });
  }
  reader.pos = Math.max(reader.pos, end);
  return texts;
}

/** Undefined for a text that is longer; it has been skipped. */
function readText(reader: Reader, field: Field, outerEnd: number, maxBytes: number): string | undefined {
  const start = reader.pos;
  const end = enter(reader, field, outerEnd);
  const isLonger = end - reader.pos > maxBytes;
  reader.pos = isLonger ? end : start;
  return isLonger ? undefined : reader.string();
}

function readHex(reader: Reader, field: Field, outerEnd: number): string {
  const end = enter(reader, field, outerEnd);
  const start = reader.pos;
  reader.pos = end;
  // An id has 8 or 16 bytes; others are none.
  return end - start > 16 ? '' : Buffer.from(reader.buf.subarray(start, end)).toString('hex');
}

function readStatus(reader: Reader, end: number): number {
  let code = 0;
  eachField(reader, end, ({ number, wireType }) => {
    if (number === STATUS.code && wireType === VARINT) code = reader.int32();
  });
  return code;
}

function readTime(reader: Reader, { wireType }: Field): number {
  if (wireType !== FIXED64) throw new RangeError('a time is expected');
  const low = BigInt(reader.fixed32());
  return millisecondsOf((BigInt(reader.fixed32()) << 32n) | low);
}
