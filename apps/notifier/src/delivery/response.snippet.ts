import type { Readable } from 'node:stream';

/** Maximum bytes of an answer that are read and stored. */
const MAX_SNIPPET_BYTES = 1024;
/** Maximum milliseconds to read a body. Only the status matters, so a slower body is cut. */
const SNIPPET_TIMEOUT_MS = 2000;
/** A shorter beginning of a secret reveals nothing. */
const MIN_CUT_LENGTH = 4;

/**
 * The start of a body as text: at most {@link MAX_SNIPPET_BYTES} in UTF-8, without control characters. Reads no more
 * than that and closes the connection. A body that ends early or takes too long is cut there. Never rejects.
 */
export async function readSnippet(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  const timer = setTimeout(() => body.destroy(), SNIPPET_TIMEOUT_MS);
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= MAX_SNIPPET_BYTES) break;
    }
  } catch {
    // The body ended early, but the status was read, which is the answer.
  } finally {
    clearTimeout(timer);
    body.destroy();
  }
  return toText(Buffer.concat(chunks));
}

const MASK = '***';

/** Masks secrets that the destination repeats, including the beginning of one at the end, where the snippet was cut. */
export function withoutCredentials(snippet: string, credentials: readonly string[]): string {
  return credentials.reduce((text, secret) => {
    const masked = text.replaceAll(secret, MASK);
    const lengths = Array.from({ length: secret.length - 1 }, (_, index) => secret.length - 1 - index);
    const cut = lengths.find((length) => length >= MIN_CUT_LENGTH && masked.endsWith(secret.slice(0, length)));
    return cut === undefined ? masked : `${masked.slice(0, -cut)}${MASK}`;
  }, snippet);
}

function toText(bytes: Buffer): string {
  const text = decode(bytes).replace(/[^\P{Cc}\n\t]/gu, '');
  // Each invalid byte was replaced by a character of three bytes.
  return decode(Buffer.from(text));
}

/** The first {@link MAX_SNIPPET_BYTES}, without a character that the cut made incomplete. */
function decode(bytes: Buffer): string {
  return new TextDecoder().decode(bytes.subarray(0, MAX_SNIPPET_BYTES), { stream: true });
}
