import { AppError, startSlices } from '@tollkeeper/kernel';
import { parse } from 'secure-json-parse';

/** Bodies up to this size are parsed at once: they have too few values to take long. */
const WHOLE_BYTES = 64 * 1024;
/** Most fields, elements, objects and lists in JSON that is parsed at once: a whole body, or an element of a list. */
export const MAX_JSON_PARTS = 20_000;
/** Most nested levels of objects and lists. Recursive code such as JSON.stringify can go this deep. */
export const MAX_JSON_DEPTH = 100;
/** Most elements of a list that is a large body. Routes accept fewer. */
const MAX_LIST_LENGTH = 10_000;
/** Most parts in such a list: a part of 3 bytes of text can take 64 bytes of memory. */
export const MAX_LIST_PARTS = 500_000;
/** List elements are parsed together up to these bounds. */
const RUN_PARTS = 5_000;
const RUN_BYTES = 64 * 1024;
/** The text is scanned in pieces of this size. */
const LOOK_BYTES = 64 * 1024;

/** Whether parsing the body may take long and need much memory. */
export function isLarge(bytes: Buffer): boolean {
  return bytes.length > WHOLE_BYTES;
}

/**
 * The JSON value of a body. A large body is parsed in slices, a list by its elements, with turns for other requests in
 * between.
 *
 * Throws `malformed_json` for a body that is not JSON in UTF-8 or has a key that could reach a prototype. Throws
 * `invalid_request` for a body deeper than `MAX_JSON_DEPTH`, and for more than `MAX_JSON_PARTS` in a large body or in
 * one element of its list, because they would block everything else. A list has at most `MAX_LIST_PARTS`.
 */
export async function parseJsonBody(bytes: Buffer): Promise<unknown> {
  if (!isLarge(bytes)) {
    const cursor = cursorAt(0, 0);
    if (mayBeDeep(bytes)) while (cursor.at < bytes.length) advance(bytes, cursor);
    return parsePart(bytes);
  }
  const start = firstOf(bytes);
  return bytes[start] === BRACKET ? parseList(bytes, start + 1) : parseValue(bytes);
}

async function parseValue(bytes: Buffer): Promise<unknown> {
  const slices = startSlices();
  await slices.next();
  const cursor = cursorAt(0, 0);
  while (cursor.at < bytes.length) {
    advance(bytes, cursor);
    if (cursor.parts > MAX_JSON_PARTS) throw tooMany('', partsOf(MAX_JSON_PARTS));
    if (slices.usedUp()) await slices.next();
  }
  await slices.next();
  const value = parsePart(bytes);
  await slices.next();
  return value;
}

/**
 * `start` is after the opening bracket. The text is cut at commas between elements, and each run is parsed as a list of
 * its own. So only text that is valid as a whole passes, wherever the cuts are.
 */
async function parseList(bytes: Buffer, start: number): Promise<unknown[]> {
  const slices = startSlices();
  await slices.next();
  const list: unknown[] = [];
  let run = { start, parts: 0 };
  let element = { index: 0, parts: 0 };
  const parseRun = (end: number) => {
    const elements = parsePart(bytes.subarray(run.start, end), '[', ']') as unknown[];
    if (elements.length === 0 && run.start !== start) throw malformed();
    for (const each of elements) list.push(each);
  };
  const cursor = cursorAt(start, 1);
  while (cursor.at < bytes.length) {
    const stop = advance(bytes, cursor);
    const { at, parts } = cursor;
    // The comma after an element does not count.
    const own = parts - element.parts - (stop === 'comma' ? 1 : 0);
    if (own > MAX_JSON_PARTS) throw tooMany(`[${element.index}]`, partsOf(MAX_JSON_PARTS));
    if (parts > MAX_LIST_PARTS) throw tooMany('', partsOf(MAX_LIST_PARTS));
    if (stop === 'end') {
      if (bytes[at - 1] !== CLOSING_BRACKET || !onlyBlanks(bytes, at)) throw malformed();
      parseRun(at - 1);
      return list;
    }
    if (stop === 'comma') {
      element = { index: element.index + 1, parts };
      if (element.index === MAX_LIST_LENGTH) throw tooMany('', `${MAX_LIST_LENGTH} elements`);
      if (parts - run.parts >= RUN_PARTS || at - run.start >= RUN_BYTES) {
        parseRun(at - 1);
        run = { start: at, parts };
      }
    }
    if (slices.usedUp()) await slices.next();
  }
  throw malformed();
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** A position in JSON text. */
interface Cursor {
  /** The position after the scanned text. */
  at: number;
  /** Number of open lists and objects at this position. */
  depth: number;
  /** Commas and opening brackets so far. In JSON, at least the number of values minus one. */
  parts: number;
  inText: boolean;
}

function cursorAt(at: number, depth: number): Cursor {
  return { at, depth, parts: 0, inText: false };
}

/** A comma between elements of the scanned list or object, its end, or an intermediate stop. */
type Stop = 'comma' | 'end' | 'rest';

/**
 * Moves the cursor after the next stop. Throws `invalid_request` below `MAX_JSON_DEPTH`. Invalid JSON is found by the
 * parser later.
 */
function advance(bytes: Buffer, cursor: Cursor): Stop {
  // Local variables make this loop, which takes most of the time, several times as fast.
  let { at, depth, parts, inText } = cursor;
  const restAt = Math.min(at + LOOK_BYTES, bytes.length);
  let stop: Stop = 'rest';
  while (at < restAt && stop === 'rest') {
    const byte = bytes[at];
    at += 1;
    if (inText) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) inText = false;
    } else if (byte === QUOTE) {
      inText = true;
    } else if (byte === COMMA) {
      parts += 1;
      if (depth === 1) stop = 'comma';
    } else if (byte === BRACKET || byte === BRACE) {
      parts += 1;
      depth += 1;
      if (depth > MAX_JSON_DEPTH) throw tooMany('', `${MAX_JSON_DEPTH} levels of objects and lists`);
    } else if (byte === CLOSING_BRACKET || byte === CLOSING_BRACE) {
      depth -= 1;
      if (depth === 0) stop = 'end';
    }
  }
  cursor.at = at;
  cursor.depth = depth;
  cursor.parts = parts;
  cursor.inText = inText;
  return stop;
}

/** Whether there are enough opening brackets, including those in texts and side by side. Most bodies have fewer. */
function mayBeDeep(bytes: Buffer): boolean {
  let brackets = 0;
  for (const bracket of [BRACKET, BRACE]) {
    for (let at = bytes.indexOf(bracket); at !== -1; at = bytes.indexOf(bracket, at + 1)) {
      brackets += 1;
      if (brackets > MAX_JSON_DEPTH) return true;
    }
  }
  return false;
}

const isBlank = (byte: number | undefined) => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** The start of the value, after a byte order mark and blanks. */
function firstOf(bytes: Buffer): number {
  let start = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  while (isBlank(bytes[start])) start += 1;
  return start;
}

function onlyBlanks(bytes: Buffer, start: number): boolean {
  for (let at = start; at < bytes.length; at += 1) if (!isBlank(bytes[at])) return false;
  return true;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** As in `parse`, a byte order mark is allowed only at the start, so never between `before` and `after`. */
function parsePart(bytes: Buffer, before = '', after = ''): unknown {
  try {
    return parse(before + UTF8.decode(bytes) + after, { protoAction: 'error', constructorAction: 'error' });
  } catch (cause) {
    throw malformed(cause);
  }
}

function malformed(cause?: unknown): AppError {
  return new AppError('malformed_json', 'The request body is not valid JSON.', { cause });
}

const partsOf = (most: number) => `${most} fields, elements, objects and lists`;

function tooMany(path: string, most: string): AppError {
  const message = `must have at most ${most}`;
  const sentence = `${path === '' ? 'The body' : path} ${message}.`;
  return new AppError('invalid_request', sentence, { details: [{ path, message }] });
}
