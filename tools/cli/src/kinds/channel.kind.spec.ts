import { expect, it } from '@jest/globals';
import type { ChannelEntry } from '../files/document.ts';
import { channelKind } from './channel.kind.ts';

const config = { addresses: ['zoe@example.com', 'ada@example.com'] };
const entry = { name: 'Readers', enabled: true, channel_type: 'email', config } satisfies ChannelEntry;

it('the addresses of an e-mail channel are compared in any order, exported, and shown in differences', async () => {
  const sorted = { addresses: ['ada@example.com', 'zoe@example.com'] };
  const channel = { id: 'chan_1', name: 'Readers', enabled: true, channel_type: 'email' };
  const workspace = {
    api: { call: async () => ({ items: [{ ...channel, config: { ...config, confirmations: [] } }] }) },
  };
  const [live] = await channelKind.read(workspace as never, null);
  expect(live!.value).toEqual({ enabled: true, channel_type: 'email', config: sorted });
  expect(await channelKind.desired(workspace as never, entry)).toEqual(live!.value);
  expect(channelKind.exported(live!)).toEqual({ ...entry, config: sorted });
  expect(['config.addresses', 'config.addresses[0]', 'config.url'].map((path) => channelKind.isHidden!(path))).toEqual([
    ...[false, false, true],
  ]);
});
