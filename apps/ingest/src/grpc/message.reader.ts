import { once } from 'node:events';
import { finished, type Readable, Transform, type TransformCallback } from 'node:stream';
import {
  type ArrivedBody,
  BODY_ENCODINGS,
  type BodyBudget,
  bodyTooLarge,
  decoderOf,
  readArrivingBody,
} from '@tollkeeper/http';
import { AppError } from '@tollkeeper/kernel';

export interface MessageReading {
  /** The metadata `grpc-encoding`: how compressed messages are compressed. */
  encoding: string | undefined;
  /** Counts after decompression. */
  limitBytes: number;
  /** What a sender whose message is too large can do, as a sentence. */
  tooLargeHint: string;
  /** How many times larger a message over 64 KiB may become by decompression. */
  maxRatio: number;
  budget: BodyBudget;
  sender: string;
  /** Ends the reading, which rejects with its reason. */
  signal: AbortSignal;
}

/** One byte that says whether the message is compressed, and its length in four. */
const HEAD_BYTES = 5;

/** What requests may be compressed with, for clients. */
export const GRPC_ENCODINGS = ['identity', ...BODY_ENCODINGS].join();

/**
 * Reads the only message of a request. No byte of it is read before. A message whose length exceeds the limit is
 * refused before it arrives. Rejects like `readArrivingBody`, and with `invalid_request` unless the request is exactly
 * one message.
 */
export async function readMessage(stream: Readable, reading: MessageReading): Promise<ArrivedBody> {
  const { encoding, signal, ...limits } = reading;
  // Its errors are those of the reading, also before and after somebody waits for them.
  const payload = new MessagePayload().on('error', () => undefined);
  const stop = (): void => void payload.destroy(signal.reason as Error);
  signal.addEventListener('abort', stop);
  // A pipe does not pass on that its source was aborted.
  const forget = finished(stream, { writable: false }, (error) => {
    if (error) payload.destroy(error);
  });
  try {
    signal.throwIfAborted();
    const head = once(payload, 'head') as Promise<[Head]>;
    stream.pipe(payload);
    const [{ isCompressed, length }] = await head;
    if (length > limits.limitBytes) throw bodyTooLarge(limits.limitBytes, limits.tooLargeHint);
    const decoder = isCompressed ? decoderOf(encoding, 'metadata grpc-encoding') : undefined;
    if (isCompressed && decoder === undefined) throw notOne('it is compressed, and grpc-encoding does not say how');
    return await readArrivingBody(payload, { ...limits, decoder });
  } finally {
    signal.removeEventListener('abort', stop);
    forget();
    stream.unpipe(payload);
    payload.destroy();
  }
}

interface Head {
  isCompressed: boolean;
  /** Bytes of the message, as compressed. */
  length: number;
}

/** The bytes of a message without its head, which it emits as `head`. */
class MessagePayload extends Transform {
  #head: Buffer = Buffer.alloc(0);
  /** Bytes of the message that have not arrived. Undefined before its head. */
  #left: number | undefined;

  override _transform(piece: Buffer, _encoding: string, done: TransformCallback): void {
    const bytes = this.#left === undefined ? this.#readHead(piece) : piece;
    if (this.#left !== undefined) this.#left -= bytes.length;
    if (this.#left !== undefined && this.#left < 0) return done(notOne('there is more after it'));
    done(null, bytes.length > 0 ? bytes : undefined);
  }

  override _flush(done: TransformCallback): void {
    done(this.#left === 0 ? null : notOne('it is not complete'));
  }

  /** Returns what follows the head. */
  #readHead(piece: Buffer): Buffer {
    const missing = HEAD_BYTES - this.#head.length;
    this.#head = Buffer.concat([this.#head, piece.subarray(0, missing)]);
    if (this.#head.length === HEAD_BYTES) {
      this.#left = this.#head.readUInt32BE(1);
      this.emit('head', { isCompressed: this.#head[0] !== 0, length: this.#left } satisfies Head);
    }
    return piece.subarray(missing);
  }
}

function notOne(why: string): AppError {
  return new AppError('invalid_request', `The request is not one gRPC message: ${why}.`);
}
