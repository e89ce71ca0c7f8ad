import {
  type AskedAttributes,
  type AttributeValue,
  countRecords,
  emptyRecord,
  type IntakeRecord,
  JsonScanner,
  MAX_TEXT_BYTES,
  MAX_TEXTS,
  MAX_VALUE_LEVELS,
  millisecondsOf,
  spanIdOf,
  traceIdOf,
} from '@tollkeeper/call-facts';
import type { Signal } from './otlp-protobuf.ts';

/** Objects and lists around a value in OTLP/JSON, such as `kvlistValue`, `values`, the entry and its `value`. */
const LEVELS_OF_A_VALUE = 4;
const STATUS_ERROR = 2;
/** Bytes of an attribute beside its value: names, signs and blanks. */
const MAX_AROUND_BYTES = 8 * 1024;

const KEYS: Record<Signal, { resources: string; scopes: string; records: string; time: string }> = {
  span: { resources: 'resourceSpans', scopes: 'scopeSpans', records: 'spans', time: 'endTimeUnixNano' },
  log: { resources: 'resourceLogs', scopes: 'scopeLogs', records: 'logRecords', time: 'timeUnixNano' },
};

interface Context {
  signal: Signal;
  asked: AskedAttributes;
  resource: Map<string, AttributeValue>;
  records: ReturnType<typeof countRecords>;
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
  for (const key of json.keys()) {
    if (key === undefined) yield undefined;
    else if (key === KEYS[signal].resources) {
      for (const index of json.elements()) {
        if (index === undefined) yield undefined;
        else yield* readResource(json, { signal, asked, resource: new Map(), records });
      }
    }
  }
  json.end();
}

function* readResource(json: JsonScanner, context: Context): Generator<IntakeRecord | undefined> {
  for (const key of json.keys()) {
    if (key === undefined) yield undefined;
    else if (key === 'resource') {
      for (const ofResource of json.keys()) {
        if (ofResource === undefined) yield undefined;
        else if (ofResource === 'attributes') yield* readAttributes(json, context.asked, context.resource);
      }
    } else if (key === KEYS[context.signal].scopes) {
      for (const index of json.elements()) {
        if (index === undefined) yield undefined;
        else yield* readScope(json, context);
      }
    }
  }
}

function* readScope(json: JsonScanner, context: Context): Generator<IntakeRecord | undefined> {
  const scope = { name: '' };
  for (const key of json.keys()) {
    if (key === undefined) yield undefined;
    else if (key === 'scope') {
      for (const ofScope of json.keys()) {
        if (ofScope === undefined) yield undefined;
        else if (ofScope === 'name') scope.name = readText(json);
      }
    } else if (key === KEYS[context.signal].records) {
      for (const index of json.elements()) {
        if (index === undefined) yield undefined;
        else {
          context.records.add(context.signal);
          const record = yield* readRecord(json, context, scope);
          yield record;
        }
      }
    }
  }
}

function* readRecord(
  json: JsonScanner,
  { signal, asked, resource }: Context,
  scope: { name: string },
): Generator<undefined, IntakeRecord> {
  const attributes = new Map<string, AttributeValue>();
  const record = emptyRecord(signal, { scope, resource, attributes });
  for (const key of json.keys()) {
    if (key === undefined) yield undefined;
    else if (key === 'attributes') yield* readAttributes(json, asked, attributes);
    else if (key === 'status') {
      for (const ofStatus of json.keys()) {
        if (ofStatus === undefined) yield undefined;
        else if (ofStatus === 'code') record.failed = json.scalar(MAX_TEXT_BYTES) === STATUS_ERROR;
      }
    } else readField(json, key, record);
  }
  return record;
}

function readField(json: JsonScanner, key: string, record: IntakeRecord): void {
  switch (key) {
    case 'traceId':
      record.traceId = traceIdOf(readText(json));
      break;
    case 'spanId':
      record.spanId = spanIdOf(readText(json));
      break;
    case 'parentSpanId':
      record.parentSpanId = spanIdOf(readText(json));
      break;
    case 'traceState':
      record.traceState = readText(json);
      break;
    case 'eventName':
      record.eventName = readText(json);
      break;
    case KEYS[record.kind === 'log' ? 'log' : 'span'].time:
      record.timeMs = readTime(json);
      break;
    case 'observedTimeUnixNano':
      record.observedMs = readTime(json);
      break;
  }
}

/** An absent text is empty. */
function readText(json: JsonScanner): string {
  const value = json.scalar(MAX_TEXT_BYTES);
  return typeof value === 'string' ? value : '';
}

const NANOSECONDS = /^\d{1,20}$/;

function readTime(json: JsonScanner): number {
  const value = json.scalar(MAX_TEXT_BYTES);
  if (typeof value === 'number') return value > 0 && value < 2 ** 64 ? Math.floor(value / 1e6) : 0;
  return typeof value === 'string' && NANOSECONDS.test(value) ? millisecondsOf(BigInt(value)) : 0;
}

function* readAttributes(
  json: JsonScanner,
  asked: AskedAttributes,
  into: Map<string, AttributeValue>,
): Generator<undefined> {
  for (const index of json.elements()) {
    if (index === undefined) {
      yield undefined;
      continue;
    }
    let key = '';
    let valueAt = -1;
    for (const field of json.keys()) {
      if (field === undefined) yield undefined;
      else if (field === 'key') key = readText(json);
      else if (field === 'value') valueAt = json.at;
    }
    const end = json.at;
    const attribute = asked.of(key);
    if (attribute === undefined || valueAt === -1 || end - valueAt > attribute.maxBytes + MAX_AROUND_BYTES) continue;
    // The key may follow the value, so the value was skipped at first.
    json.moveTo(valueAt);
    const value = readValue(json, attribute.maxBytes);
    if (value !== undefined) attribute.keep(into, value);
    json.moveTo(end);
  }
}

/** Short enough to be read without a pause. */
function readValue(json: JsonScanner, maxBytes: number): AttributeValue | undefined {
  let value: AttributeValue | undefined;
  for (const kind of json.keys()) {
    if (kind === 'stringValue' || kind === 'boolValue') {
      value = json.scalar(maxBytes);
    } else if (kind === 'intValue' || kind === 'doubleValue') {
      const number = json.scalar(maxBytes);
      if (number !== undefined) value = Number(number);
    } else if (kind === 'arrayValue') {
      value = readTexts(json, maxBytes);
    }
  }
  return value;
}

function readTexts(json: JsonScanner, maxBytes: number): readonly string[] {
  const texts: string[] = [];
  for (const key of json.keys()) {
    if (key !== 'values') continue;
    for (const index of json.elements()) {
      if (index === undefined || index >= MAX_TEXTS) continue;
      for (const kind of json.keys()) {
        const text = kind === 'stringValue' ? json.scalar(maxBytes) : undefined;
        if (typeof text === 'string') texts.push(text);
      }
    }
  }
  return texts;
}
