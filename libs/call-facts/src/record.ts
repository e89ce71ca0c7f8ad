import { INTAKE_PATHS, type IntakePath } from '@tollkeeper/contracts';
import { AppError } from '@tollkeeper/kernel';

/** Where a record comes from: a span, a log entry, or an object of LiteLLM's `generic_api` callback. */
export type RecordKind = 'span' | 'log' | 'callback';

/** A value that mapping reads. 64-bit integers have the precision of a double: tokens and costs are smaller. */
export type AttributeValue = string | number | boolean | readonly string[];

export type Attributes = ReadonlyMap<string, AttributeValue>;

/** One span, log entry or callback, with only the attributes that mapping asks for: never with a prompt. */
export interface IntakeRecord {
  kind: RecordKind;
  scope: { readonly name: string };
  /** The name of an event of a log; empty for others. */
  eventName: string;
  attributes: Attributes;
  resource: Attributes;
  /** 32 and 16 lower-case hexadecimal digits. Null if absent, malformed or all zeros. */
  traceId: string | null;
  spanId: string | null;
  parentSpanId: string | null;
  /** End of a span, or time of a log entry, in epoch milliseconds; 0 if the sender does not say. */
  timeMs: number;
  /** When the sender's own pipeline saw a log entry, in epoch milliseconds; 0 if it does not say. */
  observedMs: number;
  /** Whether the status of a span is an error. */
  failed: boolean;
  /** The W3C `tracestate` of a span. */
  traceState: string;
}

/** Most records of one body, calls or not. A span takes few bytes of a body, and hundreds in memory. */
const MAX_RECORDS = 100_000;
/** Most calls of one body, and most blocks by guards. */
const MAX_CALLS = 10_000;
/** Most texts of a list that is the value of an attribute; further ones do not count. */
export const MAX_TEXTS = 100;
/** Decoders pause after so many bytes of a body, whatever they are. */
const PAUSE_BYTES = 16 * 1024;
/** Levels of objects and lists inside one attribute that JSON may have. */
export const MAX_VALUE_LEVELS = 64;
/** Longest text that counts as the value of an attribute, in bytes; a longer one is taken for absent. */
export const MAX_TEXT_BYTES = 4 * 1024;
/** Longest text with JSON or Python inside, from which single values are read, in bytes. */
export const MAX_STRUCTURED_BYTES = 64 * 1024;

/** What is wrong with a body that cannot be read, as the end of a sentence. Decoders throw it. */
export class MalformedBody extends Error {
  override readonly name = 'MalformedBody';
}

const PATHS: Record<RecordKind, IntakePath> = {
  span: INTAKE_PATHS.traces,
  log: INTAKE_PATHS.logs,
  callback: INTAKE_PATHS.litellm,
};

/** Counts what a body may have a bounded number of. `add` gets the kind of the body's records. */
function createCounter(most: number, what: string, before = 0): { add(kind: RecordKind): void } {
  let count = before;
  return {
    add(kind) {
      count += 1;
      if (count <= most) return;
      const message = `The body has more than ${most} ${what}. ${PATHS[kind].tooLargeHint}`;
      throw new AppError('payload_too_large', message);
    },
  };
}

export const countRecords = () => createCounter(MAX_RECORDS, 'spans or log records');
/** `before` are those of earlier parts of the body. */
export const countCalls = (before = 0) => createCounter(MAX_CALLS, 'calls', before);
export const countBlocks = () => createCounter(MAX_CALLS, 'blocks by guards');

/** Whether a decoder that has come to a position should let its caller pause. */
export function createPauses(): { isDue(at: number): boolean } {
  let last = 0;
  return {
    isDue(at) {
      if (at - last < PAUSE_BYTES) return false;
      last = at;
      return true;
    },
  };
}

/** Epoch milliseconds of epoch nanoseconds. */
export function millisecondsOf(nanoseconds: bigint): number {
  return Number(nanoseconds / 1_000_000n);
}

/** A record without its fields. Resources and scopes may be completed after their records. */
export function emptyRecord(
  kind: RecordKind,
  of: Pick<IntakeRecord, 'scope' | 'resource' | 'attributes'>,
): IntakeRecord {
  return {
    kind,
    ...of,
    eventName: '',
    traceId: null,
    spanId: null,
    parentSpanId: null,
    timeMs: 0,
    observedMs: 0,
    failed: false,
    traceState: '',
  };
}

const TRACE_ID = /^(?!0+$)[0-9a-f]{32}$/;
const SPAN_ID = /^(?!0+$)[0-9a-f]{16}$/;

/** The id in lower case, or null if it is not one. */
export function traceIdOf(hex: string): string | null {
  const id = hex.toLowerCase();
  return TRACE_ID.test(id) ? id : null;
}

export function spanIdOf(hex: string): string | null {
  const id = hex.toLowerCase();
  return SPAN_ID.test(id) ? id : null;
}
