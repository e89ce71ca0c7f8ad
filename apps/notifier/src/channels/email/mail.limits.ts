import type { TenantId } from '@tollkeeper/kernel';
import type { Component } from '@tollkeeper/runtime';
import type { Connection } from 'mongoose';
import { RateLimiterMongo, RateLimiterRes } from 'rate-limiter-flexible';

const DAY_SECONDS = 86_400;
/** Per week: mails to an address that ask to confirm it, from all workspaces. */
export const MAX_TO_ADDRESS = 5;
const ADDRESS_SECONDS = 7 * DAY_SECONDS;
/** Per day: such mails from one workspace. */
const MAX_OF_WORKSPACE = 100;

/** Protects people who have confirmed nothing from floods of mail. */
export interface MailLimits extends Component {
  /** Counts a mail; false if it must not be sent. */
  count(tenantId: TenantId, addressKey: string): Promise<boolean>;
}

/** Counts in MongoDB, for all replicas together. Start it after the connection. */
export function createMailLimits(connection: Connection): MailLimits {
  const limiterOf = (points: number, duration: number) =>
    new RateLimiterMongo({
      ...{ storeClient: connection, tableName: 'mail_counts', keyPrefix: '', disableIndexesCreation: true },
      ...{ points, duration },
    });
  const [workspaces, addresses] = [
    limiterOf(MAX_OF_WORKSPACE, DAY_SECONDS),
    limiterOf(MAX_TO_ADDRESS, ADDRESS_SECONDS),
  ];

  return {
    name: 'mail-limits',
    start: () => addresses.createIndexes(),
    async stop() {},
    count: async (tenantId, addressKey) =>
      (await consume(workspaces, `workspace:${tenantId}`)) && consume(addresses, `address:${addressKey}`),
  };
}

async function consume(limiter: RateLimiterMongo, key: string): Promise<boolean> {
  try {
    await limiter.consume(key);
    return true;
  } catch (error) {
    if (error instanceof RateLimiterRes) return false;
    throw error;
  }
}
