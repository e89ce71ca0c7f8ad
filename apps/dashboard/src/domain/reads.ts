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

interface Read {
  tenantId: TenantId;
  /** What is read, such as `top-agents`: where one was large, the next begins among the large ones. */
  kind: string;
  signal: AbortSignal;
}

/** Bounds the memory of all reads, so that those of one workspace neither end the process nor delay those of others. */
export interface Reads {
  /**
   * Does `work` once it is the turn of the workspace. A read that turns out to be large begins anew among the large
   * ones, so `work` may be called twice. Rejects with `rate_limited` when the reads of the workspace before it take too
   * long, and with the reason of `signal`.
   */
  run<T>(read: Read, work: (meter: ReadMeter) => Promise<T>): Promise<T>;
}

/** Bytes from which on a read is large. Fifty agents over three months take an eighth of it. */
const LARGE_BYTES = 4 * 1024 * 1024;
/** Small reads at a time. They take milliseconds, so more would be no faster. */
const SMALL_READS = { capacity: 16, ofSender: 4, waiting: 256 };
/** Large reads at a time. One computes while another one waits for the database. */
const LARGE_READS = { capacity: 2, ofSender: 1, waiting: 256 };
/** Kinds of reads of a workspace that are remembered to be large. */
const MAX_KNOWN_LARGE = 10_000;
/** Far less than the time after which the gateway gives up. */
const MAX_WAIT_MS = 10_000;
const RETRY_AFTER_SECONDS = 10;

/** `largeBytes` is the size from which on a read is large. */
export function createReads({ largeBytes = LARGE_BYTES } = {}): Reads {
  const small = createPlaces(SMALL_READS);
  const large = createPlaces(LARGE_READS);
  const knownLarge = new Set<string>();

  function remember(key: string): void {
    // What is forgotten is found out anew.
    if (knownLarge.size >= MAX_KNOWN_LARGE) knownLarge.clear();
    knownLarge.add(key);
  }

  async function metered<T>(
    mostBytes: number,
    signal: AbortSignal,
    work: (meter: ReadMeter) => Promise<T>,
  ): Promise<{ answer: T; bytes: number }> {
    let bytes = 0;
    let ended = false;
    const take = (more: number): void => {
      signal.throwIfAborted();
      bytes += more;
      if (ended || bytes > mostBytes) throw new TooLarge();
    };
    try {
      return { answer: await work({ take }), bytes };
    } finally {
      // When it failed, what it has begun beside stops too.
      ended = true;
    }
  }

  return {
    async run({ tenantId, kind, signal }, work) {
      const key = `${tenantId} ${kind}`;
      if (!knownLarge.has(key)) {
        try {
          return (await small.run(tenantId, 1, () => metered(largeBytes, signal, work), signal)).answer;
        } catch (error) {
          if (!(error instanceof TooLarge)) throw error;
          remember(key);
        }
      }
      const { answer, bytes } = await large.run(tenantId, 1, () => metered(Infinity, signal, work), signal);
      if (bytes <= largeBytes) knownLarge.delete(key);
      return answer;
    },
  };
}

class TooLarge extends Error {}

function createPlaces({ capacity, ofSender, waiting }: typeof SMALL_READS) {
  const message = 'Other reads of this workspace take long. Wait for their answers, or ask for a shorter range.';
  const refusal = (): Error => new AppError('rate_limited', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  return createTurns({ capacity, ofSender, waiting: { ofSender: waiting, ms: MAX_WAIT_MS, refusal } });
}
