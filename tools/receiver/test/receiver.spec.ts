import { mkdtemp, rm, stat } from 'node:fs/promises';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { type Identity, loadIdentity } from '../src/identity.ts';
import { type Receiver, startReceiver } from '../src/receiver.ts';

const BODY = JSON.stringify({
  type: 'alert.fired',
  timestamp: '2026-11-21T18:00:00.000Z',
  data: { rule_name: 'Blocked often', severity: 'high', event_count: 3, url: 'https://tollkeeper.example.com/a' },
});

describe('the receiver', () => {
  const lines: string[] = [];
  let directory: string;
  let identity: Identity;
  let receiver: Receiver;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tollkeeper-receiver-'));
    identity = await loadIdentity(directory);
    receiver = await startReceiver(identity, 0, (line) => lines.push(line));
  });
  afterEach(() => void lines.splice(0));
  afterAll(async () => {
    await receiver.stop();
    await rm(directory, { recursive: true });
  });

  /** The status of the answer to a webhook that is signed with `secret`. */
  async function send(id: string, secret = identity.secret): Promise<number | undefined> {
    const now = new Date();
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(id, now, BODY),
    };
    const sent = request(receiver.url, { method: 'POST', headers, ca: identity.certificate }).end(BODY);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  }

  it('takes what is signed with its secret, and says what it is about and when it came before', async () => {
    expect([await send('ntf_1'), await send('ntf_1')]).toEqual([204, 204]);
    const about = 'alert.fired  high  "Blocked often", 3 events  https://tollkeeper.example.com/a  ntf_1';
    expect(lines).toEqual([`verified  ${about}`, `again  ${about}`]);
  });

  it('refuses what is signed with another secret, and says what to look at', async () => {
    expect(await send('ntf_2', `whsec_${Buffer.alloc(32).toString('base64')}`)).toBe(401);
    expect(lines).toEqual([expect.stringMatching(/^refused .*signing_secret/)]);
  });

  it('is the same one at every start, and keeps its key and secret from other users', async () => {
    expect(await loadIdentity(directory)).toEqual(identity);
    expect((await stat(join(directory, 'identity.json'))).mode & 0o077).toBe(0);
  });
});
