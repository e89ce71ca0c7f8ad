import { finished, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { AppError } from '@tollkeeper/kernel';
import type { Turns } from '@tollkeeper/kernel';
import type { Request, Response } from 'express';
import { parse as parseMediaType } from 'content-type';
import type { BodyBudget, BodyShare } from './body-budget.ts';
import { isLarge, parseJsonBody } from './json-body.ts';
import type { Route } from './route.ts';

/**
 * Content type and JSON value of a body; both undefined if there is none. For a route that reads bytes, the value is
 * the bytes.
 */
export interface RequestBody {
  contentType: string | undefined;
  value: unknown;
}

/** The result of reading a body. */
export interface ReadBody<T> {
  read: T;
  /** Returns the room of the body, when the body is no longer needed. */
  release: () => void;
}

export interface BodyReaderOptions {
  limitBytes: number;
  budget: BodyBudget;
  /** Turns in which large bodies are parsed, weighted by the bytes of their text. */
  turns: Turns;
}

/**
 * Makes the reader of one route's body: 415 for another content type than the route's, 413 over `limitBytes` (also
 * counted after decompression), 503 if the budget has no room or the body stalls while others need it, 400 if it is not
 * JSON, unless the route reads bytes. Keys that could reach a prototype count as invalid JSON.
 *
 * `arrived` gets the bytes of the body before it is parsed, and may throw. Resolves to the result of `use`. The value
 * must not outlive `use`: that bounds the memory of large bodies, of which each `sender` has one at a time.
 */
export function createBodyReader(route: Route, { limitBytes, budget, turns }: BodyReaderOptions) {
  const types = Object.keys(route.bodies ?? {});
  const emptyBytes = (header = ''): RequestBody => ({
    contentType: types.find((type) => header.toLowerCase().startsWith(type)) ?? types[0],
    value: Buffer.alloc(0),
  });

  return async <T>(
    req: Request,
    res: Response,
    sender: string,
    { arrived, use }: { arrived: (bytes: number) => void; use: (body: RequestBody) => Promise<T> },
  ): Promise<ReadBody<T>> => {
    if (types.length === 0 || !hasBody(req)) {
      const body = route.readsBytes ? emptyBytes(req.headers['content-type']) : NO_BODY;
      return { read: await use(body), release: () => undefined };
    }
    const contentType = contentTypeOf(req.headers['content-type'] ?? '', types);
    if (Number(req.headers['content-length'] ?? 0) > limitBytes) throw tooLarge();
    const decoder = decoderOf(req.headers['content-encoding']);
    const arrival = createArrival(decoder ?? req, limitBytes);
    const share = budget.open((reason) => {
      // Does not wait for further requests of a sender this slow.
      if (!res.headersSent) res.setHeader('connection', 'close');
      arrival.fail(reason);
    }, sender);
    try {
      const bytes = await collect(req, decoder, arrival.collect(share));
      share.complete();
      arrived(bytes.length);
      if (route.readsBytes) return { read: await use({ contentType, value: bytes }), release: share.giveBack };
      const useValue = async () =>
        use({ contentType, value: bytes.length === 0 ? undefined : await parseJsonBody(bytes) });
      const read = isLarge(bytes) ? turns.run(sender, bytes.length, useValue) : useValue();
      return { read: await read, release: share.giveBack };
    } catch (error) {
      share.giveBack();
      throw error;
    }
  };
}

const NO_BODY: RequestBody = { contentType: undefined, value: undefined };

async function collect(req: Request, decoder: Transform | undefined, collected: Promise<Buffer>): Promise<Buffer> {
  try {
    if (decoder !== undefined) decompress(req, decoder);
    return await collected;
  } catch (cause) {
    throw cause instanceof AppError ? cause : unreadable(cause);
  } finally {
    if (decoder !== undefined) req.unpipe(decoder);
    decoder?.destroy();
    // Otherwise the rest of the body would come before the next request on this connection.
    req.resume();
  }
}

function hasBody(req: Request): boolean {
  const length = req.headers['content-length'];
  return req.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

function contentTypeOf(header: string, types: readonly string[]): string {
  const { type, parameters } = parseMediaType(header);
  if (!types.includes(type)) {
    throw new AppError('unsupported_media_type', `The Content-Type must be ${types.join(' or ')}.`);
  }
  const { charset = 'utf-8' } = parameters;
  if (charset.toLowerCase() !== 'utf-8') {
    throw new AppError('unsupported_media_type', 'The charset of the Content-Type must be utf-8.');
  }
  return type;
}

/** Reads a body from `source`, which stays open because the answer still uses its connection. */
function createArrival(source: Readable, limitBytes: number) {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const read: Buffer[] = [];
  let length = 0;
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
        length += piece.length;
        if (length > limitBytes) return fail(tooLarge());
        try {
          share.take(piece.length);
          read.push(piece);
        } catch (refused) {
          fail(refused);
        }
      };
      const forget = finished(source, { writable: false }, (error) => {
        if (error) fail(error);
        else resolve(Buffer.concat(read, length));
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

function decompress(req: Request, decoder: Transform): void {
  req.pipe(decoder);
  // A pipe does not pass on that its source was aborted, so the decoder would wait for more.
  finished(req, (error) => {
    if (error) decoder.destroy(error);
  });
}

const DECODERS: Record<string, () => Transform> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

function decoderOf(encoding = 'identity'): Transform | undefined {
  const name = encoding.toLowerCase();
  if (name === 'identity') return undefined;
  const create = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (create !== undefined) return create();
  const known = Object.keys(DECODERS).join(', ');
  throw new AppError('unsupported_media_type', `The Content-Encoding must be one of ${known}.`);
}

function unreadable(cause: unknown): AppError {
  return new AppError(
    'invalid_request',
    'The request body cannot be read. Check that it is complete and that Content-Encoding names its compression.',
    { cause },
  );
}

function tooLarge(): AppError {
  return new AppError('payload_too_large', 'The request body is too large.');
}
