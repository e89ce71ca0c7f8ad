import { type AttributeValue, createPauses, MalformedBody } from './record.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
export const LIST = 0x5b;
export const OBJECT = 0x7b;
const CLOSING = new Map([
  [LIST, 0x5d],
  [OBJECT, 0x7d],
]);
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const MAX_WORD_BYTES = 64;
const MAX_KEY_BYTES = 512;
const MAX_PLAIN_BYTES = 64;
/** Most blanks in a row: the loop over them does not pause. */
const MAX_BLANKS = 64 * 1024;

/**
 * Reads JSON from its bytes, value by value. What is not asked for is skipped without becoming a string or an object,
 * so a prompt costs a search for its closing quote. All methods throw `MalformedBody` where they find something else.
 *
 *     for (const key of json.keys()) {
 *       if (key === undefined) yield undefined;
 *       else if (key === 'id') id = json.scalar(64);
 *     }
 */
export class JsonScanner {
  #at = 0;
  /** The signs that close what is being skipped, and whether that is inside a text. */
  #closing: number[] = [];
  #isInText = false;
  readonly #bytes: Buffer;
  readonly #maxLevels: number;
  readonly #pauses = createPauses();

  constructor(bytes: Buffer, { maxLevels }: { maxLevels: number }) {
    this.#bytes = bytes;
    this.#maxLevels = maxLevels;
  }

  /** The position of the next byte. */
  get at(): number {
    return this.#at;
  }

  moveTo(at: number): void {
    this.#at = at;
    this.#closing = [];
    this.#isInText = false;
  }

  /** The first byte of the next value or sign, after blanks; -1 at the end. */
  peek(): number {
    const start = this.#at;
    while (isBlank(this.#bytes[this.#at])) this.#at += 1;
    if (this.#at - start > MAX_BLANKS) throw new MalformedBody(`has more than ${MAX_BLANKS} blanks in a row`);
    return this.#bytes[this.#at] ?? -1;
  }

  /**
   * The keys of the object that comes next; none if it is null. `undefined` where the caller may pause. Very long keys,
   * which nobody asks for, are empty. After each, its value comes next; if the caller does not read it, it is skipped.
   */
  *keys(): Generator<string | undefined> {
    if (this.#isNull()) return;
    for (let more = this.#begin(OBJECT); more; more = this.#next(OBJECT)) {
      const key = this.#text(MAX_KEY_BYTES);
      while (key === undefined && !this.#skipSome()) yield undefined;
      this.#expect(COLON);
      const start = this.#startOfValue();
      yield key ?? '';
      while (!this.#passValue(start)) yield undefined;
    }
  }

  /** As `keys`, the indices of the elements of the list that comes next. */
  *elements(): Generator<number | undefined> {
    if (this.#isNull()) return;
    let index = 0;
    for (let more = this.#begin(LIST); more; more = this.#next(LIST)) {
      const start = this.#startOfValue();
      yield index;
      while (!this.#passValue(start)) yield undefined;
      index += 1;
    }
  }

  /** The text, number or boolean that comes next. Undefined for null, and for a value that is left for skipping. */
  scalar(maxBytes: number): Exclude<AttributeValue, readonly string[]> | undefined {
    const byte = this.peek();
    if (byte === QUOTE) return this.#text(maxBytes);
    if (byte === LIST || byte === OBJECT) return undefined;
    const word = this.#word();
    if (word === 'null') return undefined;
    return word === 'true' || word === 'false' ? word === 'true' : Number(word);
  }

  /**
   * Skips the value that comes next, whatever it is, and pauses at `undefined`. Throws if it is deeper than the levels
   * that are allowed.
   */
  *skip(): Generator<undefined> {
    while (!this.#skipSome()) yield undefined;
  }

  /** Checks that nothing but blanks follows. */
  end(): void {
    if (this.peek() !== -1) throw this.#malformed();
  }

  #startOfValue(): number {
    this.peek();
    return this.#at;
  }

  /** Skips the value that begins at `start`, unless it has been read. False where the caller may pause. */
  #passValue(start: number): boolean {
    const isSkipping = this.#closing.length > 0 || this.#isInText;
    if ((this.#at === start || isSkipping) && !this.#skipSome()) return false;
    return !this.#pauses.isDue(this.#at);
  }

  #isNull(): boolean {
    const byte = this.peek();
    return byte !== OBJECT && byte !== LIST && byte !== QUOTE && this.#word() === 'null';
  }

  /** Begins an object or a list. False if it is empty; then it has been read. */
  #begin(opening: number): boolean {
    this.#expect(opening);
    if (this.peek() !== CLOSING.get(opening)) return true;
    this.#at += 1;
    return false;
  }

  /** After a value of an object or a list: whether another one follows. */
  #next(opening: number): boolean {
    const byte = this.peek();
    if (byte !== COMMA && byte !== CLOSING.get(opening)) throw this.#malformed();
    this.#at += 1;
    return byte === COMMA;
  }

  /** The text that comes next. Undefined if it has more than `maxBytes` in the body; then it is left for skipping. */
  #text(maxBytes: number): string | undefined {
    if (this.peek() !== QUOTE) throw this.#malformed();
    const plain = this.#plainText();
    if (plain !== undefined) return plain;
    const start = this.#at;
    const end = this.#endOfText(start + 1 + maxBytes);
    if (end === undefined) return undefined;
    this.#at = end;
    try {
      return JSON.parse(this.#bytes.toString('utf8', start, end)) as string;
    } catch {
      throw this.#malformed();
    }
  }

  /** A short text of ASCII without escapes, such as most keys. */
  #plainText(): string | undefined {
    const bytes = this.#bytes;
    const start = this.#at + 1;
    const last = Math.min(start + MAX_PLAIN_BYTES, bytes.length);
    for (let at = start; at < last; at += 1) {
      const byte = bytes[at]!;
      if (byte === QUOTE) {
        this.#at = at + 1;
        return bytes.toString('latin1', start, at);
      }
      if (byte === BACKSLASH || byte < 0x20 || byte > 0x7e) return undefined;
    }
    return undefined;
  }

  /** The position after the text that comes next; undefined if its closing quote is after `last`. */
  #endOfText(last: number): number | undefined {
    const bytes = this.#bytes;
    for (let at = this.#at + 1; at <= last && at < bytes.length; at += bytes[at] === BACKSLASH ? 2 : 1) {
      if (bytes[at] === QUOTE) return at + 1;
    }
    return undefined;
  }

  /** The number, `true`, `false` or `null` that comes next, as it is written. */
  #word(): string {
    const start = this.#at;
    this.#skipWord();
    const word = this.#bytes.toString('latin1', start, this.#at);
    if (word === 'true' || word === 'false' || word === 'null' || NUMBER.test(word)) return word;
    throw this.#malformed();
  }

  #skipWord(): void {
    const start = this.#at;
    while (isOfWord(this.#bytes[this.#at]) && this.#at - start <= MAX_WORD_BYTES) this.#at += 1;
    if (this.#at === start || this.#at - start > MAX_WORD_BYTES) throw this.#malformed();
  }

  /** Continues to skip the value that comes next. False where the caller may pause. */
  #skipSome(): boolean {
    const closing = this.#closing;
    while (true) {
      const byte = this.#isInText ? QUOTE : this.peek();
      if (byte === QUOTE) {
        this.#skipSomeText();
      } else if (byte === LIST || byte === OBJECT) {
        this.#at += 1;
        closing.push(CLOSING.get(byte)!);
        if (closing.length > this.#maxLevels) {
          throw new MalformedBody(`has a value of more than ${this.#maxLevels} levels of objects and lists`);
        }
      } else if (closing.length > 0 && byte === closing.at(-1)) {
        this.#at += 1;
        closing.pop();
      } else if (closing.length > 0 && (byte === COMMA || byte === COLON)) {
        this.#at += 1;
      } else {
        this.#skipWord();
      }
      const isDone = closing.length === 0 && !this.#isInText;
      if (isDone || this.#pauses.isDue(this.#at)) return isDone;
    }
  }

  /** Moves after the next quote. That ends the text unless it is escaped. */
  #skipSomeText(): void {
    const bytes = this.#bytes;
    const start = this.#isInText ? this.#at : this.#at + 1;
    const quote = bytes.indexOf(QUOTE, start);
    if (quote === -1) {
      this.#at = bytes.length;
      throw this.#malformed();
    }
    let escapes = 0;
    while (quote - escapes > start && bytes[quote - escapes - 1] === BACKSLASH) escapes += 1;
    this.#isInText = escapes % 2 === 1;
    this.#at = quote + 1;
  }

  #expect(byte: number): void {
    if (this.peek() !== byte) throw this.#malformed();
    this.#at += 1;
  }

  #malformed(): MalformedBody {
    const where = this.#at >= this.#bytes.length ? 'ends too early' : `is not JSON at byte ${this.#at}`;
    return new MalformedBody(where);
  }
}

const isBlank = (byte: number | undefined) => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;

/** A letter, a digit or a sign of a number. */
function isOfWord(byte = 0): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x61 && byte <= 0x7a) ||
    byte === 0x2b ||
    byte === 0x2d ||
    byte === 0x2e ||
    byte === 0x45
  );
}
