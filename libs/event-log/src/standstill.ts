import type { Clock } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import type { ConsumerOptions } from './event-log.ts';
import type { LogMetrics } from './log.metrics.ts';

/** A stalled partition is reported after this time, and then at this interval. */
const STANDSTILL_MS = 60_000;
/** A read that takes this long means that there was nothing to read. */
const IDLE_MS = 10_000;
const LOOK_INTERVAL_MS = 1_000;

/** The steps of a worker, as log lines name them. */
const STEPS = {
  position: 'its position has not been reported yet',
  open: 'the log has not been opened yet',
  read: 'the log has not been read yet',
  handle: 'its handler has not answered yet',
  wait: 'it is waiting to retry',
};

/** Receives the steps of a partition's worker. */
interface PartitionProgress {
  /** The worker asks for its position, or opens the log there. */
  begins(step: 'position' | 'open'): void;
  /** The worker waits for records at `position`. */
  reads(position: number | null): void;
  /** The worker passes records to the handler. The first one has `offset`. */
  hands(offset: number): void;
  /** All records before `position` are applied. */
  got(position: number): void;
  failed(error: unknown): void;
  ends(): void;
}

/** The partitions of a consumer that are stalled although records are waiting. */
export interface Standstills {
  watch(partition: number): PartitionProgress;
  /** A sentence for each partition that has been stalled for a minute: which, where, how long and why. */
  reasons(): string[];
  /** Rejects with these sentences while there are any. */
  impaired(): Promise<void>;
}

/**
 * Watches the partitions of one consumer in this process. A partition can fail or hang when it asks for its position,
 * reads the log, or runs the handler. The metrics show that at once. After a minute, it is logged every minute.
 */
export function createStandstills(deps: {
  consumer: Pick<ConsumerOptions, 'group' | 'topic'>;
  metrics: Pick<LogMetrics, 'standstill'>;
  logger: Logger;
  /** A sentence for each partition that has been stalled for a minute: which, where, how long and why. */
  monotonicClock?: Clock;
}): Standstills {
  const { metrics, logger, monotonicClock = () => performance.now() } = deps;
  const { group, topic } = deps.consumer;
  const watched = new Map<number, Watched>();
  /** The state left by ended workers: after a rebalance, a stalled partition has not moved either. */
  const left = new Map<number, Unfinished>();
  let looking: NodeJS.Timeout | undefined;

  function look(): void {
    for (const [partition, { progress, standing }] of watched) {
      const { forMs, offset, cause, loggedMs } = standing();
      metrics.standstill.set({ group, topic, partition }, Math.round(forMs / 1_000));
      if (forMs < loggedMs + STANDSTILL_MS) continue;
      progress.logged(forMs);
      const seconds = Math.round(forMs / 1_000);
      logger.error({ group, topic, partition, offset, seconds, reason: cause }, 'the partition is stalled');
    }
  }

  const reasons = (): string[] =>
    [...watched].flatMap(([partition, { standing }]) => {
      const { forMs, offset, cause } = standing();
      if (forMs < STANDSTILL_MS) return [];
      const where = `partition ${partition} of ${topic} is stalled at offset ${offset ?? 'unknown'}`;
      return [`${where} for ${Math.round(forMs / 1_000)} s: ${cause}`];
    });

  return {
    watch(partition) {
      const own = createProgress(monotonicClock, left.get(partition));
      left.delete(partition);
      watched.set(partition, own);
      looking ??= setInterval(look, LOOK_INTERVAL_MS).unref();
      return {
        ...own.progress,
        ends() {
          // By then, the next worker may watch the partition.
          if (watched.get(partition) === own) {
            left.set(partition, own.unfinished());
            watched.delete(partition);
            metrics.standstill.remove({ group, topic, partition });
          }
          if (watched.size > 0) return;
          clearInterval(looking);
          looking = undefined;
        },
      };
    },
    reasons,
    async impaired() {
      const all = reasons();
      if (all.length > 0) throw new Error(all.join('; '));
    },
  };
}

type Watched = ReturnType<typeof createProgress>;

/** The state that a worker leaves to the next worker of its partition. */
interface Unfinished {
  since: number;
  cause: string | undefined;
  loggedMs: number;
  endedAt: number;
}

function createProgress(now: Clock, before?: Unfinished) {
  let step: keyof typeof STEPS = 'position';
  let offset: number | null = null;
  // After a longer time, another consumer may have had the partition and moved its position.
  const goesOn = before !== undefined && now() - before.endedAt < STANDSTILL_MS;
  let cause = goesOn ? before.cause : undefined;
  /** Since when unapplied records are waiting. */
  let since = goesOn ? before.since : now();
  let readingSince = now();
  let loggedMs = goesOn ? before.loggedMs : 0;

  const isIdle = (): boolean => step === 'read' && (cause === undefined || now() - readingSince >= IDLE_MS);
  /** Starts the time anew, unless an earlier failure continues because reading was quick. */
  const startAnewIfIdle = (): void => {
    if (isIdle()) startAnew();
  };
  const startAnew = (): void => {
    since = now();
    cause = undefined;
    loggedMs = 0;
  };

  return {
    progress: {
      begins: (next: 'position' | 'open') => void (step = next),
      reads(position: number | null) {
        step = 'read';
        offset = position;
        readingSince = now();
      },
      hands(first: number) {
        startAnewIfIdle();
        step = 'handle';
        offset = first;
      },
      got(position: number) {
        startAnew();
        offset = position;
      },
      failed(error: unknown) {
        // A read that fails quickly continues the standstill. A read that waited for a minute was idle before it
        // failed, so the time starts again.
        if (step === 'read' && (cause === undefined || now() - readingSince >= STANDSTILL_MS)) startAnew();
        step = 'wait';
        cause = error instanceof Error ? error.message : String(error);
      },
      logged: (forMs: number) => void (loggedMs = forMs),
    },
    unfinished: (): Unfinished => ({ since: isIdle() ? now() : since, cause, loggedMs, endedAt: now() }),
    standing: () => ({ forMs: isIdle() ? 0 : now() - since, offset, cause: cause ?? STEPS[step], loggedMs }),
  };
}
