import type { ChannelType } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import type { z } from 'zod';
import type { DestinationRequest } from '../domain/destination.request.ts';
import type { Message } from '../domain/message.ts';
import type { ChannelKind } from './channel.kind.ts';
import { chat } from './chat/chat.channel.ts';
import { email } from './email/email.channel.ts';
import type { Confirmation } from './email/reader.ts';
import { opsgenie } from './opsgenie/opsgenie.channel.ts';
import { pagerduty } from './pagerduty/pagerduty.channel.ts';
import { teams } from './teams/teams.channel.ts';
import { webhook } from './webhook/webhook.channel.ts';

/** All types of channels: a new one is a folder and a row. */
export const CHANNEL_KINDS = { chat, webhook, pagerduty, teams, opsgenie, email } satisfies Record<
  ChannelType,
  unknown
>;

type Kinds = typeof CHANNEL_KINDS;
/** The schemas of `config`, by type. */
export type ConfigSchemas = { [T in ChannelType]: ReturnType<Kinds[T]['config']> };
export type ShownSchemas = { [T in ChannelType]: Kinds[T]['shown'] };
type Configs = { [T in ChannelType]: z.output<ConfigSchemas[T]> };

/** Where a channel sends. All of it may be secret. */
export type Destination<T extends ChannelType = ChannelType> = { [K in T]: { type: K; config: Configs[K] } }[T];

function kindOf<T extends ChannelType>({ type }: Destination<T>): ChannelKind<ConfigSchemas[T], ShownSchemas[T]> {
  const kinds: { [K in ChannelType]: ChannelKind<ConfigSchemas[K], ShownSchemas[K]> } = CHANNEL_KINDS;
  return kinds[type];
}

/** `config` in the form of answers. */
export function shownConfig<T extends ChannelType>(
  destination: Destination<T>,
  confirmations: readonly Confirmation[],
): z.output<ShownSchemas[T]> {
  return kindOf(destination).show(destination.config, confirmations);
}

export function addressOf<T extends ChannelType>(destination: Destination<T>): string | null {
  return kindOf(destination).address(destination.config);
}

/** The e-mail addresses of a channel; none unless it sends mail. */
export function readersOf<T extends ChannelType>(destination: Destination<T>): readonly string[] {
  return kindOf(destination).readers?.(destination.config) ?? [];
}

/** What delivers `message` to the channel. */
export function requestTo<T extends ChannelType>(
  { id: channelId, tenantId, destination }: { id: string; tenantId: TenantId; destination: Destination<T> },
  message: Message,
  now: number,
): DestinationRequest {
  const request = kindOf(destination).request(destination.config, message, now);
  switch (request.via) {
    case 'https':
      return { ...request, credentials: Object.values(credentialsOf(destination)) };
    case 'mail':
      return { ...request, tenantId, channelId };
  }
}

/** The fields of `config` that are sent as they are. */
export function credentialsOf<T extends ChannelType>(destination: Destination<T>): Record<string, string> {
  return kindOf(destination).credentials(destination.config);
}
