import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { BlockedDestination, type HttpsExchange, UnreachableDestination } from '@tollkeeper/net';
import { AwsV4Signer } from 'aws4fetch';
import type { Bucket } from '../domain/scheduled-exports.ts';

/** A bucket that cannot be written to. The message says why, and what to do, for people. */
export class BucketFailure extends Error {}

/** The bucket, with the few requests that uploads need. They reject with {@link BucketFailure}. */
export interface ObjectStore {
  put(key: string, type: string, body: Buffer): Promise<void>;
  /** The id of an upload in parts. */
  begin(key: string, type: string): Promise<string>;
  /** What the server calls the part. Parts count from 1. */
  putPart(key: string, id: string, part: number, body: Buffer): Promise<string>;
  complete(key: string, id: string, tags: readonly string[]): Promise<void>;
  abort(key: string, id: string): Promise<void>;
}

/** Waits before a request of an upload is repeated. */
export const UPLOAD_WAITS_MS = [500, 2_000] as const;
const MAX_ANSWER_BYTES = 64 * 1024;

const CHECK_KEY = 'Correct access_key_id, or send secret_access_key again.';
const CHECK_REGION = 'Correct region or endpoint.';
/** What to do about the errors of S3, by their codes. */
const WAYS_OUT: Readonly<Record<string, string>> = {
  NoSuchBucket: 'Create the bucket, or correct bucket.',
  InvalidBucketName: 'Correct bucket.',
  InvalidAccessKeyId: CHECK_KEY,
  SignatureDoesNotMatch: CHECK_KEY,
  AccessDenied: 'Let the access key write to the bucket: s3:PutObject and s3:AbortMultipartUpload.',
  AuthorizationHeaderMalformed: CHECK_REGION,
  PermanentRedirect: CHECK_REGION,
  TemporaryRedirect: CHECK_REGION,
  IllegalLocationConstraintException: CHECK_REGION,
  RequestTimeTooSkewed: 'Set the clock of the machine that runs Tollkeeper.',
  QuotaExceeded: 'Free space in the bucket, or raise its quota.',
};

export interface ObjectStoreDeps {
  exchange: HttpsExchange;
  destination: Bucket;
  signal: AbortSignal;
  waitsMs: readonly number[];
}

interface S3Request {
  method: 'DELETE' | 'POST' | 'PUT';
  key: string;
  query?: Record<string, string>;
  type?: string;
  body?: Buffer;
}

interface S3Answer {
  tag: string | undefined;
  text: string;
}

/**
 * Requests are signed by AWS Signature Version 4, with the hash of the body, and name the bucket in their path. Those
 * that fail for a reason that may pass are repeated after each of `waitsMs`.
 */
export function createObjectStore(deps: ObjectStoreDeps): ObjectStore {
  const { exchange, destination, signal, waitsMs } = deps;

  async function attempt(request: S3Request): Promise<S3Answer> {
    const { url, headers } = await sign(destination, request);
    const { method, body } = request;
    const response = await exchange({ method, url, headers, ...(body && { body }) }, signal);
    const text = await readStart(response);
    const status = response.statusCode ?? 0;
    const code = codeIn(text);
    // A completed upload may answer 200 with an error in its body.
    if (status === 200 || status === 204) {
      if (!text.includes('<Error>')) return { tag: response.headers.etag, text };
      throw new PassingFailure(describe(500, code));
    }
    throw status >= 500 || status === 429
      ? new PassingFailure(describe(status, code))
      : new BucketFailure(describe(status, code));
  }

  async function send(request: S3Request): Promise<S3Answer> {
    for (const waitMs of waitsMs) {
      try {
        return await attempt(request);
      } catch (error) {
        if (!(error instanceof PassingFailure || error instanceof UnreachableDestination)) throw toFailure(error);
        await delay(waitMs, undefined, { signal });
      }
    }
    return attempt(request).catch((error: unknown) => {
      throw toFailure(error);
    });
  }

  return {
    async put(key, type, body) {
      await send({ method: 'PUT', key, type, body });
    },
    async begin(key, type) {
      const { text } = await send({ method: 'POST', key, query: { uploads: '' }, type });
      const id = elementIn(text, 'UploadId');
      if (id === undefined) throw new BucketFailure(`The S3 server began no upload in parts. ${CHECK_REGION}`);
      return id;
    },
    async putPart(key, id, part, body) {
      const query = { partNumber: String(part), uploadId: id };
      const { tag } = await send({ method: 'PUT', key, query, body });
      if (tag === undefined) throw new BucketFailure('The S3 server did not name a part that it took (ETag).');
      return tag;
    },
    async complete(key, id, tags) {
      const parts = tags.map(
        (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${toXml(tag)}</ETag></Part>`,
      );
      const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
      await send({ method: 'POST', key, query: { uploadId: id }, body });
    },
    async abort(key, id) {
      await send({ method: 'DELETE', key, query: { uploadId: id } });
    },
  };
}

/** One that may pass. */
class PassingFailure extends BucketFailure {}

function toFailure(error: unknown): unknown {
  if (error instanceof UnreachableDestination) {
    return new BucketFailure(`${error.message} Check endpoint, and that the S3 server is running.`);
  }
  if (error instanceof BlockedDestination) {
    return new BucketFailure(`${error.message} An operator can allow it by DESTINATION_ALLOW_CIDRS.`);
  }
  return error;
}

/** The answers of a server are untrusted: only the code of an error is shown. */
function describe(status: number, code: string | undefined): string {
  const wayOut = (code !== undefined && WAYS_OUT[code]) || 'Look at the log of the S3 server.';
  return `The S3 server answered ${status}${code === undefined ? '' : ` (${code})`}. ${wayOut}`;
}

function codeIn(text: string): string | undefined {
  return /<Code>([A-Za-z0-9.]{1,64})<\/Code>/.exec(text)?.[1];
}

function elementIn(text: string, name: string): string | undefined {
  const found = new RegExp(`<${name}>([^<]{1,2048})</${name}>`).exec(text)?.[1];
  return found?.replace(/&(amp|lt|gt|quot|#39|#34);/g, (entity) => ENTITIES[entity] ?? entity);
}

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&#34;': '"' },
};

function toXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

async function sign(
  { endpoint, bucket, region, accessKeyId, secretAccessKey }: Bucket,
  { method, key, query, type, body }: S3Request,
): Promise<{ url: string; headers: Record<string, string> }> {
  if (secretAccessKey === null) {
    const wayOut = 'Add the key to CHANNEL_ENCRYPTION_KEYS again, or send secret_access_key again';
    throw new BucketFailure(`The secret cannot be decrypted, because its encryption key is not configured. ${wayOut}.`);
  }
  const url = new URL(`${endpoint}/${bucket}/${key}`);
  for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
  const length = body?.length ?? 0;
  const signed = await new AwsV4Signer({
    ...{ method, url: url.href, service: 's3', region, accessKeyId, secretAccessKey },
    headers: {
      ...(type !== undefined && { 'content-type': type }),
      'x-amz-content-sha256': createHash('sha256')
        .update(body ?? '')
        .digest('hex'),
    },
  }).sign();
  return { url: signed.url.href, headers: { ...Object.fromEntries(signed.headers), 'content-length': String(length) } };
}

/** The beginning of an answer, which has all that is read of it. Rejects if it breaks off. */
async function readStart(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= MAX_ANSWER_BYTES) break;
    }
  } catch {
    throw new UnreachableDestination('The destination closed the connection without a whole answer.');
  } finally {
    response.destroy();
  }
  return Buffer.concat(chunks).toString('utf8');
}
