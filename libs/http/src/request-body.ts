import { AppError } from '@tollkeeper/kernel';
import express from 'express';
import type { Request, RequestHandler, Response } from 'express';
import { parse as parseMediaType } from 'content-type';
import { parse as parseJson } from 'secure-json-parse';
import type { Route } from './route.ts';

/** Content type of a body that was read, and the JSON value in it; both undefined when there is none. */
export interface RequestBody {
  contentType: string | undefined;
  value: unknown;
}

/**
 * Makes the reader of one route's body: 415 for another content type than the route's, 413 over `limitBytes` (also
 * counted after decompression), 400 for what is not JSON. Keys that could reach a prototype are not JSON here.
 */
export function createBodyReader(
  route: Route,
  limitBytes: number,
): (req: Request, res: Response) => Promise<RequestBody> {
  const types = Object.keys(route.bodies ?? {});
  const readBytes = express.raw({ type: () => true, limit: limitBytes });

  return async (req, res) => {
    if (types.length === 0 || !hasBody(req)) return { contentType: undefined, value: undefined };
    const contentType = jsonContentType(req.headers['content-type'], types);
    await run(readBytes, req, res);
    const bytes: unknown = req.body;
    if (!Buffer.isBuffer(bytes) || bytes.length === 0) return { contentType, value: undefined };
    return { contentType, value: decode(bytes) };
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

const UTF8 = new TextDecoder('utf-8', { fatal: true });

function decode(bytes: Buffer): unknown {
  try {
    return parseJson(UTF8.decode(bytes), { protoAction: 'error', constructorAction: 'error' });
  } catch (cause) {
    throw new AppError('malformed_json', 'The request body is not valid JSON.', { cause });
  }
}

function run(handler: RequestHandler, req: Request, res: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    handler(req, res, (error?: unknown) =>
      error === undefined || error === null ? resolve() : reject(error as Error),
    );
  });
}
