import { AppError, type Clock, type TenantId } from '@tollkeeper/kernel';
import type { LinkAlert } from '../domain/attempt-delivery.ts';
import type { SendRequest } from '../domain/destination.request.ts';
import { testMessage } from '../domain/message.ts';
import type { Channel } from './channel.ts';
import { requestTo } from './channel.kinds.ts';

/** The answer of the destination to a test. */
export interface TestResult {
  responseStatus: number;
  /** At most 1 KiB of text. */
  responseSnippet: string;
}

/**
 * Sends a `channel.test` message to the channel, even if it is disabled, and returns the destination's answer with any
 * status. `read` is called after all other preparation, so nothing goes to an outdated destination. May take 15 s.
 * Rejects with `destination_unreachable`, `destination_blocked`, and `rate_limited` while {@link MAX_TESTS_IN_PROGRESS}
 * tests of the workspace are in progress.
 */
export type SendTest = (tenantId: TenantId, read: () => Promise<Channel>) => Promise<TestResult>;

export interface TestSenderDeps {
  linkAlert: LinkAlert;
  send: SendRequest;
  clock: Clock;
}

/** Maximum number of concurrent tests of a workspace. A test can occupy a connection for as long as a delivery. */
export const MAX_TESTS_IN_PROGRESS = 4;

export function createTestSender({ linkAlert, send, clock }: TestSenderDeps): SendTest {
  const inProgress = new Map<TenantId, number>();

  const test: SendTest = async (tenantId, read) => {
    const message = testMessage(tenantId, await linkAlert(tenantId), clock());
    const outcome = await send(requestTo(await read(), message, clock()), new AbortController().signal);
    if (outcome.kind === 'blocked') throw new AppError('destination_blocked', outcome.reason);
    if (outcome.kind === 'unreachable') throw new AppError('destination_unreachable', outcome.reason);
    return { responseStatus: outcome.status, responseSnippet: outcome.snippet };
  };

  return async (tenantId, read) => {
    const others = inProgress.get(tenantId) ?? 0;
    if (others >= MAX_TESTS_IN_PROGRESS) {
      const message = 'Too many channel tests of this workspace are in progress. Wait for one to finish.';
      throw new AppError('rate_limited', message, { retryAfterSeconds: 15 });
    }
    inProgress.set(tenantId, others + 1);
    try {
      return await test(tenantId, read);
    } finally {
      const left = (inProgress.get(tenantId) ?? 1) - 1;
      if (left === 0) inProgress.delete(tenantId);
      else inProgress.set(tenantId, left);
    }
  };
}
