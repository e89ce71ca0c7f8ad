import { createHash } from 'node:crypto';
import { AppError } from '@tollkeeper/kernel';
import { toClientNetwork } from '@tollkeeper/net';
import type { Component } from '@tollkeeper/runtime';
import type { Connection } from 'mongoose';
import { RateLimiterMongo, type RateLimiterRes } from 'rate-limiter-flexible';
import type { Attempt, AttemptLimiter } from '../domain/attempt.limiter.ts';

/** At most ten failures per user or address within 15 minutes. */
const MAX_FAILURES = 10;
const WINDOW_SECONDS = 15 * 60;

/**
 * Counts the attempts of one `purpose`, apart from those of others, in MongoDB, so that all replicas share the counts.
 * The 15 minutes start with the first failure, by the system clock. Start it after the connection: it then creates its
 * indexes, and a TTL index removes old counts.
 */
export function createAttemptLimiter(connection: Connection, purpose = ''): AttemptLimiter & Component {
  const limiter = new RateLimiterMongo({
    storeClient: connection,
    tableName: 'login_failures',
    keyPrefix: purpose,
    points: MAX_FAILURES,
    duration: WINDOW_SECONDS,
    disableIndexesCreation: true,
  });

  return {
    name: 'attempt-limiter',
    start: () => limiter.createIndexes(),
    async stop() {},

    async requireAllowed(attempt) {
      const counts = await Promise.all(keysOf(attempt).map((key) => limiter.get(key)));
      for (const count of counts) if (count !== null && count.consumedPoints >= MAX_FAILURES) throw tooMany(count);
    },

    async recordFailure(attempt) {
      const counts = await Promise.all(keysOf(attempt).map((key) => limiter.penalty(key)));
      for (const count of counts) if (count.consumedPoints > MAX_FAILURES) throw tooMany(count);
    },
  };
}

/** Hashed, because people may type their password into the field of the login name by mistake. */
function keysOf({ login, address }: Attempt): string[] {
  return [
    ...(address === undefined ? [] : [`address:${toClientNetwork(address)}`]),
    ...(login === undefined ? [] : [`email:${createHash('sha256').update(login).digest('base64url')}`]),
  ];
}

function tooMany({ msBeforeNext }: RateLimiterRes): AppError {
  const retryAfterSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
  return new AppError('rate_limited', 'Too many attempts have failed. Wait and try again.', { retryAfterSeconds });
}
