import { describe, expect, it } from '@jest/globals';
import { mintWorkspaceKey } from '@tollkeeper/contracts';
import { CALLER_HEADER, signCallerToken } from '@tollkeeper/http';
import { newId, provenTenantId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { spend, useIngest } from './ingest.stack.ts';

describe('the key middleware of event ingestion', () => {
  const ingest = useIngest(useMongo());
  const { keys, clock, post } = ingest;

  it.each(['developer', 'admin'] as const)('lets a %s key post events', async (role) => {
    const { apiKey } = keys.issue(role);
    expect((await post({ apiKey, body: spend() })).status).toBe(202);
  });

  it('answers 403 to a read_only key, before it looks at the body', async () => {
    const { apiKey } = keys.issue('read_only');
    expect((await post({ apiKey, type: 'text/plain', body: '{' })).status).toBe(403);
  });

  it('answers 401 to a key that is not known', async () => {
    const { apiKey } = mintWorkspaceKey();
    expect((await post({ apiKey, body: spend() })).status).toBe(401);
  });

  it('answers 401 without asking the keys service to what cannot be a key', async () => {
    const { apiKey } = keys.issue();
    const lastChanged = apiKey.slice(0, -1) + (apiKey.endsWith('a') ? 'b' : 'a');
    const before = keys.calls();

    for (const authorization of ['', 'Bearer', 'Bearer ', `Basic ${apiKey}`, apiKey, `Bearer ${apiKey} x`]) {
      expect((await post({ body: spend(), headers: { authorization } })).status).toBe(401);
    }
    for (const text of [lastChanged, 'ws_live_x.y', `${apiKey}0`, 'x'.repeat(10_000)]) {
      expect((await post({ apiKey: text, body: spend() })).status).toBe(401);
    }
    expect(keys.calls()).toBe(before);
  });

  it("answers 401 to the gateway's caller token, which is good on every other route", async () => {
    const caller = { userId: 'user_1', tenantId: provenTenantId(newId('ws')), role: 'owner' } as const;
    const token = await signCallerToken('a-caller-token-secret-of-enough-bytes', 'ingest', caller);

    expect((await post({ body: spend(), headers: { [CALLER_HEADER]: token } })).status).toBe(401);
  });

  it('asks once for requests with one key that come together, and once in 5 seconds after that', async () => {
    const { apiKey } = keys.issue();
    const before = keys.calls();

    const together = await Promise.all(Array.from({ length: 20 }, () => post({ apiKey, body: spend() })));
    expect(together.map(({ status }) => status)).toEqual(Array(20).fill(202));
    clock.now += 5_000;
    await post({ apiKey, body: spend() });
    expect(keys.calls()).toBe(before + 1);

    clock.now += 1;
    await post({ apiKey, body: spend() });
    expect(keys.calls()).toBe(before + 2);
  });

  it('refuses a revoked key 5 seconds after its revocation at the latest', async () => {
    const { apiKey, sha256 } = keys.issue();
    expect((await post({ apiKey, body: spend() })).status).toBe(202);

    keys.revoke(sha256);
    clock.now += 5_001;

    expect((await post({ apiKey, body: spend() })).status).toBe(401);
  });

  it('counts these 5 seconds from the question, however long its answer takes', async () => {
    const { apiKey, sha256 } = keys.issue();
    keys.state.during = () => void (clock.now += 3_000);
    expect((await post({ apiKey, body: spend() })).status).toBe(202);
    keys.state.during = () => {};

    keys.revoke(sha256);
    clock.now += 2_001;

    expect((await post({ apiKey, body: spend() })).status).toBe(401);
  });

  it('answers 503 with Retry-After while the keys service is down, and takes events again once it is back', async () => {
    const { apiKey } = keys.issue();
    await keys.stop();

    const refused = await post({ apiKey, body: spend() });
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);

    await keys.start();
    await eventually(async () => expect((await post({ apiKey, body: spend() })).status).toBe(202));
  });

  it('writes no key and no digest of one into the log output', async () => {
    const { apiKey, sha256 } = keys.issue();
    const unknown = mintWorkspaceKey();
    await post({ apiKey, body: '{' });
    await post({ apiKey: unknown.apiKey, body: spend() });

    const text = ingest.logs.text();
    for (const key of [{ apiKey, sha256 }, unknown]) {
      for (const secret of [key.apiKey, key.sha256.toString('hex'), key.sha256.toString('base64')]) {
        expect(text).not.toContain(secret);
      }
    }
  });
});
