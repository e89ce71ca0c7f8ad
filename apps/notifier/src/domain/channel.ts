import type { ChannelType } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import type { DestinationRequest } from './destination.request.ts';
import type { Message } from './message.ts';

/** A channel as an attempt needs it. What its request carries may be secret, and is neither stored nor logged. */
interface DeliveryChannel {
  type: ChannelType;
  enabled: boolean;
  /** Another one after each change of the channel. */
  revision: number;
  /** Milliseconds to wait after each failed attempt. */
  retryPausesMs: readonly number[];
  /** The request that delivers `message`, signed at `now` (epoch milliseconds) where the channel has a secret. */
  request(message: Message, now: number): DestinationRequest;
}

/** Channels as they are now. */
export interface ChannelDirectory {
  /** Null when the workspace has no such channel. */
  find(tenantId: TenantId, channelId: string): Promise<DeliveryChannel | null>;
}
