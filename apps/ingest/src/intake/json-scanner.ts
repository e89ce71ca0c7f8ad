import { MalformedBody } from './record.ts';

export const QUOTE = 0x22;
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
const MAX_NUMBER_BYTES = 64;
const MAX_KEY_BYTES = 512;
const MAX_PLAIN_BYTES = 64;

/**
 * Reads JSON from its bytes, value by value. What nobody reads is skipped without becoming a string or an object, so a
 * prompt costs a search for its closing quote. All methods throw `MalformedBody` where they find something else.
 *
 *     for (let more = json.begin(OBJECT); more; more = json.next(OBJECT)) {
 *       if (json.key() === 'id') id = json.text(64); else json.skip();
 *     }
 */
export class JsonScanner {
  /** The position of the next byte. */
  at = 0;
  readonly #bytes: Buffer;
  readonly #end: number;
  readonly #maxLevels: number;

  constructor(bytes: Buffer, { maxLevels, at = 0 }: { maxLevels: number; at?: number }) {
    this.#bytes = bytes;
    this.#end = bytes.length;
    this.#maxLevels = maxLevels;
    this.at = at;
  }

  /** The first byte of the next value or sign, after blanks; -1 at the end. */
  peek(): number {
    while (isBlank(this.#bytes[this.at])) this.at += 1;
    return this.#bytes[this.at] ?? -1;
  }

  /** Begins an object or a list. False if it is empty; then it has been read. */
  begin(opening: number): boolean {
    this.#expect(opening);
    if (this.peek() !== CLOSING.get(opening)) return true;
    this.at += 1;
    return false;
  }

  /** After a value of an object or a list: whether another one follows. */
  next(opening: number): boolean {
    const byte = this.peek();
    if (byte !== COMMA && byte !== CLOSING.get(opening)) throw this.#malformed();
    this.at += 1;
    return byte === COMMA;
  }

  /** The key of the next value of an object. Very long keys, which nobody asks for, come back empty. */
  key(): string {
    const key = this.text(MAX_KEY_BYTES) ?? '';
    this.#expect(COLON);
    return key;
  }

  /** The text that comes next; undefined if it has more than `maxBytes` in the body. */
  text(maxBytes: number): string | undefined {
    const plain = this.#plainText();
    if (plain !== undefined) return plain.length > maxBytes ? undefined : plain;
    this.#expect(QUOTE);
    const start = this.at;
    const end = this.#skipText();
    if (end - start > maxBytes) return undefined;
    try {
      return JSON.parse(this.#bytes.toString('utf8', start - 1, end + 1)) as string;
    } catch {
      throw this.#malformed();
    }
  }

  /** The number, `true`, `false` or `null` that comes next, as it is written. */
  word(): string {
    this.peek();
    const start = this.at;
    while (isOfWord(this.#bytes[this.at])) this.at += 1;
    const word = this.#bytes.toString('latin1', start, Math.min(this.at, start + MAX_NUMBER_BYTES + 1));
    const isWord = word === 'true' || word === 'false' || word === 'null';
    if (isWord || (word.length <= MAX_NUMBER_BYTES && NUMBER.test(word))) return word;
    throw this.#malformed();
  }

  /** Skips the value that comes next, whatever it is. Throws if it is deeper than the levels that are allowed. */
  skip(): void {
    const closing: number[] = [];
    do {
      const byte = this.peek();
      if (byte === QUOTE) {
        this.at += 1;
        this.#skipText();
      } else if (byte === LIST || byte === OBJECT) {
        this.at += 1;
        closing.push(CLOSING.get(byte)!);
        if (closing.length > this.#maxLevels) {
          throw new MalformedBody(`has a value of more than ${this.#maxLevels} levels of objects and lists`);
        }
      } else if (closing.length > 0 && byte === closing.at(-1)) {
        this.at += 1;
        closing.pop();
      } else if (closing.length > 0 && (byte === COMMA || byte === COLON)) {
        this.at += 1;
      } else {
        this.word();
      }
    } while (closing.length > 0);
  }

  /** Checks that nothing but blanks follows. */
  end(): void {
    if (this.peek() !== -1) throw this.#malformed();
  }

  /** A short text of ASCII without escapes, such as most keys: to find its end, no call of `indexOf` is worth it. */
  #plainText(): string | undefined {
    if (this.peek() !== QUOTE) return undefined;
    const bytes = this.#bytes;
    const start = this.at + 1;
    const last = Math.min(start + MAX_PLAIN_BYTES, this.#end);
    for (let at = start; at < last; at += 1) {
      const byte = bytes[at]!;
      if (byte === QUOTE) {
        this.at = at + 1;
        return bytes.toString('latin1', start, at);
      }
      if (byte === BACKSLASH || byte < 0x20 || byte > 0x7e) return undefined;
    }
    return undefined;
  }

  #expect(byte: number): void {
    if (this.peek() !== byte) throw this.#malformed();
    this.at += 1;
  }

  /** Moves after the quote that ends the text, and returns its position. */
  #skipText(): number {
    const bytes = this.#bytes;
    const start = this.at;
    let quote = start - 1;
    let escapes: number;
    do {
      quote = bytes.indexOf(QUOTE, quote + 1);
      if (quote === -1) throw this.#malformed();
      escapes = 0;
      while (quote - escapes > start && bytes[quote - escapes - 1] === BACKSLASH) escapes += 1;
    } while (escapes % 2 === 1);
    this.at = quote + 1;
    return quote;
  }

  #malformed(): MalformedBody {
    const where = this.at >= this.#end ? 'ends too early' : `is not JSON at byte ${this.at}`;
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
