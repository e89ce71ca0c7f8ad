import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DEFAULT_REPORT_MAPPING, keysService, mintWorkspaceKey } from '@tollkeeper/contracts';
import { createGrpcClient } from '@tollkeeper/grpc';
import { AppError } from '@tollkeeper/kernel';
import { CALLER_TOKEN_SECRET, createKeysStandIn, createPeers, eventually, testLogger } from '@tollkeeper/testing';
import { createKeyAuthenticator } from './key.authenticator.ts';
import { createKeyCheck } from './key.check.ts';
import { createKeyVerifier } from './key.verifier.ts';

const issued = createKeysStandIn();
const peers = createPeers(testLogger().logger, [issued.service]);
const clock = { now: 1_000 };
const admitted: string[] = [];
const charged: (number | undefined)[] = [];
let client: ReturnType<typeof createGrpcClient<typeof keysService>>;
let check: ReturnType<typeof createKeyCheck>;

beforeAll(async () => {
  await peers.start();
  client = createGrpcClient(keysService, peers.address, { config: { CALLER_TOKEN_SECRET } });
  check = createKeyCheck({
    verify: createKeyVerifier(client, () => clock.now),
    action: 'reserve',
    quota: {
      admit(tenantId, requests) {
        admitted.push(tenantId);
        charged.push(requests);
      },
    },
  });
});
afterAll(async () => {
  await client.stop();
  await peers.stop();
});

const claim = (authorization?: string) => check({ authorization, requestId: 'req_1' });
const withKey = (apiKey: string) => claim(`Bearer ${apiKey}`);

describe('the check of a workspace key', () => {
  it.each(['developer', 'admin'] as const)(
    'resolves to the workspace, the role, the labels and the mapping of reports of a %s key',
    async (role) => {
      const labels = { env: 'prod' };
      const reports = { agent: 'app.agent', labels: { project: 'app.project' }, priceAnew: true };
      const { apiKey, tenantId, keyId } = issued.issue(role, labels, reports);
      const mapping = { ...DEFAULT_REPORT_MAPPING, ...reports };
      expect(await withKey(apiKey)).toEqual({ keyId, tenantId, role, labels, watched: false, reports: mapping });
      expect(admitted.at(-1)).toBe(tenantId);
    },
  );

  it('charges each of the requests that come with a key', async () => {
    const authorization = `Bearer ${issued.issue().apiKey}`;
    await check({ authorization, requestId: 'req_1' });
    await check({ authorization, requestId: 'req_1', requests: 7 });
    expect(charged.slice(-2)).toEqual([1, 7]);
  });

  it('asks no quota for a stream, which may release when nothing is left', async () => {
    const { apiKey, tenantId } = issued.issue();
    await check({ authorization: `Bearer ${apiKey}`, requestId: 'req_1', requests: 0 });
    expect(admitted).not.toContain(tenantId);
  });

  it('refuses a key that may only read, says what it may not do, and charges its workspace nothing', async () => {
    const { apiKey, tenantId } = issued.issue('read_only');
    await expect(withKey(apiKey)).rejects.toMatchObject({
      code: 'forbidden',
      message: 'A read_only key may not reserve; use a developer or an admin key.',
    });
    expect(admitted).not.toContain(tenantId);
  });

  it('refuses what cannot be a key without a question, and a key that is unknown', async () => {
    const { apiKey } = issued.issue();
    const asked = issued.calls();
    for (const said of [
      undefined,
      '',
      'Bearer',
      `Basic ${apiKey}`,
      apiKey,
      `Bearer ${apiKey}0`,
      'Bearer ws_live_x.y',
    ]) {
      await expect(claim(said)).rejects.toMatchObject({ code: 'unauthenticated' });
    }
    expect(issued.calls()).toBe(asked);
    await expect(withKey(mintWorkspaceKey().apiKey)).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it('keeps an answer for 5 seconds from the question, for requests that come together too', async () => {
    const { apiKey, sha256 } = issued.issue();
    const asked = issued.calls();
    await Promise.all(Array.from({ length: 10 }, () => withKey(apiKey)));
    issued.revoke(sha256);
    clock.now += 5_000;
    await withKey(apiKey);
    expect(issued.calls()).toBe(asked + 1);
    clock.now += 1;
    await expect(withKey(apiKey)).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it('is service_unavailable while the keys service is down, and keeps no failure', async () => {
    const { apiKey } = issued.issue();
    await peers.stop();
    await expect(withKey(apiKey)).rejects.toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 1 });
    await peers.start();
    await eventually(async () => expect(await withKey(apiKey)).toMatchObject({ role: 'developer' }));
  });

  it('passes on the refusal of the quota', async () => {
    const { apiKey } = issued.issue();
    const spent = createKeyCheck({
      verify: createKeyVerifier(client, () => clock.now),
      action: 'reserve',
      quota: {
        admit() {
          throw new AppError('rate_limited', 'Too many.');
        },
      },
    });
    const refused = spent({ authorization: `Bearer ${apiKey}`, requestId: 'req_1' });
    await expect(refused).rejects.toMatchObject({ code: 'rate_limited' });
  });
});

it('HTTP requests say their key in the header Authorization, and those of a workspace are one sender', async () => {
  const { apiKey, tenantId } = issued.issue();
  const { authenticate, senderOf } = createKeyAuthenticator(check);
  const request = { headers: { authorization: `Bearer ${apiKey}` }, requestId: 'req_1', clientAddress: '127.0.0.1' };
  const key = await authenticate(request);
  expect(key).toMatchObject({ tenantId, role: 'developer' });
  expect(senderOf(key)).toBe(tenantId);
});
