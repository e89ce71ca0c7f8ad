import { AppError } from '@tollkeeper/kernel';

/** Changes of one sender that wait in a process. */
const MAX_WAITING = 256;
/** How long one waits at most. A change takes about 10 ms. */
const MAX_WAIT_MS = 15_000;
const RETRY_AFTER_SECONDS = 2;

/** Lets the changes of each sender come one after the other, in the order in which they came. */
export interface ChangeTurns {
  /**
   * Does `work` when no earlier one of `sender` is in progress or waits. Throws `rate_limited` when too many wait, and
   * `service_unavailable` when the turn does not come in time, with `Retry-After`; `work` has not begun then.
   */
  run<T>(sender: string, work: () => Promise<T>): Promise<T>;
}

export function createChangeTurns({ maxWaiting = MAX_WAITING, maxWaitMs = MAX_WAIT_MS } = {}): ChangeTurns {
  /** What begins each that waits, by the senders that have one in progress. */
  const waiting = new Map<string, Set<() => void>>();

  async function turnOf(sender: string): Promise<void> {
    const queue = waiting.get(sender);
    if (queue === undefined) return void waiting.set(sender, new Set());
    if (queue.size >= maxWaiting) {
      const message = `${maxWaiting} changes are waiting already. Wait for their answers before sending more.`;
      throw new AppError('rate_limited', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    await new Promise<void>((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        queue.delete(begin);
        const message = 'Other changes take too long just now. Nothing was changed. Try again shortly.';
        reject(new AppError('service_unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS }));
      }, maxWaitMs);
      queue.add(begin);
    });
  }

  function endTurn(sender: string): void {
    const queue = waiting.get(sender)!;
    const [begin] = queue;
    if (begin === undefined) return void waiting.delete(sender);
    queue.delete(begin);
    begin();
  }

  return {
    async run(sender, work) {
      await turnOf(sender);
      try {
        return await work();
      } finally {
        endTurn(sender);
      }
    },
  };
}
