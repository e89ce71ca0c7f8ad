import { createHash } from 'node:crypto';
import { toClientNetwork } from '@tollkeeper/net';
import type { Component } from '@tollkeeper/runtime';
import type { Connection } from 'mongoose';
import { RateLimiterMongo, RateLimiterRes } from 'rate-limiter-flexible';
import type { MailLimiter, MailOrder, MailRefusal } from '../domain/mail.ts';

const TABLE = 'mail_counts';
const WINDOW_SECONDS = 3_600;
/** Per hour: mails of one kind to one address. */
const MAX_TO = 5;
/** Per hour: mails caused by one user or network address. */
const MAX_BY = 60;

/** Counts in MongoDB, as the limiter of attempts does. Start it after the connection. */
export function createMailLimiter(connection: Connection): MailLimiter & Component {
  const limiterOf = (points: number) =>
    new RateLimiterMongo({
      storeClient: connection,
      tableName: TABLE,
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
      return (await consume(senders, sender, 'by')) ?? consume(receivers, receiverOf(kind, to), 'to');
    },

    async giveBack({ kind, to }) {
      // Only a positive count of the current hour. `reward` of the limiter would allow an extra mail in the next hour.
      const counted = { key: receiverOf(kind, to), points: { $gt: 0 }, expire: { $gt: new Date() } };
      await connection.collection(TABLE).updateOne(counted, { $inc: { points: -1 } });
    },
  };
}

function receiverOf(kind: MailOrder['kind'], to: string): string {
  return `${kind}:${createHash('sha256').update(to).digest('base64url')}`;
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
