import { readFile, stat } from 'node:fs/promises';
import { createPriceBook, LitellmFileError, parsePriceFile, type PriceBook, PriceTableError } from '@tollkeeper/prices';
import { type Component, createLoop, type Logger } from '@tollkeeper/runtime';

/** The prices of the operator's list: a file or a URL. `price` throws while the list has never been read. */
export interface OperatorPrices extends PriceBook, Component {}

export interface PriceFileDeps {
  /** The path in `PRICES_FILE`; undefined without one. */
  file: string | undefined;
  logger: Logger;
  /** Called when it is read: whether its prices are in force. */
  onRead: (isInForce: boolean) => void;
  /** How often it is compared with the one that was read. */
  everyMs?: number;
}

const EVERY_MS = 5_000;
const MIB = 1024 * 1024;
/** LiteLLM's list has 3 MB. */
export const MAX_LIST_BYTES = 16 * MIB;
export const MAX_LIST_SIZE = `${MAX_LIST_BYTES / MIB} MiB`;

/**
 * The prices of the operator's file, which is read again when it changes. `start` rejects if it cannot be read, since
 * calls would get other amounts without it. Later, the last prices that could be read stay in force.
 */
export function createPriceFile({ file, logger, onRead, everyMs = EVERY_MS }: PriceFileDeps): OperatorPrices {
  let book: PriceBook | undefined;
  /** Of the file as it was last read, with or without success. */
  let lastState: string | undefined;

  async function readIfChanged(path: string): Promise<void> {
    const state = await stateOf(path);
    if (state === lastState) return;
    lastState = state;
    const table = parsePriceFile(await textOf(path));
    book = createPriceBook(table);
    onRead(true);
    logger.info({ path, version: table.version }, 'the prices of PRICES_FILE are in force');
  }

  const loop =
    file === undefined
      ? undefined
      : createLoop({
          name: 'price-file',
          intervalMs: everyMs,
          logger,
          async work() {
            try {
              await readIfChanged(file);
            } catch (err) {
              onRead(false);
              logger.error({ err, path: file }, KEPT);
            }
          },
        });
  return {
    name: 'price-file',
    price: (call) => book?.price(call),
    async start() {
      if (file === undefined) return;
      try {
        await readIfChanged(file);
      } catch (error) {
        throw new Error(`PRICES_FILE: ${file}: ${reasonOf(error)} Correct the file, or unset PRICES_FILE.`, {
          cause: error,
        });
      }
      await loop?.start();
    },
    stop: async () => loop?.stop(),
  };
}

const KEPT =
  'PRICES_FILE cannot be read; the prices that were read before stay in force. Correct the file: it is read again when ' +
  'it changes. Until then, a process that restarts does not start';

/** Differs if the file does, also if a volume of Kubernetes replaces it. A missing file has a state as well. */
async function stateOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await stat(path);
    return [ino, size, mtimeMs, ctimeMs].join(' ');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
}

async function textOf(path: string): Promise<string> {
  const found = await stat(path);
  // Reading a pipe may wait indefinitely, and gives its text only once.
  if (!found.isFile()) throw new PriceTableError('It is no regular file.');
  if (found.size > MAX_LIST_BYTES) throw new PriceTableError(`The file has more than ${MAX_LIST_SIZE}.`);
  return readFile(path, 'utf8');
}

/** The sentence of a known problem. */
function reasonOf(error: unknown): string {
  const { message } = error as Error;
  if (error instanceof PriceTableError || error instanceof LitellmFileError) return message.replace(/\.?$/, '.');
  return error instanceof SyntaxError ? `It is not JSON: ${message}.` : `It cannot be read: ${message}.`;
}
