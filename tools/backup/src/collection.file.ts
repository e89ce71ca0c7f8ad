import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { Failure } from './failure.ts';

/** What is compressed and written, or inserted, at a time. */
const PIECE_BYTES = 1024 * 1024;
const BATCH_BYTES = 2 * 1024 * 1024;
const BATCH_DOCUMENTS = 2_000;
/** The largest document that MongoDB stores is 16 MB, and some more for its own use. */
const MAX_DOCUMENT_BYTES = 17 * 1024 * 1024;

interface WrittenFile {
  documents: number;
  bytes: number;
  fileBytes: number;
  sha256: string;
}

/** Writes the documents one after the other, compressed, to a new file that only its owner can read. */
export async function writeDocuments(
  file: string,
  source: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void,
): Promise<WrittenFile> {
  let [documents, bytes, fileBytes] = [0, 0, 0];
  const hash = createHash('sha256');

  async function* pieces() {
    let piece: Uint8Array[] = [];
    let size = 0;
    const take = () => {
      const whole = Buffer.concat(piece);
      bytes += size;
      onBytes(size);
      [piece, size] = [[], 0];
      return whole;
    };
    for await (const document of source) {
      documents += 1;
      piece.push(document);
      size += document.length;
      if (size >= PIECE_BYTES) yield take();
    }
    yield take();
  }
  async function* hashed(compressed: AsyncIterable<Buffer>) {
    for await (const part of compressed) {
      hash.update(part);
      fileBytes += part.length;
      yield part;
    }
  }
  const writing = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true });
  await pipeline(pieces, createGzip({ level: 1, chunkSize: PIECE_BYTES / 4 }), hashed, writing);
  return { documents, bytes, fileBytes, sha256: hash.digest('hex') };
}

/** The documents of the file, in batches of bounded size. */
export async function* readBatches(file: string): AsyncGenerator<Uint8Array[]> {
  const unzipped = createGunzip({ chunkSize: PIECE_BYTES });
  const reading = pipeline(createReadStream(file), unzipped);
  // An error also ends the loop below, and is thrown there.
  reading.catch(() => undefined);
  let rest = Buffer.alloc(0);
  let batch: Uint8Array[] = [];
  let size = 0;
  for await (const part of unzipped as AsyncIterable<Buffer>) {
    const data = Buffer.concat([rest, part]);
    let at = 0;
    for (let end = endOf(data, at, file); end !== null; end = endOf(data, at, file)) {
      batch.push(data.subarray(at, end));
      size += end - at;
      at = end;
      if (size < BATCH_BYTES && batch.length < BATCH_DOCUMENTS) continue;
      yield batch;
      [batch, size] = [[], 0];
    }
    rest = data.subarray(at);
  }
  if (rest.length > 0) throw cutOff(file);
  if (batch.length > 0) yield batch;
}

/** Where the document that begins at `at` ends; null if the data ends before. */
function endOf(data: Buffer, at: number, file: string): number | null {
  if (data.length < at + 4) return null;
  const length = data.readInt32LE(at);
  if (length < 5 || length > MAX_DOCUMENT_BYTES) throw cutOff(file);
  return at + length <= data.length ? at + length : null;
}

const cutOff = (file: string) => new Failure(`${file} is damaged. Restore another backup.`);

/** Rejects if the file is not the one that was written. */
export async function verifyFile(file: string, { fileBytes, sha256 }: Pick<WrittenFile, 'fileBytes' | 'sha256'>) {
  const hash = createHash('sha256');
  let size = 0;
  try {
    for await (const part of createReadStream(file, { highWaterMark: PIECE_BYTES }) as AsyncIterable<Buffer>) {
      hash.update(part);
      size += part.length;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Failure(`${file} is missing. Copy the whole directory of the backup, or restore another one.`);
  }
  if (size !== fileBytes || hash.digest('hex') !== sha256) throw cutOff(file);
}
