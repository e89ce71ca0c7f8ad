import { finished, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { AppError } from '@tollkeeper/kernel';
import type { Request } from 'express';
import { parse as parseMediaType } from 'content-type';
import type { BodyShare } from './body-budget.ts';
import { parseJsonBody } from './json-body.ts';
import type { Route } from './route.ts';

/** Content type of a body that was read, and the JSON value in it; both undefined when there is none. */
export interface RequestBody {
  contentType: string | undefined;
  value: unknown;
}

/**
 * Makes the reader of one route's body: 415 for another content type than the route's, 413 over `limitBytes` (also
 * counted after decompression), 503 when the share finds no more room, 400 for what is not JSON. Keys that could reach a
 * prototype are not JSON here.
 */
export function createBodyReader(
  route: Route,
  limitBytes: number,
): (req: Request, share: BodyShare) => Promise<RequestBody> {
  const types = Object.keys(route.bodies ?? {});

  return async (req, share) => {
    if (types.length === 0 || !hasBody(req)) return { contentType: undefined, value: undefined };
    const contentType = jsonContentType(req.headers['content-type'], types);
    const bytes = await readBytes(req, limitBytes, share);
    return { contentType, value: bytes.length === 0 ? undefined : await parseJsonBody(bytes) };
  };
}

function hasBody(req: Request): boolean {
  const length = req.headers['content-length'];
  return req.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

function jsonContentType(header: string | undefined, types: readonly string[]): string {
  const { type, charset } = mediaType(header);
  if (!types.includes(type)) {
    throw new AppError('unsupported_media_type', `The Content-Type must be ${types.join(' or ')}.`);
  }
  if (charset !== undefined && charset.toLowerCase() !== 'utf-8') {
    throw new AppError('unsupported_media_type', 'The charset of the Content-Type must be utf-8.');
  }
  return type;
}

function mediaType(header: string | undefined): { type: string; charset?: string | undefined } {
  if (header === undefined) return { type: '' };
  try {
    const { type, parameters } = parseMediaType(header);
    return { type, charset: parameters['charset'] };
  } catch {
    return { type: '' };
  }
}

/** Reads the whole body, decompressed, and takes room for each piece as it comes. */
async function readBytes(req: Request, limitBytes: number, share: BodyShare): Promise<Buffer> {
  if (Number(req.headers['content-length'] ?? 0) > limitBytes) throw tooLarge();
  const decoder = decoderOf(req.headers['content-encoding']);
  // Left whole when reading ends early: the answer still goes out on its connection.
  const pieces: AsyncIterable<Buffer> = (decoder ?? req).iterator({ destroyOnReturn: false });
  const read: Buffer[] = [];
  let length = 0;
  try {
    if (decoder !== undefined) decompress(req, decoder);
    for await (const piece of pieces) {
      length += piece.length;
      if (length > limitBytes) throw tooLarge();
      share.take(piece.length);
      read.push(piece);
    }
    return Buffer.concat(read, length);
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError('invalid_request', 'The request body cannot be read.', { cause });
  } finally {
    if (decoder !== undefined) req.unpipe(decoder);
    decoder?.destroy();
    // What is left of the body would stand before the next request on this connection.
    req.resume();
  }
}

function decompress(req: Request, decoder: Transform): void {
  req.pipe(decoder);
  // A pipe doesn't hand on that its source broke off, and the decoder would wait for more.
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

function tooLarge(): AppError {
  return new AppError('payload_too_large', 'The request body is too large.');
}
