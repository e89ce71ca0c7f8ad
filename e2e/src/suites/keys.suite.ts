import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { type ApiClient, logIn } from '../api.client.ts';
import { spendSettled } from '../events.ts';
import type { TargetOf } from '../target.ts';
import { KEYS_PATH, type TestWorkspace, newKey, newWorkspace, postEvents } from '../workspace.ts';

/** Answers about a key may be cached for 5 s (the contract of `VerifyKey`). */
const REVOKED_EVERYWHERE = { timeoutMs: 10_000 };

interface KeyList {
  items: Record<string, unknown>[];
}

export function describeKeys(target: TargetOf): void {
  describe('workspace keys', () => {
    let owner: ApiClient;
    let workspace: TestWorkspace;
    const list = () => owner.expect<KeyList>({ path: `/w/${workspace.slug}${KEYS_PATH}` });
    const revoke = (id: string) =>
      owner.expect({ method: 'POST', path: `/w/${workspace.slug}${KEYS_PATH}/${id}:revoke` });
    const post = async (apiKey: string) =>
      (await postEvents(target(), apiKey, spendSettled({ amountMicros: 1 }))).status;

    beforeAll(async () => {
      owner = await logIn(target(), target().owner);
      workspace = await newWorkspace(owner);
    });

    it('are shown once, at their creation', async () => {
      const key = await newKey(owner, workspace.slug, 'admin');
      expect(key.api_key).toMatch(new RegExp(`^ws_live_${key.id}\\.[0-9A-Za-z]{42}$`));
      const { items } = await list();
      const listed = items.find(({ id }) => id === key.id);
      const { api_key, ...shown } = key;
      expect(listed).toEqual({ ...shown, last_used_at: null, revoked_at: null });
      expect(JSON.stringify(items)).not.toContain(api_key.split('.')[1]);
    });

    it.each([
      ['developer', 202],
      ['admin', 202],
      ['read_only', 403],
    ])('with the role %s get %d for posted events', async (role, status) => {
      const { api_key } = await newKey(owner, workspace.slug, role);
      expect(await post(api_key)).toBe(status);
    });

    it('are useless once revoked, and revoking again changes nothing', async () => {
      const { id, api_key } = await newKey(owner, workspace.slug, 'developer');
      expect(await post(api_key)).toBe(202);
      expect(await revoke(id)).toEqual({ ok: true });
      const revokedAt = (await list()).items.find((item) => item['id'] === id)?.['revoked_at'];
      expect(revokedAt).toEqual(expect.any(String));
      expect(await revoke(id)).toEqual({ ok: true });
      expect((await list()).items.find((item) => item['id'] === id)?.['revoked_at']).toBe(revokedAt);
      await eventually(async () => expect(await post(api_key)).toBe(401), REVOKED_EVERYWHERE);
    });

    it('with one wrong character are refused', async () => {
      const flipped = workspace.apiKey.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
      expect(await post(flipped)).toBe(401);
    });
  });
}
