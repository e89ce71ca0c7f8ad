const FIRST_CAPACITY = 256;

/** Writes whole numbers from 0, texts and bytes one behind the other. */
export class ByteWriter {
  #buffer = Buffer.allocUnsafe(FIRST_CAPACITY);
  #length = 0;

  /** LEB128: seven bits in each byte, the lowest first. */
  varint(value: number): void {
    // A number of 1024 bits, the largest that there is, takes 147 bytes.
    this.#reserve(150);
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#buffer[this.#length++] = (rest % 0x80) | 0x80;
    this.#buffer[this.#length++] = rest;
  }

  /** UTF-8 behind its length in bytes plus `offset`. */
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

  /** What was written. Writing on does not change it. */
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

/** Reads what a {@link ByteWriter} wrote. Throws a RangeError when it ends too early. */
export class ByteReader {
  readonly #buffer: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array = new Uint8Array()) {
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** Goes back to the first byte. */
  rewind(): void {
    this.#at = 0;
  }

  more(): boolean {
    return this.#at < this.#buffer.length;
  }

  varint(): number {
    const buffer = this.#buffer;
    let at = this.#at;
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = buffer[at++];
      if (byte === undefined) throw new RangeError('The packed bytes end in the middle of a number');
      if (byte < 0x80) {
        this.#at = at;
        return value + byte * scale;
      }
      value += (byte & 0x7f) * scale;
    }
  }

  text(length: number): string {
    return this.#take(length).toString();
  }

  raw(length: number): Uint8Array {
    return this.#take(length);
  }

  #take(length: number): Buffer {
    if (this.#at + length > this.#buffer.length) throw new RangeError('The packed bytes end too early');
    this.#at += length;
    return this.#buffer.subarray(this.#at - length, this.#at);
  }
}
