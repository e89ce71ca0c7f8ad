import { AppError } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import type { Connection } from 'mongoose';
import type { LogMetrics } from '../log.metrics.ts';

/** Least room on the disk of MongoDB, unless the settings say otherwise. */
export const DEFAULT_MIN_FREE_BYTES = 512 * 1024 * 1024;

/** Milliseconds for which an answer of MongoDB about its disk counts. */
const KNOWN_FOR_MS = 1_000;
const RETRY_AFTER_SECONDS = 10;

/** Keeps some room on the disk of MongoDB, because a `mongod` without any ends, and does not start again. */
export interface DiskRoom {
  /**
   * Throws `service_unavailable` while less than the least room is left. An append goes by what was known a moment ago:
   * it never waits for MongoDB to tell, and never fails because it does not.
   */
  require(): void;
}

export function createDiskRoom(deps: {
  connection: Pick<Connection, 'getClient' | 'name'>;
  /** 0 asks for no room at all. */
  minFreeBytes: number;
  metrics: LogMetrics;
  logger: Logger;
  /** Monotonic milliseconds. */
  now: () => number;
}): DiskRoom {
  const { connection, minFreeBytes, metrics, logger, now } = deps;
  let full = false;
  let askedAt = -Infinity;
  let asking: Promise<void> | undefined;

  async function freeBytes(): Promise<number> {
    const stats = await connection.getClient().db(connection.name).command({ dbStats: 1 });
    const total = Number(stats['fsTotalSize']);
    // 0 before there is a database, -1 where the server cannot ask its file system.
    return total > 0 ? total - Number(stats['fsUsedSize']) : NaN;
  }

  async function ask(): Promise<void> {
    // No answer, and one without the figures, leaves what was known: an append says for itself that MongoDB is down.
    const free = await freeBytes().catch(() => NaN);
    const isFull = Number.isNaN(free) ? full : free < minFreeBytes;
    askedAt = now();
    asking = undefined;
    if (isFull === full) return;
    full = isFull;
    metrics.diskFull.set(full ? 1 : 0);
    if (full) {
      logger.error(
        { free_bytes: free },
        'the disk of MongoDB is almost full: the event log takes nothing until there is room again. Enlarge the disk, ' +
          'or remove what does not belong there; EVENT_LOG_MIN_FREE_BYTES says how much room the log leaves',
      );
    } else {
      logger.info({ free_bytes: free }, 'the disk of MongoDB has room again: the event log takes records');
    }
  }

  return {
    require() {
      if (minFreeBytes === 0) return;
      if (now() - askedAt >= KNOWN_FOR_MS) asking ??= ask();
      if (!full) return;
      throw new AppError(
        'service_unavailable',
        'The disk of the event log is almost full, so nothing more is taken. What was accepted is stored. Send this ' +
          'again once the operator of Tollkeeper has made room.',
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      );
    },
  };
}
