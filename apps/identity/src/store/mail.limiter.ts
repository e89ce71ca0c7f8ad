import { createHash } from 'node:crypto';
import { toClientNetwork } from '@tollkeeper/net';
import type { Component } from '@tollkeeper/runtime';
import type { Connection } from 'mongoose';
import { RateLimiterMongo, RateLimiterRes } from 'rate-limiter-flexible';
import type { MailLimiter, MailRefusal } from '../domain/mail.ts';

const WINDOW_SECONDS = 3_600;
/** Within an hour: to one address, of one kind. */
const MAX_TO = 5;
/** Within an hour: caused by one user or one network address. */
const MAX_BY = 60;

/** Counts in MongoDB, as the limiter of attempts does. Start it after the connection. */
export function createMailLimiter(connection: Connection): MailLimiter & Component {
  const limiterOf = (points: number) =>
    new RateLimiterMongo({
      storeClient: connection,
      tableName: 'mail_counts',
      keyPrefix: '',
      points,
      duration: WINDOW_SECONDS,
      disableIndexesCreation: true,
    });
  const [senders, receivers] = [limiterOf(MAX_BY), limiterOf(MAX_TO)];

  return {
    name: 'mail-limiter',
    start: () => senders.createIndexes(),
    async stop() {},

    async count({ kind, to, by }) {
      const sender = 'userId' in by ? by.userId : toClientNetwork(by.address);
      const receiver = `${kind}:${createHash('sha256').update(to).digest('base64url')}`;
      return (await consume(senders, sender, 'by')) ?? consume(receivers, receiver, 'to');
    },
  };
}

async function consume(
  limiter: RateLimiterMongo,
  key: string,
  limit: MailRefusal['limit'],
): Promise<MailRefusal | null> {
  try {
    await limiter.consume(key);
    return null;
  } catch (error) {
    if (!(error instanceof RateLimiterRes)) throw error;
    return { limit, retryAfterSeconds: Math.max(1, Math.ceil(error.msBeforeNext / 1000)) };
  }
}
