import { AppError } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import type { Connection } from 'mongoose';
import type { LogMetrics } from '../log.metrics.ts';

/** Minimum free space on the disk of MongoDB, unless configured otherwise. */
export const DEFAULT_MIN_FREE_BYTES = 512 * 1024 * 1024;

/** Milliseconds for which an answer of MongoDB about its disk is used. */
const KNOWN_FOR_MS = 1_000;
const RETRY_AFTER_SECONDS = 10;

/** Keeps some space free on the disk of MongoDB: a `mongod` without any stops, and cannot start again. */
export interface DiskRoom {
  /**
   * Throws `service_unavailable` while there is less than the minimum space. It uses the last known value: an append
   * never waits for MongoDB's answer, and never fails because there is none.
   */
  require(): void;
}

export function createDiskRoom(deps: {
  connection: Pick<Connection, 'getClient' | 'name'>;
  /** 0 turns the check off. */
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
    // 0 before there is a database, -1 if the server cannot query its file system.
    return total > 0 ? total - Number(stats['fsUsedSize']) : NaN;
  }

  async function ask(): Promise<void> {
    // Without an answer, the last known value stays: the append itself fails if MongoDB is down.
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
        'the disk of MongoDB is almost full; the event log rejects records until there is room. Enlarge the disk ' +
          'or remove unrelated files; EVENT_LOG_MIN_FREE_BYTES sets how much room the log leaves free',
      );
    } else {
      logger.info({ free_bytes: free }, 'the disk of MongoDB has room again; the event log accepts records');
    }
  }

  return {
    require() {
      if (minFreeBytes === 0) return;
      if (now() - askedAt >= KNOWN_FOR_MS) asking ??= ask();
      if (!full) return;
      throw new AppError(
        'service_unavailable',
        'The disk of the event log is almost full, so nothing was accepted. Earlier events are stored. Send this ' +
          'again after the operator of Tollkeeper has made room.',
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      );
    },
  };
}
