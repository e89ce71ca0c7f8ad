import type { AskedAttributes } from './asked-attributes.ts';
import { readPlain } from './json-paths.ts';
import { JsonScanner, LIST, OBJECT, QUOTE } from './json-scanner.ts';
import type { Signal } from './otlp-protobuf.ts';
import {
  type AttributeValue,
  countAttributes,
  countRecords,
  emptyRecord,
  type IntakeRecord,
  MAX_TEXT_BYTES,
  MAX_TEXTS,
  MAX_VALUE_LEVELS,
  millisecondsOf,
  spanIdOf,
  traceIdOf,
} from './record.ts';

/** Objects and lists around a value in OTLP/JSON, such as `kvlistValue`, `values`, the entry and its `value`. */
const LEVELS_OF_A_VALUE = 4;
const STATUS_ERROR = 2;

const KEYS: Record<Signal, { resources: string; scopes: string; records: string; time: string }> = {
  span: { resources: 'resourceSpans', scopes: 'scopeSpans', records: 'spans', time: 'endTimeUnixNano' },
  log: { resources: 'resourceLogs', scopes: 'scopeLogs', records: 'logRecords', time: 'timeUnixNano' },
};

interface Context {
  signal: Signal;
  asked: AskedAttributes;
  resource: Map<string, AttributeValue>;
  records: { add(): void };
}

/**
 * The records of an OTLP/JSON request, as `decodeProtobuf` gives them. It is not the JSON of protobuf: ids are
 * hexadecimal, enums are numbers, 64-bit integers are texts or numbers, and anything may be null.
 */
export function* decodeJson(
  bytes: Buffer,
  signal: Signal,
  asked: AskedAttributes,
): Generator<IntakeRecord | undefined> {
  const json = new JsonScanner(bytes, { maxLevels: MAX_VALUE_LEVELS * LEVELS_OF_A_VALUE });
  const records = countRecords();
  if (json.peek() === -1) return;
  for (const key of keysOf(json)) {
    if (key !== KEYS[signal].resources) continue;
    for (const element of elements(json)) {
      yield* readResource(element, { signal, asked, resource: new Map(), records });
      yield undefined;
    }
  }
  json.end();
}

function* readResource(json: JsonScanner, context: Context): Generator<IntakeRecord | undefined> {
  for (const key of keysOf(json)) {
    if (key === 'resource') {
      for (const ofResource of keysOf(json)) {
        if (ofResource === 'attributes') readAttributes(json, context.asked, context.resource);
      }
    } else if (key === KEYS[context.signal].scopes) {
      for (const element of elements(json)) yield* readScope(element, context);
    }
  }
}

function* readScope(json: JsonScanner, context: Context): Generator<IntakeRecord | undefined> {
  const scope = { name: '' };
  for (const key of keysOf(json)) {
    if (key === 'scope') {
      for (const ofScope of keysOf(json)) if (ofScope === 'name') scope.name = readText(json);
    } else if (key === KEYS[context.signal].records) {
      for (const element of elements(json)) {
        context.records.add();
        yield readRecord(element, context, scope);
      }
    }
  }
  yield undefined;
}

/** The keys of the object that comes next; none if it is null. What the caller does not read of a value is skipped. */
function* keysOf(json: JsonScanner): Generator<string> {
  if (isNull(json)) return;
  for (let more = json.begin(OBJECT); more; more = json.next(OBJECT)) {
    const key = json.key();
    const start = json.at;
    yield key;
    if (json.at === start) json.skip();
  }
}

/** Goes through the elements of the list that comes next; none if it is null. */
function* elements(json: JsonScanner): Generator<JsonScanner> {
  if (isNull(json)) return;
  for (let more = json.begin(LIST); more; more = json.next(LIST)) {
    const start = json.at;
    yield json;
    if (json.at === start) json.skip();
  }
}

function isNull(json: JsonScanner): boolean {
  const byte = json.peek();
  return byte !== OBJECT && byte !== LIST && byte !== QUOTE && json.word() === 'null';
}

function readRecord(json: JsonScanner, { signal, asked, resource }: Context, scope: { name: string }): IntakeRecord {
  const attributes = new Map<string, AttributeValue>();
  const record = emptyRecord(signal, { scope, resource, attributes });
  const fields: Record<string, () => void> = {
    traceId: () => (record.traceId = traceIdOf(readText(json))),
    spanId: () => (record.spanId = spanIdOf(readText(json))),
    parentSpanId: () => (record.parentSpanId = spanIdOf(readText(json))),
    traceState: () => (record.traceState = readText(json)),
    eventName: () => (record.eventName = readText(json)),
    [KEYS[signal].time]: () => (record.timeMs = readTime(json)),
    observedTimeUnixNano: () => (record.observedMs = readTime(json)),
    status: () => {
      for (const key of keysOf(json)) if (key === 'code') record.failed = readPlain(json) === STATUS_ERROR;
    },
    attributes: () => readAttributes(json, asked, attributes),
  };
  for (const key of keysOf(json)) if (Object.hasOwn(fields, key)) fields[key]!();
  return record;
}

/** An absent text is empty. */
function readText(json: JsonScanner): string {
  const value = readPlain(json, MAX_TEXT_BYTES);
  return typeof value === 'string' ? value : '';
}

const NANOSECONDS = /^\d{1,20}$/;

function readTime(json: JsonScanner): number {
  const digits = json.peek() === QUOTE ? (json.text(MAX_TEXT_BYTES) ?? '') : json.word();
  return NANOSECONDS.test(digits) ? millisecondsOf(BigInt(digits)) : 0;
}

function readAttributes(json: JsonScanner, asked: AskedAttributes, into: Map<string, AttributeValue>): void {
  const count = countAttributes();
  for (const element of elements(json)) {
    count.add();
    let key: string | undefined;
    let valueAt = -1;
    for (const field of keysOf(element)) {
      if (field === 'key') key = readText(json);
      else if (field === 'value') valueAt = json.at;
    }
    const attribute = key === undefined ? undefined : asked.of(key);
    if (attribute === undefined || valueAt === -1) continue;
    // The key may follow the value, so the value was skipped at first.
    const end = json.at;
    json.at = valueAt;
    const value = readValue(json, attribute.maxBytes);
    if (value !== undefined) attribute.keep(into, value);
    json.at = end;
  }
}

function readValue(json: JsonScanner, maxBytes: number): AttributeValue | undefined {
  let value: AttributeValue | undefined;
  for (const kind of keysOf(json)) {
    if (kind === 'stringValue' || kind === 'boolValue') {
      value = readPlain(json, maxBytes);
    } else if (kind === 'intValue' || kind === 'doubleValue') {
      const number = readPlain(json, maxBytes);
      if (number !== undefined) value = Number(number);
    } else if (kind === 'arrayValue') {
      value = readTexts(json, maxBytes);
    }
  }
  return value;
}

function readTexts(json: JsonScanner, maxBytes: number): readonly string[] {
  const texts: string[] = [];
  for (const key of keysOf(json)) {
    if (key !== 'values') continue;
    for (const element of elements(json)) {
      for (const kind of keysOf(element)) {
        if (kind !== 'stringValue') continue;
        const text = readPlain(json, maxBytes);
        if (typeof text === 'string' && texts.length < MAX_TEXTS) texts.push(text);
      }
    }
  }
  return texts;
}
