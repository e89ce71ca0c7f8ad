import { expect, it } from '@jest/globals';
import { notification, NOW } from '../../test/notification.builder.ts';
import { attemptDelivery } from './attempt-delivery.ts';
import type { ChannelDirectory } from './channel.ts';
import { queuedState } from './delivery.ts';

it('a delivery is not sent to a channel that is deleted while the link of the alert is looked up', async () => {
  const sent = notification();
  let channel: Awaited<ReturnType<ChannelDirectory['find']>> = {
    ...{ type: 'webhook', enabled: true, revision: 1, retryPausesMs: [] },
    request: () => ({ via: 'https', url: 'https://hooks.example.com/in', headers: {}, body: '', credentials: [] }),
  };
  const deps = {
    channels: { find: async () => channel },
    async linkAlert() {
      channel = null;
      return { url: 'https://tollkeeper.example.com/1', page: 'https://tollkeeper.example.com/2' };
    },
    send: () => Promise.reject(new Error('It was sent.')),
    clock: () => NOW,
    random: () => 0,
  };
  const delivery = { ...queuedState(sent, NOW), notification: sent, offset: 0, sequence: 0 };
  const result = await attemptDelivery(deps, delivery, new AbortController().signal);
  expect(result).toMatchObject({ kind: 'abandoned', state: { status: 'failed', error: 'The channel was deleted.' } });
});
