import { finished, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { AppError } from '@tollkeeper/kernel';
import type { BodyBudget, BodyShare } from './body-budget.ts';

export interface BodyReading {
  /** Counts after decompression. */
  limitBytes: number;
  /** What a sender whose body is too large can do, as a sentence. */
  tooLargeHint?: string | undefined;
  budget: BodyBudget;
  sender: string;
  /** How many times larger a body over 64 KiB may become by decompression. */
  maxRatio: number;
  /** Made by {@link decoderOf}. Undefined if the bytes are not compressed. */
  decoder: Decoder | undefined;
  /** Called when the body has lost its room to others, before it is refused. */
  onGiveWay?: () => void;
}

/** The bytes of a body that has arrived. */
export interface ArrivedBody {
  bytes: Buffer;
  /** Returns the room of the body, when it is no longer needed. */
  release: () => void;
}

/** A body up to this size does no harm, whatever its compression. */
const UNCHECKED_BYTES = 64 * 1024;

/**
 * Reads all of a body from `source`, which stays open because the answer still uses its connection. Rejects with
 * `payload_too_large` over the limit or over the ratio of its compression, `service_unavailable` if the budget has no
 * room or the body stalls while others need it, and `invalid_request` if it cannot be decompressed or ends too early.
 */
export async function readArrivingBody(source: Readable, reading: BodyReading): Promise<ArrivedBody> {
  const { budget, sender, decoder, onGiveWay } = reading;
  const arrival = createArrival(decoder ?? source, reading);
  const share = budget.open((reason) => {
    onGiveWay?.();
    arrival.fail(reason);
  }, sender);
  try {
    const bytes = await collect(source, decoder, arrival.collect(share));
    share.complete();
    return { bytes, release: share.giveBack };
  } catch (error) {
    share.giveBack();
    throw error;
  }
}

async function collect(source: Readable, decoder: Decoder | undefined, collected: Promise<Buffer>): Promise<Buffer> {
  try {
    if (decoder !== undefined) decompress(source, decoder);
    return await collected;
  } catch (cause) {
    throw cause instanceof AppError ? cause : unreadable(cause);
  } finally {
    if (decoder !== undefined) source.unpipe(decoder);
    decoder?.destroy();
    // Otherwise the rest of the body would come before the next request on this connection.
    source.resume();
  }
}

/** Makes a function that counts the bytes that arrive, and throws `payload_too_large` if they are too many. */
export function createLengthCheck({
  limitBytes,
  tooLargeHint,
  maxRatio,
  decoder,
}: BodyReading): (bytes: number) => void {
  let length = 0;
  return (bytes) => {
    length += bytes;
    if (length > limitBytes) throw bodyTooLarge(limitBytes, tooLargeHint);
    if (decoder !== undefined && length > Math.max(UNCHECKED_BYTES, decoder.bytesWritten * maxRatio)) {
      throw grownTooMuch(maxRatio);
    }
  };
}

function createArrival(source: Readable, reading: BodyReading) {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const check = createLengthCheck(reading);
  const read: Buffer[] = [];
  let stop = () => {};
  const fail = (reason: unknown) => {
    stop();
    reject(reason);
  };

  return {
    fail,
    /** Reads the whole body, and takes room from `share` for each piece as it arrives. */
    collect(share: BodyShare): Promise<Buffer> {
      const onData = (piece: Buffer) => {
        try {
          check(piece.length);
          share.take(piece.length);
          read.push(withoutRest(piece));
        } catch (refused) {
          fail(refused);
        }
      };
      const forget = finished(source, { writable: false }, (error) => {
        if (error) fail(error);
        else resolve(Buffer.concat(read));
      });
      stop = () => {
        source.off('data', onData);
        forget();
        stop = () => {};
      };
      source.on('data', onData);
      return promise;
    },
  };
}

/** A piece is a view of all that was read from its connection, which can be many times its size. */
export function withoutRest(piece: Buffer): Buffer {
  return piece.length < piece.buffer.byteLength / 2 ? Buffer.from(piece) : piece;
}

export function decompress(source: Readable, decoder: Decoder): void {
  source.pipe(decoder);
  // A pipe does not pass on that its source was aborted, so the decoder would wait for more.
  finished(source, { writable: false }, (error) => {
    if (error) decoder.destroy(error);
  });
}

/** `bytesWritten` counts the compressed bytes that are decompressed. */
type Decoder = Transform & { readonly bytesWritten: number };

const DECODERS: Record<string, () => Decoder> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecoder,
  zstd: createZstdDecompress,
};

/** Brotli fills a window of up to 16 MiB from a few bytes, which no budget counts. So few are decoded at a time. */
const MAX_BROTLI_DECODERS = 4;
let brotliDecoders = 0;

function createBrotliDecoder(): Decoder {
  if (brotliDecoders >= MAX_BROTLI_DECODERS) {
    const message = 'Too many bodies with Brotli are in progress. Send it again, or compress it with gzip.';
    throw new AppError('service_unavailable', message, { retryAfterSeconds: 1 });
  }
  brotliDecoders += 1;
  return createBrotliDecompress().once('close', () => (brotliDecoders -= 1));
}

/** The compressions that bodies may have. */
export const BODY_ENCODINGS: readonly string[] = Object.keys(DECODERS);

/**
 * Decompresses a body. Undefined for `identity`; throws `unsupported_media_type` for another unknown name, and
 * `service_unavailable` for more Brotli than the process decodes at a time.
 */
export function decoderOf(encoding = 'identity', header = 'Content-Encoding'): Decoder | undefined {
  const name = encoding.toLowerCase();
  if (name === 'identity') return undefined;
  const create = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (create !== undefined) return create();
  throw new AppError('unsupported_media_type', `The ${header} must be one of ${BODY_ENCODINGS.join(', ')}.`);
}

export function unreadable(cause: unknown): AppError {
  return new AppError(
    'invalid_request',
    'The request body cannot be read. Check that it is complete and that Content-Encoding names its compression.',
    { cause },
  );
}

const MIB = 1024 * 1024;

/** The error for a body over its limit. `hint` says what its sender can do. */
export function bodyTooLarge(limitBytes: number, hint?: string): AppError {
  const limit = limitBytes % MIB === 0 ? `${limitBytes / MIB} MiB` : `${limitBytes} bytes`;
  const message = `The request body is larger than ${limit}.${hint === undefined ? '' : ` ${hint}`}`;
  return new AppError('payload_too_large', message);
}

function grownTooMuch(maxRatio: number): AppError {
  const message = `The request body grows more than ${maxRatio} times by decompression. Send it without compression.`;
  return new AppError('payload_too_large', message);
}
