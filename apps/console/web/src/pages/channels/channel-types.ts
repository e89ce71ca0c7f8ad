import type { Api } from '../../api/api.ts';

export type ChannelType = Api.AlertChannel['channel_type'];
type PatchedConfig = NonNullable<Api.AlertChannelPatch['config']>;

/** The fields of a channel as typed. */
interface Typed {
  name: string;
  url: string;
  /** Empty if none is set. */
  secret: string;
}

/** The form of a type of channel. */
interface FormOfType {
  isSigned: boolean;
  toInput(typed: Typed): Api.AlertChannelInput;
  /** The new URL in a patch. */
  toAddress(url: string): PatchedConfig;
}

export const CHANNEL_TYPES: Record<ChannelType, FormOfType> = {
  webhook: {
    isSigned: true,
    toInput: ({ name, url, secret }) => ({ channel_type: 'webhook', name, config: { url, ...toSecret(secret) } }),
    toAddress: (url) => ({ url }),
  },
  chat: {
    isSigned: false,
    toInput: ({ name, url }) => ({ channel_type: 'chat', name, config: { webhook_url: url } }),
    toAddress: (url) => ({ webhook_url: url }),
  },
};

/** In the order of the form. */
export const TYPES = Object.keys(CHANNEL_TYPES) as ChannelType[];

/** Where a channel leads, as the API shows it. Only some types sign what they send. */
export function destinationOf(channel: Api.AlertChannel): { url: string; isSigned?: boolean } {
  switch (channel.channel_type) {
    case 'webhook':
      return { url: channel.config.url, isSigned: channel.config.signing_secret_set };
    case 'chat':
      return { url: channel.config.webhook_url };
  }
}

export function toSecret(secret: string): { signing_secret?: string } {
  return secret === '' ? {} : { signing_secret: secret };
}
