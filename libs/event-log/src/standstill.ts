import type { Clock } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import type { ConsumerOptions } from './event-log.ts';
import type { LogMetrics } from './log.metrics.ts';

/** A partition that has not moved for this long is reported, and again each time this long has passed. */
const STANDSTILL_MS = 60_000;
/** Reading that takes this long has found nothing to read. */
const IDLE_MS = 10_000;
const LOOK_INTERVAL_MS = 1_000;

/** The steps of a worker, in the words of a line in the log. */
const STEPS = {
  position: 'its position was not told yet',
  open: 'the log was not opened yet',
  read: 'the log was not read yet',
  handle: 'its handler has not answered yet',
  wait: 'it waits to try again',
};

/** The worker of a partition reports its steps here. */
export interface PartitionProgress {
  /** It begins to ask for its position, or to open the log there. */
  begins(step: 'position' | 'open'): void;
  /** It begins to wait for records at `position`. */
  reads(position: number | null): void;
  /** It hands records over, the first of which stands at `offset`. */
  hands(offset: number): void;
  /** Everything before `position` is applied. */
  got(position: number): void;
  failed(error: unknown): void;
  ends(): void;
}

/** The partitions of a consumer that stand still although there is something to do. */
export interface Standstills {
  watch(partition: number): PartitionProgress;
  /** A sentence for each partition that has stood still for a minute: where, for how long, and why. */
  reasons(): string[];
  /** Rejects with those reasons while there are any. */
  impaired(): Promise<void>;
}

/**
 * Watches the partitions of one consumer in this process: whether they fail or hang, at their position, at the log or
 * in the handler. It shows in the metrics and, after a minute, once a minute, in the log.
 */
export function createStandstills(deps: {
  consumer: Pick<ConsumerOptions, 'group' | 'topic'>;
  metrics: Pick<LogMetrics, 'standstill'>;
  logger: Logger;
  /** Milliseconds from any origin, which never go back. */
  monotonicClock?: Clock;
}): Standstills {
  const { metrics, logger, monotonicClock = () => performance.now() } = deps;
  const { group, topic } = deps.consumer;
  const watched = new Map<number, Watched>();
  /** State of workers that ended: after a rebalance a partition that stood still has still not moved. */
  const left = new Map<number, Unfinished>();
  let looking: NodeJS.Timeout | undefined;

  function look(): void {
    for (const [partition, { progress, standing }] of watched) {
      const { forMs, offset, cause, toldMs } = standing();
      metrics.standstill.set({ group, topic, partition }, Math.round(forMs / 1_000));
      if (forMs < toldMs + STANDSTILL_MS) continue;
      progress.told(forMs);
      const seconds = Math.round(forMs / 1_000);
      logger.error({ group, topic, partition, offset, seconds, reason: cause }, 'the partition stands still');
    }
  }

  const reasons = (): string[] =>
    [...watched].flatMap(([partition, { standing }]) => {
      const { forMs, offset, cause } = standing();
      if (forMs < STANDSTILL_MS) return [];
      const where = `partition ${partition} of ${topic} stands still at offset ${offset ?? 'unknown'}`;
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
          // By then the partition may be watched for the work that comes after.
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

/** What a worker leaves to the next one of its partition. */
interface Unfinished {
  since: number;
  cause: string | undefined;
  toldMs: number;
  endedAt: number;
}

function createProgress(now: Clock, before?: Unfinished) {
  let step: keyof typeof STEPS = 'position';
  let offset: number | null = null;
  // If it is longer ago, another consumer had the partition meanwhile and may have moved it.
  const goesOn = before !== undefined && now() - before.endedAt < STANDSTILL_MS;
  let cause = goesOn ? before.cause : undefined;
  /** Since when there has been something to do that is not done. */
  let since = goesOn ? before.since : now();
  let readingSince = now();
  let toldMs = goesOn ? before.toldMs : 0;

  const isIdle = (): boolean => step === 'read' && (cause === undefined || now() - readingSince >= IDLE_MS);
  /** What follows is new work; an old failure goes on through quick reading. */
  const startAnewIfIdle = (): void => {
    if (isIdle()) startAnew();
  };
  const startAnew = (): void => {
    since = now();
    cause = undefined;
    toldMs = 0;
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
        // A read that fails quickly found nothing; one that waited for a minute before was idle, so the time starts
        // anew.
        if (step === 'read' && (cause === undefined || now() - readingSince >= STANDSTILL_MS)) startAnew();
        step = 'wait';
        cause = error instanceof Error ? error.message : String(error);
      },
      told: (forMs: number) => void (toldMs = forMs),
    },
    unfinished: (): Unfinished => ({ since: isIdle() ? now() : since, cause, toldMs, endedAt: now() }),
    standing: () => ({ forMs: isIdle() ? 0 : now() - since, offset, cause: cause ?? STEPS[step], toldMs }),
  };
}
