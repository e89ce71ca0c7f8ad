import type { Api } from '@tollkeeper/client';
import { Failure } from '../failure.ts';
import type { ChannelEntry, SecretReference } from '../files/document.ts';
import { type Kind, UNKNOWN, type WorkspaceContext } from './kind.ts';

/** The fields of `config` that Tollkeeper shows in full. */
const SHOWN = ['url', 'addresses'];
/** Stands for a secret that cannot be read back. */
const SET = 'set';

/**
 * Channels. Tollkeeper shows of an incoming webhook's URL only the host, and of other secrets only whether there is
 * one, so this is all that is compared. `apply --send-secrets` writes them again.
 */
export const channelKind: Kind<ChannelEntry> = {
  section: 'channels',
  keyField: 'name',
  async read({ api }) {
    const { items } = await api.call('GET /api/v1/alerts/channels');
    return items.map((channel) => ({ key: channel.name ?? channel.id, id: channel.id, value: shownOf(channel) }));
  },
  async desired(workspace, entry) {
    const { enabled, channel_type } = entry;
    return { enabled, channel_type, config: await comparedOf(workspace, entry) };
  },
  exported({ key, value }) {
    const { channel_type, config, ...rest } = value as ReturnType<typeof shownOf>;
    const variable = key
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, '_')
      .replace(/^(?=\d)/, '_');
    const references = Object.entries(config).flatMap(([name, shown]) => {
      if (shown === undefined) return [];
      return [[name, SHOWN.includes(name) ? shown : `\${${variable}_${name.toUpperCase()}}`]];
    });
    return { name: key, channel_type, ...rest, config: Object.fromEntries(references) as object };
  },
  async create(workspace, entry) {
    const body = { ...entry, config: await configOf(workspace, entry) } as Api.AlertChannelInput;
    const { id } = await workspace.api.call('POST /api/v1/alerts/channels', { body });
    return id;
  },
  async update(workspace, { id, value }, entry) {
    const { config: before } = value as ReturnType<typeof shownOf>;
    const cleared = Object.fromEntries(Object.keys(before).map((name) => [name, null]));
    const config = { ...cleared, ...(await configOf(workspace, entry)) };
    const body = { enabled: entry.enabled, channel_type: entry.channel_type, config };
    return workspace.api.call('PATCH /api/v1/alerts/channels/{channel_id}', { path: { channel_id: id }, body });
  },
  remove: ({ api }, { id }) => api.call('DELETE /api/v1/alerts/channels/{channel_id}', { path: { channel_id: id } }),
  isHidden: (path) => path.startsWith('config.') && !path.startsWith('config.addresses'),
};

function shownOf(channel: Api.AlertChannel) {
  const { enabled, channel_type } = channel;
  switch (channel.channel_type) {
    case 'chat':
    case 'teams':
      return { enabled, channel_type, config: { webhook_url: channel.config.webhook_url } };
    case 'pagerduty':
      return { enabled, channel_type, config: { url: channel.config.url, routing_key: SET } };
    case 'opsgenie':
      return { enabled, channel_type, config: { url: channel.config.url, api_key: SET } };
    case 'webhook': {
      const { url, signing_secret_set } = channel.config;
      return { enabled, channel_type, config: { url, signing_secret: signing_secret_set ? SET : undefined } };
    }
    case 'email':
      return { enabled, channel_type, config: { addresses: channel.config.addresses.toSorted() } };
  }
}

async function comparedOf(workspace: WorkspaceContext, entry: ChannelEntry): Promise<object> {
  const config = await configOf(workspace, entry);
  switch (entry.channel_type) {
    case 'pagerduty':
      return { url: entry.config.url, routing_key: SET };
    case 'opsgenie':
      return { url: entry.config.url, api_key: SET };
    case 'chat':
    case 'teams':
      return { webhook_url: config.webhook_url === undefined ? UNKNOWN : hostOf(entry, config.webhook_url) };
    case 'webhook':
      return { url: entry.config.url, signing_secret: entry.config.signing_secret === undefined ? undefined : SET };
    case 'email':
      return { addresses: entry.config.addresses.toSorted() };
  }
}

async function configOf(workspace: WorkspaceContext, entry: ChannelEntry) {
  const read = (reference: SecretReference, name: string) =>
    workspace.readSecret(reference, `channels "${entry.name}": config.${name}`);
  switch (entry.channel_type) {
    case 'chat':
    case 'teams':
      return { webhook_url: await read(entry.config.webhook_url, 'webhook_url') };
    case 'pagerduty':
      return { url: entry.config.url, routing_key: await read(entry.config.routing_key, 'routing_key') };
    case 'opsgenie':
      return { url: entry.config.url, api_key: await read(entry.config.api_key, 'api_key') };
    case 'webhook': {
      const { url, signing_secret } = entry.config;
      if (signing_secret === undefined) return { url };
      return { url, signing_secret: await read(signing_secret, 'signing_secret') };
    }
    case 'email':
      return { addresses: entry.config.addresses };
  }
}

/** The URL as Tollkeeper shows it. */
function hostOf({ name }: ChannelEntry, url: string): string {
  if (!URL.canParse(url))
    throw new Failure(`channels "${name}": config.webhook_url: the secret must be an https:// URL.`);
  return `${new URL(url).origin}/***`;
}
