import { AppError, createTurns, type TenantId } from '@tollkeeper/kernel';

/** What a read takes while it is done. */
export interface ReadMeter {
  /**
   * Counts bytes that are read from the database, or held until the answer is made. Throws when the read has to stop:
   * it takes more than its place has, or nobody waits for its answer any more.
   */
  take(bytes: number): void;
}

/** For those that read nothing on behalf of a client. */
export const UNLIMITED: ReadMeter = { take: () => undefined };

/** Bounds the memory of all reads, so that those of one workspace neither end the process nor delay those of others. */
export interface Reads {
  /**
   * Does `work` once it is the turn of the workspace. A read that turns out to be large begins anew among the large
   * ones, so `work` may be called twice. Rejects with `rate_limited` when the reads of the workspace before it take too
   * long, and with the reason of `signal`.
   */
  run<T>(tenantId: TenantId, signal: AbortSignal, work: (meter: ReadMeter) => Promise<T>): Promise<T>;
}

/** Bytes from which on a read is large. Fifty agents over three months take an eighth of it. */
const LARGE_BYTES = 4 * 1024 * 1024;
/** Small reads at a time. They take milliseconds, so more would be no faster. */
const SMALL_READS = { capacity: 16, ofSender: 4, waiting: 256 };
/** Large reads at a time. One computes while another one waits for the database. */
const LARGE_READS = { capacity: 2, ofSender: 1, waiting: 16 };
/** Far less than the time after which the gateway gives up. */
const MAX_WAIT_MS = 10_000;
const RETRY_AFTER_SECONDS = 10;

/** `largeBytes` is the size from which on a read is large. */
export function createReads({ largeBytes = LARGE_BYTES } = {}): Reads {
  const small = createPlaces(SMALL_READS);
  const large = createPlaces(LARGE_READS);

  async function metered<T>(
    mostBytes: number,
    signal: AbortSignal,
    work: (meter: ReadMeter) => Promise<T>,
  ): Promise<T> {
    let left = mostBytes;
    const take = (bytes: number): void => {
      signal.throwIfAborted();
      left -= bytes;
      if (left < 0) throw new TooLarge();
    };
    try {
      return await work({ take });
    } finally {
      // When it failed, what it has begun beside stops too.
      left = -Infinity;
    }
  }

  return {
    async run(tenantId, signal, work) {
      try {
        return await small.run(tenantId, 1, () => metered(largeBytes, signal, work), signal);
      } catch (error) {
        if (!(error instanceof TooLarge)) throw error;
      }
      return large.run(tenantId, 1, () => metered(Infinity, signal, work), signal);
    },
  };
}

class TooLarge extends Error {}

function createPlaces({ capacity, ofSender, waiting }: typeof SMALL_READS) {
  const message = 'Other reads of this workspace take long. Wait for their answers, or ask for a shorter range.';
  const refusal = (): Error => new AppError('rate_limited', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  return createTurns({ capacity, ofSender, waiting: { ofSender: waiting, ms: MAX_WAIT_MS, refusal } });
}
