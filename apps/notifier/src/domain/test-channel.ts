import { AppError, type Clock, type TenantId } from '@tollkeeper/kernel';
import type { AlertUrl } from './attempt-delivery.ts';
import type { ChannelDirectory } from './channel.ts';
import { type SendRequest, toDestinationRequest } from './destination.request.ts';
import { testMessage } from './message.ts';

/** The answer of the destination to a test. */
interface TestResult {
  responseStatus: number;
  /** At most 1 KiB of text. */
  responseSnippet: string;
}

/**
 * Sends a `channel.test` message to the channel, even if it is disabled, and returns the destination's answer with any
 * status. Rejects with `not_found`, `destination_unreachable`, `destination_blocked`, and `rate_limited` while {@link
 * MAX_TESTS_UNDER_WAY} tests of the workspace are in progress.
 */
export type TestChannel = (tenantId: TenantId, channelId: string) => Promise<TestResult>;

export interface TestChannelDeps {
  channels: ChannelDirectory;
  alertUrl: AlertUrl;
  send: SendRequest;
  clock: Clock;
}

/** Most tests of one workspace at the same time. A test can hold a connection for as long as a delivery. */
export const MAX_TESTS_UNDER_WAY = 4;

export function createTestChannel({ channels, alertUrl, send, clock }: TestChannelDeps): TestChannel {
  const underWay = new Map<TenantId, number>();

  async function test(tenantId: TenantId, channelId: string): Promise<TestResult> {
    const channel = await channels.find(tenantId, channelId);
    if (channel === null) throw new AppError('not_found', 'This workspace has no channel with that channel_id.');
    const message = testMessage(tenantId, await alertUrl(tenantId), clock());
    const outcome = await send(toDestinationRequest(channel, message, clock()), new AbortController().signal);
    if (outcome.kind === 'blocked') throw new AppError('destination_blocked', outcome.reason);
    if (outcome.kind === 'unreachable') throw new AppError('destination_unreachable', outcome.reason);
    return { responseStatus: outcome.status, responseSnippet: outcome.snippet };
  }

  return async (tenantId, channelId) => {
    const others = underWay.get(tenantId) ?? 0;
    if (others >= MAX_TESTS_UNDER_WAY) {
      const message = 'Too many channel tests of this workspace are in progress. Wait for one to finish.';
      throw new AppError('rate_limited', message, { retryAfterSeconds: 15 });
    }
    underWay.set(tenantId, others + 1);
    try {
      return await test(tenantId, channelId);
    } finally {
      const left = (underWay.get(tenantId) ?? 1) - 1;
      if (left === 0) underWay.delete(tenantId);
      else underWay.set(tenantId, left);
    }
  };
}
