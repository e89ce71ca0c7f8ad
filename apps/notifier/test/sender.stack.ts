import { afterEach, beforeAll, beforeEach } from '@jest/globals';
import { type AddressGuard, createAddressGuard, parseCidr } from '@tollkeeper/net';
import { type Authority, trustedAuthority } from '@tollkeeper/testing/authority';
import { createHttpsSender } from '../src/delivery/https.sender.ts';
import { type Receiver, startReceiver } from './receiver.ts';

const LOOPBACK = createAddressGuard([parseCidr('127.0.0.1/32')!]);

export interface Sending {
  url?: string;
  guard?: AddressGuard;
  resolve?: (hostname: string) => Promise<string[]>;
  timeoutMs?: number;
  signal?: AbortSignal;
}

/** The sender, and per test a receiver on loopback, which is the default destination. */
export function useSender() {
  let authority: Authority;
  let receiver: Receiver;

  beforeAll(async () => {
    authority = await trustedAuthority();
  });
  beforeEach(async () => {
    receiver = await startReceiver(authority);
  });
  afterEach(() => receiver.stop());

  return {
    authority: () => authority,
    receiver: () => receiver,
    send({ url = receiver.url, guard = LOOPBACK, resolve = async () => ['127.0.0.1'], ...rest }: Sending = {}) {
      const { timeoutMs = 5000, signal = new AbortController().signal } = rest;
      const sender = createHttpsSender({ guard, resolve, timeoutMs });
      const headers = { 'content-type': 'application/json' };
      return sender({ via: 'https', url, headers, body: '{"type":"t"}', credentials: [] }, signal);
    },
  };
}
