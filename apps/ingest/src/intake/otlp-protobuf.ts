import protobuf from 'protobufjs/minimal.js';
import type { AskedAttribute, AskedAttributes } from './asked-attributes.ts';
import {
  type AttributeValue,
  countAttributes,
  countRecords,
  emptyRecord,
  type IntakeRecord,
  MalformedBody,
  MAX_TEXT_BYTES,
  MAX_TEXTS,
  millisecondsOf,
  spanIdOf,
  traceIdOf,
} from './record.ts';

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
  const records = countRecords();
  try {
    for (const end of messages(reader, bytes.length, REQUEST.resources)) {
      const resource = new Map<string, AttributeValue>();
      for (const field of fields(reader, end)) {
        if (field.number === OF_RESOURCE.resource) {
          readAttributes(reader, enter(reader, field, end), { asked, into: resource });
        } else if (field.number === OF_RESOURCE.scopes) {
          yield* readScope(reader, enter(reader, field, end), { signal, asked, resource, records });
        }
      }
      yield undefined;
    }
  } catch (error) {
    // Of the reader: an index out of range, an invalid varint or wire type.
    if (error instanceof RangeError || (error instanceof Error && error.constructor === Error)) {
      throw new MalformedBody('is not a message of OTLP', { cause: error });
    }
    throw error;
  }
}

interface Context {
  signal: Signal;
  asked: AskedAttributes;
  resource: ReadonlyMap<string, AttributeValue>;
  records: { add(): void };
}

function* readScope(reader: Reader, end: number, context: Context): Generator<IntakeRecord | undefined> {
  const scope = { name: '' };
  for (const field of fields(reader, end)) {
    if (field.number === OF_SCOPE.scope) {
      scope.name = readName(reader, enter(reader, field, end));
    } else if (field.number === OF_SCOPE.records) {
      context.records.add();
      yield readRecord(reader, enter(reader, field, end), { ...context, scope });
    }
  }
  yield undefined;
}

interface Field {
  number: number;
  wireType: number;
}

/** The fields of a message. What the caller does not read of a field is skipped. */
function* fields(reader: Reader, end: number): Generator<Field> {
  while (reader.pos < end) {
    const field = nextField(reader);
    const start = reader.pos;
    yield field;
    if (reader.pos === start) reader.skipType(field.wireType);
  }
  checkEnd(reader, end);
}

/** The same without an iterator, for the messages that a body has most of. */
function eachField(reader: Reader, end: number, read: (field: Field) => void): void {
  while (reader.pos < end) {
    const field = nextField(reader);
    const start = reader.pos;
    read(field);
    if (reader.pos === start) reader.skipType(field.wireType);
  }
  checkEnd(reader, end);
}

/** The ends of the messages in one repeated field. The caller reads each up to its end. */
function* messages(reader: Reader, end: number, number: number): Generator<number> {
  for (const field of fields(reader, end)) if (field.number === number) yield enter(reader, field, end);
}

function nextField(reader: Reader): Field {
  const tag = reader.uint32();
  return { number: tag >>> 3, wireType: tag & 7 };
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
  for (const field of fields(reader, end)) {
    if (field.number === SCOPE.name) name = readText(reader, field, end, MAX_TEXT_BYTES) ?? '';
  }
  return name;
}

function readRecord(reader: Reader, end: number, context: Context & { scope: { name: string } }): IntakeRecord {
  const { signal, asked, scope, resource } = context;
  const attributes = new Map<string, AttributeValue>();
  const count = countAttributes();
  const record = emptyRecord(signal, { scope, resource, attributes });
  eachField(reader, end, (field) => {
    const name = RECORD_FIELDS[signal].get(field.number);
    switch (name) {
      case undefined:
        break;
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
      case 'attributes':
        count.add();
        readAttribute(reader, enter(reader, field, end), { asked, into: attributes });
        break;
    }
  });
  return record;
}

interface Into {
  asked: AskedAttributes;
  into: Map<string, AttributeValue>;
}

function readAttributes(reader: Reader, end: number, into: Into): void {
  const count = countAttributes();
  for (const attributeEnd of messages(reader, end, RESOURCE.attributes)) {
    count.add();
    readAttribute(reader, attributeEnd, into);
  }
}

/** The key may follow the value, so the value is read last, and only if it is asked for. */
function readAttribute(reader: Reader, end: number, { asked, into }: Into): void {
  let attribute: AskedAttribute | undefined;
  let value = -1;
  while (reader.pos < end) {
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
  for (const valueEnd of messages(reader, end, LIST.values)) {
    for (const field of fields(reader, valueEnd)) {
      if (field.number !== ANY_VALUE.text) continue;
      const text = readText(reader, field, valueEnd, maxBytes);
      if (text !== undefined && texts.length < MAX_TEXTS) texts.push(text);
    }
  }
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
  for (const field of fields(reader, end)) {
    if (field.number === STATUS.code && field.wireType === VARINT) code = reader.int32();
  }
  return code;
}

function readTime(reader: Reader, { wireType }: Field): number {
  if (wireType !== FIXED64) throw new RangeError('a time is expected');
  const { low, high } = reader.fixed64();
  return millisecondsOf((BigInt(high >>> 0) << 32n) | BigInt(low >>> 0));
}
