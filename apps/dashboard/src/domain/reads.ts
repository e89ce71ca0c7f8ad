import { AppError, createTurns, type TenantId, type Turns } from '@tollkeeper/kernel';

/** Measures the memory of a read while it runs. */
export interface ReadMeter {
  /**
   * Counts bytes that are read from the database, or held until the answer is made. Throws if the read must stop: it
   * takes more than its place has, or its client no longer waits.
   */
  take(bytes: number): void;
}

/** For reads that do not serve a client. */
export const UNLIMITED: ReadMeter = { take: () => undefined };

interface Read {
  tenantId: TenantId;
  /**
   * The kind of read, such as `top-agents`. If one read of a kind was large, the next one starts among the large ones.
   */
  kind: string;
  signal: AbortSignal;
}

/** Bounds the memory of all reads, so that one workspace can neither end the process nor delay other workspaces. */
export interface Reads {
  /**
   * Does `work` when it is the workspace's turn. A read that turns out to be large starts again among the large ones,
   * so `work` may be called twice. Rejects with `rate_limited` when earlier reads of the workspace take too long, and
   * with the reason of `signal`.
   */
  run<T>(read: Read, work: (meter: ReadMeter) => Promise<T>): Promise<T>;
}

/** Size in bytes from which a read is large. Fifty agents over three months take an eighth of it. */
const LARGE_BYTES = 4 * 1024 * 1024;
/** Concurrent small reads. They take milliseconds, so more would not be faster. */
const SMALL_READS = { capacity: 16, ofSender: 4, waiting: 256 };
/** Concurrent large reads. One computes while another one waits for the database. */
export const LARGE_READS = { capacity: 2, ofSender: 1, waiting: 256 };
/** How many kinds of reads of workspaces are remembered as large. */
const MAX_KNOWN_LARGE = 10_000;
/** Far shorter than the timeout of the gateway. */
const MAX_WAIT_MS = 10_000;
const RETRY_AFTER_SECONDS = 10;

/** `largeBytes` is the size from which a read is large. */
export function createReads({ largeBytes = LARGE_BYTES } = {}): Reads {
  const small = createPlaces(SMALL_READS);
  const large = createPlaces(LARGE_READS);
  const knownLarge = new Set<string>();

  function remember(key: string): void {
    // Forgotten kinds are detected again by their next read.
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
      // After a failure, the parallel parts of the read stop too.
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

/** Turns of workspaces, which end with `rate_limited` for work that waits too long. */
export function createPlaces({ capacity, ofSender, waiting }: typeof SMALL_READS): Turns {
  const message = 'Other reads of this workspace take long. Wait for their responses, or use a shorter range.';
  const refusal = (): Error => new AppError('rate_limited', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  return createTurns({ capacity, ofSender, waiting: { ofSender: waiting, ms: MAX_WAIT_MS, refusal } });
}

/** Whether a read was refused because others of its workspace take too long. */
export function isBusy(error: unknown): boolean {
  return error instanceof AppError && error.code === 'rate_limited';
}
