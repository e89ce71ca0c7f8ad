import type { Api } from '../../api/api.ts';
import type { channels } from '../../text/channels.ts';

export type ChannelType = Api.AlertChannel['channel_type'];
type PatchedConfig = NonNullable<Api.AlertChannelPatch['config']>;

/** The fields of a channel as typed. */
interface Typed {
  name: string;
  url: string;
  /** Empty if none is set. */
  secret: string;
}

interface SecretField {
  name: keyof typeof channels.form.secrets;
  isRequired: boolean;
  minLength: number;
  maxLength: number;
}

/** The form of a type of channel. */
interface FormOfType {
  secret?: SecretField;
  /** The URL that most channels of the type have. */
  usualUrl: string;
  /** Whether `url` is a list of e-mail addresses, one on each line. */
  isList?: boolean;
  toInput(typed: Typed): Api.AlertChannelInput;
  /** The new URL in a patch. */
  toAddress(url: string): PatchedConfig;
}

const ofUrl = (url: string): PatchedConfig => ({ url });
const ofWebhookUrl = (url: string): PatchedConfig => ({ webhook_url: url });
const ofAddresses = (url: string) => ({ addresses: url.split(/[\s,;]+/).filter((address) => address !== '') });

export const CHANNEL_TYPES: Record<ChannelType, FormOfType> = {
  webhook: {
    secret: { name: 'signing_secret', isRequired: false, minLength: 16, maxLength: 512 },
    usualUrl: '',
    toInput: ({ name, url, secret }) => ({
      ...{ channel_type: 'webhook', name },
      config: { url, ...(secret !== '' && { signing_secret: secret }) },
    }),
    toAddress: ofUrl,
  },
  chat: {
    usualUrl: '',
    toInput: ({ name, url }) => ({ channel_type: 'chat', name, config: { webhook_url: url } }),
    toAddress: ofWebhookUrl,
  },
  teams: {
    usualUrl: '',
    toInput: ({ name, url }) => ({ channel_type: 'teams', name, config: { webhook_url: url } }),
    toAddress: ofWebhookUrl,
  },
  pagerduty: {
    secret: { name: 'routing_key', isRequired: true, minLength: 32, maxLength: 32 },
    usualUrl: 'https://events.pagerduty.com/v2/enqueue',
    toInput: ({ name, url, secret }) => ({ channel_type: 'pagerduty', name, config: { url, routing_key: secret } }),
    toAddress: ofUrl,
  },
  opsgenie: {
    secret: { name: 'api_key', isRequired: true, minLength: 16, maxLength: 128 },
    usualUrl: 'https://api.opsgenie.com/v2/alerts',
    toInput: ({ name, url, secret }) => ({ channel_type: 'opsgenie', name, config: { url, api_key: secret } }),
    toAddress: ofUrl,
  },
  email: {
    usualUrl: '',
    isList: true,
    toInput: ({ name, url }) => ({ channel_type: 'email', name, config: ofAddresses(url) }),
    toAddress: ofAddresses,
  },
};

/** In the order of the form. */
export const TYPES = Object.keys(CHANNEL_TYPES) as ChannelType[];

interface Destination {
  url: string;
  hasSecret: boolean;
  /** Absent for types that never sign what they send. */
  isSigned?: boolean;
  /** Absent for types that need none. */
  confirmations?: readonly Api.AlertChannelConfirmation[];
}

/** Where a channel leads, as the API shows it. */
export function destinationOf(channel: Api.AlertChannel): Destination {
  switch (channel.channel_type) {
    case 'webhook': {
      const { url, signing_secret_set: isSigned } = channel.config;
      return { url, hasSecret: isSigned, isSigned };
    }
    case 'chat':
    case 'teams':
      return { url: channel.config.webhook_url, hasSecret: false };
    case 'pagerduty':
    case 'opsgenie':
      return { url: channel.config.url, hasSecret: true };
    case 'email': {
      const { addresses, confirmations } = channel.config;
      return { url: addresses.join('\n'), hasSecret: false, confirmations };
    }
  }
}

/** The new secret in a patch; nothing to keep the old one. */
export function toSecret({ secret }: FormOfType, typed: string): PatchedConfig {
  return secret === undefined || typed === '' ? {} : { [secret.name]: typed };
}
