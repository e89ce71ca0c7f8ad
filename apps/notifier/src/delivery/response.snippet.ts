import type { Readable } from 'node:stream';

/** Most bytes of an answer that are read and kept. */
const MAX_SNIPPET_BYTES = 1024;
/** The status is what counts; a body that comes in drips is not worth more than this. */
const SNIPPET_TIMEOUT_MS = 2000;

/**
 * The start of a body as text, at most {@link MAX_SNIPPET_BYTES} in UTF-8, without control characters. Reads no more
 * than that and drops the connection; a body that breaks off or takes too long is what came of it by then. Never
 * rejects.
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
    // Broken off: the status has been read, and that is the answer.
  } finally {
    clearTimeout(timer);
    body.destroy();
  }
  return toText(Buffer.concat(chunks));
}

function toText(bytes: Buffer): string {
  const text = decode(bytes).replace(/[^\P{Cc}\n\t]/gu, '');
  // Each byte that is not UTF-8 has become a character of three.
  return decode(Buffer.from(text));
}

/** The first {@link MAX_SNIPPET_BYTES}, without a character that the cut has left incomplete. */
function decode(bytes: Buffer): string {
  return new TextDecoder().decode(bytes.subarray(0, MAX_SNIPPET_BYTES), { stream: true });
}
