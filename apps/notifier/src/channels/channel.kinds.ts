import type { ChannelType } from '@tollkeeper/contracts';
import type { z } from 'zod';
import type { DestinationRequest } from '../domain/destination.request.ts';
import type { Message } from '../domain/message.ts';
import type { ChannelKind } from './channel.kind.ts';
import { chat } from './chat/chat.channel.ts';
import { webhook } from './webhook/webhook.channel.ts';

/** All types of channels: a new one is a folder and a row. */
export const CHANNEL_KINDS = { chat, webhook } satisfies Record<ChannelType, unknown>;

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
export function shownConfig<T extends ChannelType>(destination: Destination<T>): z.output<ShownSchemas[T]> {
  return kindOf(destination).show(destination.config);
}

export function addressOf<T extends ChannelType>(destination: Destination<T>): string {
  return kindOf(destination).address(destination.config);
}

export function requestTo<T extends ChannelType>(
  destination: Destination<T>,
  message: Message,
  now: number,
): DestinationRequest {
  return kindOf(destination).request(destination.config, message, now);
}
