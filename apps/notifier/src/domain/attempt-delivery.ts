import type { ReadNotification } from '@tollkeeper/contracts';
import type { Clock, TenantId } from '@tollkeeper/kernel';
import type { ChannelDirectory } from './channel.ts';
import type { Delivery, DeliveryState } from './delivery.ts';
import type { DestinationRequest, SendRequest } from './destination.request.ts';
import { type AlertLinks, type Message, toMessage } from './message.ts';
import { abandon, concludeAttempt, type Conclusion } from './conclude-attempt.ts';

/**
 * Links to the alert, to those of its rule if there are several, or without one to all alerts. For a request that is to
 * be decided, links to its page, with a token. Never rejects.
 */
export type LinkAlert = (tenantId: TenantId, about?: Pick<ReadNotification, 'alert' | 'group'>) => Promise<AlertLinks>;

/** The parameter of a link that has its token. */
export const LINK_TOKEN = 'token';

export interface AttemptDeps {
  channels: ChannelDirectory;
  linkAlert: LinkAlert;
  send: SendRequest;
  clock: Clock;
  /** A number in [0, 1). */
  random: () => number;
}

export type AttemptResult =
  /** A request was made to the channel as of `channelRevision`. `durationMs` is how long it took. */
  | ({ kind: 'attempted'; durationMs: number; channelRevision: number } & Conclusion)
  /** The channel is deleted or disabled. */
  | { kind: 'abandoned'; state: DeliveryState };

/** Makes one attempt at a delivery. Rejects with the reason of `signal`, or if the channel cannot be read. */
export async function attemptDelivery(
  deps: AttemptDeps,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const { channels, linkAlert, send, clock, random } = deps;
  const { tenantId, channelId } = delivery.notification;
  const message = toMessage(delivery.notification, await linkAlert(tenantId, delivery.notification));
  // Last, so that nothing goes to a channel that was deleted meanwhile.
  const channel = await channels.find(tenantId, channelId);
  if (channel === null) return { kind: 'abandoned', state: abandon(delivery, 'The channel was deleted.') };
  if (!channel.enabled) return { kind: 'abandoned', state: abandon(delivery, 'The channel is disabled.') };

  const startedAt = performance.now();
  const outcome = await send(withoutTokens(channel.request(message, clock()), message), signal);
  const durationMs = performance.now() - startedAt;
  const conclusion = concludeAttempt(delivery, channel, outcome, clock(), random);
  return { kind: 'attempted', durationMs, channelRevision: channel.revision, ...conclusion };
}

/** No answer of a destination may show the tokens of links in the history of alerts. Mail servers repeat no text. */
function withoutTokens(request: DestinationRequest, { links }: Message): DestinationRequest {
  if (request.via === 'mail') return request;
  const tokens = new URL(links.url).searchParams.getAll(LINK_TOKEN);
  return { ...request, credentials: [...request.credentials, ...tokens] };
}
