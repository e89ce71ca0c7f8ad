/** Runs work of several senders, a bounded part of it at a time. */
export interface Turns {
  /**
   * Does `work` when it is its `sender`'s turn. `weight` is its share of the capacity. Rejects without doing it when
   * the sender has too much waiting work, when it waited too long, or with the reason of `signal`.
   */
  run<T>(sender: string, weight: number, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

export interface TurnsOptions {
  /** Largest total weight of work in progress. Heavier work runs alone. */
  capacity: number;
  /** Most pieces of work in progress per sender. */
  ofSender: number;
  /** Bounds waiting work. Without it, the caller must. */
  waiting?: {
    /** Most waiting pieces of work per sender. */
    ofSender: number;
    /** How long each waits, in milliseconds. */
    ms: number;
    /** The error for work that cannot wait because `too_many` do, or because it waited `too_long`. */
    refusal: (why: 'too_many' | 'too_long') => Error;
  };
}

interface Turn {
  weight: number;
  begin: () => void;
}

/** Senders take turns, so a sender with much work delays the others by one piece of it. */
export function createTurns({ capacity, ofSender, waiting: bounds }: TurnsOptions): Turns {
  /** Waiting work by sender, without empty sets. The sender whose last turn is longest ago comes first. */
  const waiting = new Map<string, Set<Turn>>();
  const inProgress = new Map<string, number>();
  let taken = 0;

  function beginNext(): void {
    for (const [sender, turns] of waiting) {
      const count = inProgress.get(sender) ?? 0;
      const [turn] = turns;
      if (turn === undefined || count >= ofSender) continue;
      if (taken > 0 && taken + turn.weight > capacity) return;
      leave(sender, turn);
      // Moves the sender to the end, so that this loop visits all others first.
      if (turns.size > 0) {
        waiting.delete(sender);
        waiting.set(sender, turns);
      }
      inProgress.set(sender, count + 1);
      taken += turn.weight;
      turn.begin();
    }
  }

  function leave(sender: string, turn: Turn): void {
    const turns = waiting.get(sender);
    turns?.delete(turn);
    if (turns?.size === 0) waiting.delete(sender);
  }

  function end(sender: string, weight: number): void {
    const left = inProgress.get(sender)! - 1;
    if (left > 0) inProgress.set(sender, left);
    else inProgress.delete(sender);
    taken -= weight;
    beginNext();
  }

  async function take(sender: string, weight: number, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let hasBegun = false;
    const turn = {
      weight,
      begin: () => {
        hasBegun = true;
        resolve();
      },
    };
    const turns = waiting.get(sender) ?? new Set();
    waiting.set(sender, turns.add(turn));
    beginNext();
    if (hasBegun) return;
    if (bounds !== undefined && turns.size > bounds.ofSender) {
      leave(sender, turn);
      throw bounds.refusal('too_many');
    }
    const giveUp = (reason: unknown): void => {
      leave(sender, turn);
      reject(reason);
      // It may have been too heavy for room in which lighter work fits.
      beginNext();
    };
    const onAbort = (): void => giveUp(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    const timer = bounds && setTimeout(() => giveUp(bounds.refusal('too_long')), bounds.ms);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  return {
    async run(sender, weight, work, signal) {
      await take(sender, weight, signal);
      try {
        return await work();
      } finally {
        end(sender, weight);
      }
    },
  };
}
