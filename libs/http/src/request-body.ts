import { Readable } from 'node:stream';
import { AppError } from '@tollkeeper/kernel';
import type { Turns } from '@tollkeeper/kernel';
import type { Request, Response } from 'express';
import { parse as parseMediaType } from 'content-type';
import { bodyTooLarge, decoderOf, readArrivingBody } from './arriving-body.ts';
import { readArrivingParts } from './arriving-parts.ts';
import type { BodyBudget } from './body-budget.ts';
import { isLarge, parseJsonBody } from './json-body.ts';
import { ANY_TYPE, type Route } from './route.ts';

/**
 * Content type and JSON value of a body; both undefined if there is none. For a route that reads bytes, the value is
 * the bytes, and for one that reads parts, an iterator of them.
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
  /** How many times larger a body over 64 KiB may become by decompression. */
  maxRatio: number;
  budget: BodyBudget;
  /** Turns in which large bodies are parsed, weighted by the bytes of their text. */
  turns: Turns;
}

/**
 * Makes the reader of one route's body: 415 for another content type than the route's, 413 over `limitBytes` (also
 * counted after decompression) and over `maxRatio`, 503 if the budget has no room or the body stalls while others need
 * it, 400 if it is not JSON, unless the route reads bytes. Keys that could reach a prototype count as invalid JSON.
 *
 * `arrived` gets the bytes of the body before it is parsed, and may throw. Resolves to the result of `use`. The value
 * must not outlive `use`: that bounds the memory of large bodies, of which each `sender` has one at a time.
 */
export function createBodyReader(route: Route, { limitBytes, maxRatio, budget, turns }: BodyReaderOptions) {
  const types = Object.keys(route.bodies ?? {});
  const { tooLargeHint } = route;
  const emptyBytes = (header = ''): RequestBody => ({
    contentType: types.find((type) => header.toLowerCase().startsWith(type)) ?? types[0],
    value: route.parts === undefined ? Buffer.alloc(0) : Readable.from([]),
  });

  return async <T>(
    req: Request,
    res: Response,
    sender: string,
    { arrived, use }: { arrived: (bytes: number) => void; use: (body: RequestBody) => Promise<T> },
  ): Promise<ReadBody<T>> => {
    if (types.length === 0 || !hasBody(req)) {
      const isRaw = route.readsBytes || route.parts !== undefined;
      const body = isRaw ? emptyBytes(req.headers['content-type']) : NO_BODY;
      return { read: await use(body), release: () => undefined };
    }
    const contentType = contentTypeOf(req.headers['content-type'] ?? '', types);
    if (Number(req.headers['content-length'] ?? 0) > limitBytes) throw bodyTooLarge(limitBytes, tooLargeHint);
    const reading = {
      ...{ limitBytes, tooLargeHint, maxRatio, budget, sender },
      decoder: decoderOf(req.headers['content-encoding']),
      onGiveWay() {
        // Does not wait for further requests of a sender this slow.
        if (!res.headersSent) res.setHeader('connection', 'close');
      },
    };
    if (route.parts !== undefined) {
      const parts = readArrivingParts(req, { ...reading, ...route.parts });
      // A generator that has not started never reaches its `finally`, so it would keep the decoder.
      const release = () => void parts.return(undefined).finally(() => reading.decoder?.destroy());
      try {
        return { read: await use({ contentType, value: parts }), release };
      } catch (error) {
        release();
        throw error;
      }
    }
    const { bytes, release } = await readArrivingBody(req, reading);
    try {
      arrived(bytes.length);
      if (route.readsBytes) return { read: await use({ contentType, value: bytes }), release };
      const useValue = async () =>
        use({ contentType, value: bytes.length === 0 ? undefined : await parseJsonBody(bytes) });
      const read = isLarge(bytes) ? turns.run(sender, bytes.length, useValue) : useValue();
      return { read: await read, release };
    } catch (error) {
      release();
      throw error;
    }
  };
}

const NO_BODY: RequestBody = { contentType: undefined, value: undefined };

function hasBody(req: Request): boolean {
  const length = req.headers['content-length'];
  return req.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

function contentTypeOf(header: string, types: readonly string[]): string {
  if (types.includes(ANY_TYPE)) return ANY_TYPE;
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
