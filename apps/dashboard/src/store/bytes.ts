const FIRST_CAPACITY = 256;

/** Writes non-negative integers, texts and bytes one after the other. */
export class ByteWriter {
  #buffer = Buffer.allocUnsafe(FIRST_CAPACITY);
  #length = 0;

  /** LEB128: seven bits in each byte, the lowest first. */
  varint(value: number): void {
    // The largest number has 1024 bits and takes 147 bytes.
    this.#reserve(150);
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#buffer[this.#length++] = (rest % 0x80) | 0x80;
    this.#buffer[this.#length++] = rest;
  }

  /** Big-endian in this many bytes, at most six. */
  whole(value: number, bytes: number): void {
    this.#reserve(bytes);
    this.#length = this.#buffer.writeUIntBE(value, this.#length, bytes);
  }

  /** UTF-8 after its length in bytes plus `offset`. */
  text(text: string, offset: number): void {
    const length = Buffer.byteLength(text);
    this.varint(length + offset);
    this.#reserve(length);
    this.#length += this.#buffer.write(text, this.#length);
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** The bytes written so far. Later writes do not change them. */
  bytes(): Buffer {
    return Buffer.from(this.#buffer.subarray(0, this.#length));
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + bytes));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}

/** Reads what a {@link ByteWriter} wrote. Throws a RangeError when the bytes end too early. */
export class ByteReader {
  readonly #buffer: Buffer;
  readonly #start: number;
  readonly #end: number;
  #at: number;

  constructor(bytes: Uint8Array = new Uint8Array(), start = 0, end = bytes.length) {
    this.#buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#start = this.#at = start;
    this.#end = end;
  }

  /** The current position in the bytes of the outermost reader. */
  get at(): number {
    return this.#at;
  }

  /** Goes back to the first byte. */
  rewind(): void {
    this.#at = this.#start;
  }

  more(): boolean {
    return this.#at < this.#end;
  }

  varint(): number {
    const buffer = this.#buffer;
    let at = this.#at;
    let value = 0;
    for (let scale = 1; at < this.#end; scale *= 0x80) {
      const byte = buffer[at++]!;
      if (byte < 0x80) {
        this.#at = at;
        return value + byte * scale;
      }
      value += (byte & 0x7f) * scale;
    }
    throw new RangeError('The packed bytes end in the middle of a number');
  }

  /** Big-endian in this many bytes, at most six. */
  whole(bytes: number): number {
    return this.#buffer.readUIntBE(this.#take(bytes), bytes);
  }

  text(length: number): string {
    const from = this.#take(length);
    return this.#buffer.toString('utf8', from, this.#at);
  }

  skip(length: number): void {
    this.#take(length);
  }

  /** A reader of the next `length` bytes, which this reader skips. The bytes are not copied. */
  part(length: number): ByteReader {
    const from = this.#take(length);
    return new ByteReader(this.#buffer, from, this.#at);
  }

  /** The bytes between two positions of {@link at}. They are not copied. */
  slice(from: number, to: number): Uint8Array {
    return this.#buffer.subarray(from, to);
  }

  /** The bytes read so far as a key for maps: one character per byte. */
  keySoFar(): string {
    return this.#buffer.toString('latin1', this.#start, this.#at);
  }

  /** Skips `length` bytes, and returns where they start. */
  #take(length: number): number {
    const from = this.#at;
    if (from + length > this.#end) throw new RangeError('The packed bytes end too early');
    this.#at += length;
    return from;
  }
}
