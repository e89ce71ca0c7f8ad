import protobuf from 'protobufjs/minimal.js';
import type { Encoding } from '../src/intake/decode.ts';

/** A value of an attribute: integers are bigint, and an object is a list of keys and values. */
export type TestValue =
  string | number | bigint | boolean | readonly TestValue[] | { readonly [key: string]: TestValue };

export interface TestSpan {
  traceId?: string;
  spanId?: string;
  parentSpanId?: string;
  endNanos?: bigint;
  traceState?: string;
  statusCode?: number;
  /** Keys may repeat. */
  attributes: readonly (readonly [string, TestValue])[];
}

export interface TestTraces {
  scope?: string;
  resource?: readonly (readonly [string, TestValue])[];
  spans: readonly TestSpan[];
  /** Writes the value of an attribute before its key, and scope and resource after the spans. */
  backwards?: boolean;
}

/** The reason of the rejection; undefined if there is none. */
export const errorOf = async (reading: Promise<unknown>): Promise<unknown> =>
  reading.then(
    () => undefined,
    (error) => error,
  );

/** An `ExportTraceServiceRequest` with one resource and one scope. */
export function traces(request: TestTraces, encoding: Encoding): Buffer {
  return encoding === 'json' ? Buffer.from(JSON.stringify(asJson(request))) : asProtobuf(request);
}

function asJson({ scope = 'test', resource = [], spans, backwards = false }: TestTraces): unknown {
  const entries = (list: TestSpan['attributes']) =>
    list.map(([key, value]) => ordered({ key, value: jsonValue(value) }, backwards));
  return {
    resourceSpans: [
      ordered(
        {
          resource: { attributes: entries(resource) },
          scopeSpans: [
            ordered(
              {
                scope: { name: scope },
                spans: spans.map((span) => ({
                  traceId: span.traceId,
                  spanId: span.spanId,
                  parentSpanId: span.parentSpanId,
                  traceState: span.traceState,
                  name: 'a span',
                  kind: 3,
                  endTimeUnixNano: String(span.endNanos ?? 0n),
                  attributes: entries(span.attributes),
                  status: { code: span.statusCode ?? 0 },
                })),
              },
              backwards,
            ),
          ],
        },
        backwards,
      ),
    ],
  };
}

function ordered(object: Record<string, unknown>, backwards: boolean): Record<string, unknown> {
  return backwards ? Object.fromEntries(Object.entries(object).reverse()) : object;
}

function jsonValue(value: TestValue): Record<string, unknown> {
  switch (typeof value) {
    case 'string':
      return { stringValue: value };
    case 'bigint':
      return { intValue: String(value) };
    case 'number':
      // JSON has no NaN, and protobuf's has these words.
      return { doubleValue: Number.isFinite(value) ? value : String(value) };
    case 'boolean':
      return { boolValue: value };
    default:
      return Array.isArray(value)
        ? { arrayValue: { values: (value as readonly TestValue[]).map(jsonValue) } }
        : { kvlistValue: { values: Object.entries(value).map(([key, each]) => ({ key, value: jsonValue(each) })) } };
  }
}

type Field = readonly [number: number, write: (writer: protobuf.Writer) => unknown];

function message(fields: readonly Field[], backwards = false): Uint8Array {
  const writer = protobuf.Writer.create();
  for (const [, write] of backwards ? fields.toReversed() : fields) write(writer);
  return writer.finish();
}

const bytes = (number: number, value: Uint8Array): Field => [number, (w) => w.uint32((number << 3) | 2).bytes(value)];
const text = (number: number, value: string): Field => bytes(number, Buffer.from(value));
const varint = (number: number, value: number): Field => [number, (w) => w.uint32(number << 3).int32(value)];

function fixed64(number: number, value: bigint): Field {
  return [number, (w) => w.uint32((number << 3) | 1).fixed64(value.toString())];
}

function asProtobuf({ scope = 'test', resource = [], spans, backwards = false }: TestTraces): Buffer {
  const attributes = (number: number, list: TestSpan['attributes']): Field[] =>
    list.map(([key, value]) => bytes(number, message([text(1, key), bytes(2, protobufValue(value))], backwards)));
  const ofSpan = (span: TestSpan): Uint8Array =>
    message([
      bytes(1, Buffer.from(span.traceId ?? '', 'hex')),
      bytes(2, Buffer.from(span.spanId ?? '', 'hex')),
      text(3, span.traceState ?? ''),
      bytes(4, Buffer.from(span.parentSpanId ?? '', 'hex')),
      text(5, 'a span'),
      varint(6, 3),
      fixed64(8, span.endNanos ?? 0n),
      ...attributes(9, span.attributes),
      bytes(15, message([varint(3, span.statusCode ?? 0)])),
    ]);
  const scopeSpans = message(
    [bytes(1, message([text(1, scope)])), ...spans.map((span) => bytes(2, ofSpan(span)))],
    backwards,
  );
  const resourceSpans = message([bytes(1, message(attributes(1, resource))), bytes(2, scopeSpans)], backwards);
  return Buffer.from(message([bytes(1, resourceSpans)]));
}

function protobufValue(value: TestValue): Uint8Array {
  switch (typeof value) {
    case 'string':
      return message([text(1, value)]);
    case 'boolean':
      return message([[2, (w) => w.uint32(2 << 3).bool(value)]]);
    case 'bigint':
      return message([[3, (w) => w.uint32(3 << 3).int64(value.toString())]]);
    case 'number':
      return message([[4, (w) => w.uint32((4 << 3) | 1).double(value)]]);
    default:
      return Array.isArray(value)
        ? message([bytes(5, message((value as readonly TestValue[]).map((each) => bytes(1, protobufValue(each)))))])
        : message([
            bytes(
              6,
              message(
                Object.entries(value).map(([key, each]) =>
                  bytes(1, message([text(1, key), bytes(2, protobufValue(each))])),
                ),
              ),
            ),
          ]);
  }
}
