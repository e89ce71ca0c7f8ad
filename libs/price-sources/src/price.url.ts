import { AppError } from '@tollkeeper/kernel';
import { createPriceBook, parsePriceFile, type PriceBook } from '@tollkeeper/prices';
import { createLoop } from '@tollkeeper/runtime';
import { MAX_LIST_BYTES, MAX_LIST_SIZE, type OperatorPrices, type PriceFileDeps } from './price.file.ts';

export interface PriceUrlDeps extends Pick<PriceFileDeps, 'logger' | 'onRead'> {
  /** The address in `PRICES_URL`. */
  url: string;
  /** How often the list is read. */
  everyMs?: number;
  /** When it is read again after a failure. */
  retryMs?: number;
  /** How long reading it may take. */
  deadlineMs?: number;
  /** Monotonic milliseconds. */
  now?: () => number;
}

const EVERY_MS = 24 * 60 * 60 * 1_000;
const RETRY_MS = 60_000;
const DEADLINE_MS = 20_000;

/**
 * The prices of the list at the operator's URL. `start` waits for the first answer, and does not reject: an outage of
 * another server must not stop services. Until the list was read once, `price` throws `service_unavailable`, since the
 * table could have another price. Later, the last prices that could be read stay in force.
 */
export function createPriceUrl(deps: PriceUrlDeps): OperatorPrices {
  const { url, logger, onRead, deadlineMs = DEADLINE_MS, now = () => performance.now() } = deps;
  const { everyMs = EVERY_MS, retryMs = RETRY_MS } = deps;
  /** Without the query, which may have a token. */
  const address = new URL(url).origin + new URL(url).pathname;
  const stopping = new AbortController();
  let known: { book: PriceBook; etag: string | null } | undefined;
  let dueAt = -Infinity;

  async function read(): Promise<void> {
    const deadline = AbortSignal.timeout(deadlineMs);
    try {
      await readWithin(AbortSignal.any([deadline, stopping.signal]));
    } catch (error) {
      if (!deadline.aborted) throw error;
      throw new Error(`The list did not arrive within ${deadlineMs / 1_000} s`, { cause: error });
    }
  }

  async function readWithin(signal: AbortSignal): Promise<void> {
    const etag = known?.etag ?? null;
    const headers = { accept: 'application/json', ...(etag !== null && { 'if-none-match': etag }) };
    // A redirect could lead to plain HTTP, or to another server than the operator named.
    const answer = await fetch(url, { redirect: 'manual', headers, signal });
    if (etag !== null && answer.status === 304) return;
    const text = await textOf(answer);
    const table = parsePriceFile(text);
    if (table.rows.length === 0) throw new Error('The list has no prices');
    known = { book: createPriceBook(table), etag: answer.headers.get('etag') };
    logger.info({ path: address, version: table.version }, 'the prices of PRICES_URL are in force');
  }

  async function readIfDue(): Promise<void> {
    if (now() < dueAt || stopping.signal.aborted) return;
    try {
      await read();
      onRead(true);
      dueAt = now() + everyMs;
    } catch (err) {
      if (stopping.signal.aborted) return;
      onRead(false);
      logger.error({ err, path: address }, known === undefined ? UNKNOWN : KEPT);
      // The next turn of the loop reads again.
      dueAt = -Infinity;
    }
  }

  const loop = createLoop({ name: 'price-url', intervalMs: retryMs, logger, work: readIfDue });
  return {
    name: 'price-url',
    price(call) {
      if (known === undefined) throw unknownPrices();
      return known.book.price(call);
    },
    async start() {
      await readIfDue();
      await loop.start();
    },
    async stop() {
      stopping.abort();
      await loop.stop();
    },
  };
}

const KEPT =
  'PRICES_URL cannot be read; the prices that were read before stay in force. It is read again in a minute. ' +
  'Correct the list or its server. Until then, a process that restarts does not know these prices';
const UNKNOWN =
  'PRICES_URL cannot be read; calls without a cost are refused until it has been read. It is read again in a minute. ' +
  'Correct PRICES_URL, the list or its server, or unset PRICES_URL to use the prices of the release';

function unknownPrices(): AppError {
  const message =
    "The prices of the operator's list, PRICES_URL, are not known yet. Try again in a minute. If this continues, " +
    'the operator can find the cause in the log.';
  return new AppError('service_unavailable', message, { retryAfterSeconds: 10 });
}

/** The text of an answer with a list. Rejects as soon as it is too large. */
async function textOf(answer: Response): Promise<string> {
  if (answer.status !== 200) {
    await answer.body?.cancel();
    throw new Error(refusalOf(answer));
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_LIST_BYTES) throw new Error(`The list has more than ${MAX_LIST_SIZE}`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function refusalOf({ status, headers }: Response): string {
  const location = headers.get('location');
  if (location === null) return `The server answered ${status} instead of 200`;
  return `The server answered ${status} with another address, which is not followed. Set PRICES_URL to the final address`;
}
