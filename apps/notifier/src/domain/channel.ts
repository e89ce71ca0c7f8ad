import type { ChannelType } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import type { DestinationRequest } from './destination.request.ts';
import type { Message } from './message.ts';

/** The fields of a channel that an attempt needs. Its request may contain secrets, and is neither stored nor logged. */
interface DeliveryChannel {
  type: ChannelType;
  enabled: boolean;
  /** Differs after each change of the channel. */
  revision: number;
  /** Milliseconds to wait after each failed attempt. */
  retryPausesMs: readonly number[];
  /** The request that delivers `message`, signed at `now` (epoch milliseconds) if the channel has a secret. */
  request(message: Message, now: number): DestinationRequest;
}

/** Reads the current state of channels. */
export interface ChannelDirectory {
  /** Null if the workspace has no such channel. */
  find(tenantId: TenantId, channelId: string): Promise<DeliveryChannel | null>;
}
