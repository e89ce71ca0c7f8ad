import { finished, type Readable } from 'node:stream';
import { AppError } from '@tollkeeper/kernel';
import {
  type BodyReading,
  bodyTooLarge,
  createLengthCheck,
  decompress,
  unreadable,
  withoutRest,
} from './arriving-body.ts';

/** How a route divides bodies into parts. */
export interface BodyParts {
  /** The reader asks where to cut when so many further bytes have arrived. */
  partBytes: number;
  /** Most bytes without a cut. */
  maxPartBytes: number;
  /**
   * Makes the function that divides one body: it gets all bytes after the last cut, and answers how many of them are a
   * part; 0 if more have to arrive.
   */
  createCut: () => (arrived: Buffer) => number;
}

/**
 * Reads a body part by part. Only the part in use and what has arrived of the next one take room of the budget, and no
 * more arrives while a part is in use. The last part is what is left, and may be empty. Throws like `readArrivingBody`,
 * and `payload_too_large` for a part over its limit. Stop it with `return`, which gives back its room.
 */
export async function* readArrivingParts(
  source: Readable,
  { partBytes, maxPartBytes, createCut, ...reading }: BodyReading & BodyParts,
): AsyncGenerator<Buffer, undefined> {
  const { budget, sender, decoder, onGiveWay } = reading;
  const cut = createCut();
  const arrival = createArrival(decoder ?? source, reading);
  const share = budget.open((reason) => {
    onGiveWay?.();
    arrival.fail(reason);
  }, sender);
  try {
    if (decoder !== undefined) decompress(source, decoder);
    arrival.start((bytes) => share.take(bytes));
    for (let enough = partBytes; ;) {
      const isComplete = await arrival.holds(enough);
      const held = arrival.held();
      const end = isComplete ? held.length : cut(held);
      if (held.length > maxPartBytes && (end === 0 || isComplete))
        throw bodyTooLarge(maxPartBytes, reading.tooLargeHint);
      if (end === 0 && !isComplete) {
        enough = held.length + partBytes;
        continue;
      }
      // Its sender waits for us meanwhile, so it has not stalled.
      share.complete();
      yield held.subarray(0, end);
      if (isComplete) return;
      share.keep(arrival.dropTo(end));
      enough = partBytes;
    }
  } catch (cause) {
    throw cause instanceof AppError ? cause : unreadable(cause);
  } finally {
    arrival.stop();
    if (decoder !== undefined) source.unpipe(decoder);
    decoder?.destroy();
    share.giveBack();
    // Otherwise the rest of the body would come before the next request on this connection.
    source.resume();
  }
}

/** What has arrived of a body and is not dropped. The source is paused unless somebody waits for more. */
function createArrival(source: Readable, reading: BodyReading) {
  const check = createLengthCheck(reading);
  let pieces: Buffer[] = [];
  let bytes = 0;
  let isComplete = false;
  let failure: { reason: unknown } | undefined;
  let stop = () => {};
  let wanted = 0;
  let wake = () => {};

  const fail = (reason: unknown) => {
    failure ??= { reason };
    stop();
    wake();
  };

  return {
    fail,
    stop: () => stop(),
    start(take: (bytes: number) => void): void {
      const onData = (piece: Buffer) => {
        try {
          check(piece.length);
          take(piece.length);
        } catch (refused) {
          return fail(refused);
        }
        pieces.push(withoutRest(piece));
        bytes += piece.length;
        if (bytes < wanted) return;
        source.pause();
        wake();
      };
      const forget = finished(source, { writable: false }, (error) => {
        if (error) return fail(error);
        isComplete = true;
        wake();
      });
      stop = () => {
        source.off('data', onData);
        forget();
        stop = () => {};
      };
      source.on('data', onData);
    },
    /** Resolves when so many bytes are held, or to true when all of the body has arrived. */
    async holds(enough: number): Promise<boolean> {
      wanted = enough;
      if (failure === undefined && !isComplete && bytes < enough) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        source.resume();
        await promise;
      }
      if (failure !== undefined) throw failure.reason;
      return isComplete;
    },
    held(): Buffer {
      if (pieces.length !== 1) pieces = [Buffer.concat(pieces, bytes)];
      return pieces[0]!;
    },
    /** Drops what is before `end`. Returns how many bytes are left. */
    dropTo(end: number): number {
      const left = Buffer.from(pieces[0]!.subarray(end));
      pieces = [left, ...pieces.slice(1)];
      return (bytes = pieces.reduce((sum, { length }) => sum + length, 0));
    },
  };
}
